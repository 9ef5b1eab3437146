"""Finding the next record behind damage.

A candidate is proven before it is believed: a member by inflating its first
bytes, which must begin a record; a record in an uncompressed file by its version
line and a named field behind it.
"""

from __future__ import annotations

import re

from .arc import match_arc_header
from .members import MEMBER_START, MEMBER_START_BYTES, Damage, inflate_member
from .source import WINDOW_BYTES, Source

_OVERLAP_BYTES = 1 << 12
RECORD_START = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n[ \t]*[^\s:]+[ \t]*:", re.IGNORECASE)
_PLAIN_WARC = re.compile(rb"(?:(?<=\n)|\A)" + RECORD_START.pattern, re.IGNORECASE)
_PLAIN_ARC = re.compile(
    rb"(?<=\n)[A-Za-z][A-Za-z0-9+.-]*:[^\r\n]* \d{8,18} [^\r\n]* \d+[ \t]*\r?\n"
)


def starts_record(data: bytes, *, arc: bool = False) -> bool:
    """Whether a record begins here: a WARC one, or in an ARC file an ARC one."""
    if RECORD_START.match(data):
        return True
    return arc and match_arc_header(data) is not None


def holds_members(source: Source, offset: int) -> bool:
    """Whether the file is read as compressed members from here on, or as it lies there.

    Told by its first bytes; where those are damaged, by what is found first.
    """
    start = bytes(source.view(offset, _OVERLAP_BYTES))
    if MEMBER_START.match(start):
        return True
    if starts_record(start.lstrip(b"\r\n"), arc=True):
        return False
    found = find_next_record(source, offset, members=True, arc=False)
    if found == source.size:
        return False
    return find_next_record(source, offset, members=False, arc=False, end=found) == found


def find_next_record(
    source: Source, offset: int, *, members: bool, arc: bool, end: int | None = None
) -> int:
    """The offset of the first record at or behind `offset`; `end` where there is none."""
    end = source.size if end is None else end
    pattern = MEMBER_START if members else _PLAIN_ARC if arc else _PLAIN_WARC
    at = offset
    while at < end:
        # One byte before the window, so that a look-behind sees the line end there.
        base = max(at - 1, 0)
        window = bytes(source.view(base, WINDOW_BYTES))
        last = base + len(window) >= min(end + _OVERLAP_BYTES, source.size)
        for match in pattern.finditer(window, at - base):
            found = base + match.start()
            if found >= end:
                return end
            if not members or _member_starts_record(source, found):
                return found
        if last:
            break
        at = max(at + 1, base + len(window) - _OVERLAP_BYTES)
    return end


def find_swallowed(source: Source, offset: int, fault: int) -> int | None:
    """The offset of a member that a damaged one ran into before the fault showed.

    Damaged data often inflates to nonsense for a while.  But compressed members may as
    well be part of a payload (a WARC file that was downloaded), so a candidate must
    begin a record, and whole members must follow it up to the fault.
    """
    offset = max(offset, fault - WINDOW_BYTES)
    hopeless: set[int] = set()
    for match in MEMBER_START.finditer(
        bytes(source.view(offset, fault + MEMBER_START_BYTES - 1 - offset))
    ):
        found = at = offset + match.start()
        if at in hopeless or not _member_starts_record(source, at):
            continue
        chain: dict[int, int] = {}
        while at < fault and at not in hopeless and _is_whole_member(source, at, chain):
            at = chain[at]
        if at >= fault:
            return found
        hopeless.update(chain)
    return None


def _is_whole_member(source: Source, offset: int, ends: dict[int, int]) -> bool:
    if not MEMBER_START.match(source.view(offset, MEMBER_START_BYTES)):
        return False
    try:
        for _ in inflate_member(source, offset, ends):
            pass
    except Damage:
        return False
    return True


def _member_starts_record(source: Source, offset: int) -> bool:
    start = b""
    try:
        for piece in inflate_member(source, offset, {}):
            start = piece[:_OVERLAP_BYTES]
            break
    except Damage:
        return False
    return starts_record(start.lstrip(b"\r\n"), arc=True)
