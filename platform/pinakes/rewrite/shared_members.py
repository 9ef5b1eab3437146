"""Members that hold several records, or none: which can be cut up, or left out."""

from __future__ import annotations

from pinakes.warc.compression.members import compression_at, inflate_member
from pinakes.warc.compression.port import Damage
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import Source

HARMLESS = frozenset({"member", "record-end", "line-end"})
"""Findings of a record that can be cut out of its member."""


def unsplittable_members(source: Source) -> set[int]:
    """Offsets of members that records share, and that cannot be cut into a member for each.

    Something in them is damaged, or of another length, or a record reaches into the next member.
    """
    lengths: dict[int, int] = {}
    found: set[int] = set()
    last, reached = -1, 0
    for item in iter_records(source, digests=()):
        if isinstance(item, DamagedStretch):
            found.update({last} if item.offset < reached else ())
            continue
        codes = {finding.code for finding in item.findings}
        if last != item.offset:
            lengths = {item.offset: item.length}
            found.update({item.offset, last} if item.offset < reached else ())
        last, reached = item.offset, max(reached, item.offset + item.length)
        if "member" not in codes:
            continue
        is_warc = item.version[:5].upper() == "WARC/"
        if codes - HARMLESS or lengths[last] != item.length or not is_warc:
            found.add(last)
    return found


def holds_line_ends_only(source: Source, start: int, end: int) -> bool:
    """Whether `[start, end)` are line ends, or whole members of nothing else; they are read."""
    if compression_at(source, start) is None:
        return not any(bytes(piece).strip(b"\r\n") for piece in source.pieces(start, end))
    ends: dict[int, int] = {}
    try:
        while start < end:
            if any(piece.strip(b"\r\n") for piece in inflate_member(source, start, ends)):
                return False
            start = ends.pop(start)
    except Damage:
        return False
    return start == end
