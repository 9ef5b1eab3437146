"""Finding the next record behind damage.

A candidate is proven before it is believed: a member by inflating its first
bytes, which must begin a record; a record in an uncompressed file by its version
line and a named field behind it.
"""

from __future__ import annotations

import re

from .arc import match_arc_header
from .members import MEMBER_START, Damage, inflate_member
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
        window = bytes(source.view(base, min(WINDOW_BYTES, end - base)))
        last = base + len(window) >= end
        for match in pattern.finditer(window, at - base):
            found = base + match.start()
            if not members or _member_starts_record(source, found):
                return found
        if last:
            break
        at = max(at + 1, base + len(window) - _OVERLAP_BYTES)
    return end


def _member_starts_record(source: Source, offset: int) -> bool:
    start = b""
    try:
        for piece in inflate_member(source, offset, {}):
            start = piece[:_OVERLAP_BYTES]
            break
    except Damage:
        return False
    return starts_record(start.lstrip(b"\r\n"), arc=True)
