"""Finding the next record behind damage.

A candidate is proven before it is believed: a member by inflating its first
bytes, which must begin a record; a record in an uncompressed file by its version
line and a named field behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from .arc import LINE_LIMIT_BYTES, match_arc_header
from .members import (
    MEMBER_START,
    MEMBER_START_BYTES,
    Damage,
    compression_of,
    first_bytes,
    inflate_member,
)
from .source import WINDOW_BYTES, Source

_OVERLAP_BYTES = 1 << 12
RECORD_START = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n[ \t]*[^\s:]+[ \t]*:", re.IGNORECASE)
# From the line end before it; a file's very first bytes are looked at apart.
_PLAIN_WARC = re.compile(rb"\n" + RECORD_START.pattern, re.IGNORECASE)
_PLAIN_ARC = re.compile(rb"\n[A-Za-z][A-Za-z0-9+.-]*:")
_CHAINS_TRIED = 64
# A file made to be slow has members without end that break off late.
_WHOLE_TRIED = 16


def starts_record(data: bytes, *, arc: bool = False) -> bool:
    """Whether a record begins here: a WARC one, or in an ARC file an ARC one."""
    if RECORD_START.match(data):
        return True
    return arc and match_arc_header(data) is not None


def next_line(data: bytes, *, arc: bool, more: bool) -> int:
    """How many bytes to go on from where no record begins: to a line that may begin one.

    With `more` to come, what begins near the end of `data` cannot be told yet.
    """
    match = (_PLAIN_ARC if arc else _PLAIN_WARC).search(data)
    if match is not None:
        return match.start() + 1
    sure = max(len(data) - _OVERLAP_BYTES, 1)
    return data.rfind(b"\n", 0, sure) + 1 or sure if more else len(data)


def holds_members(source: Source, offset: int) -> bool:
    """Whether the file is read as compressed members from here on, or as it lies there.

    Told by its first bytes; where those are damaged, by what is found first.
    """
    if compression_of(source, offset) is not None:
        return True
    start = bytes(source.view(offset, _OVERLAP_BYTES))
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
    if members:
        return _find_member(source, offset, end)
    if not offset and starts_record(bytes(source.view(0, LINE_LIMIT_BYTES)), arc=arc):
        return 0
    # One byte before the window: the line end there.
    for base, window in _windows(source, max(offset - 1, 0), end):
        for match in (_PLAIN_ARC if arc else _PLAIN_WARC).finditer(window):
            found = base + match.start() + 1
            if found >= end:
                break
            if not arc or match_arc_header(_line_at(source, base, window, found)):
                return found
    return end


def _line_at(source: Source, base: int, window: bytes, offset: int) -> bytes:
    end = window.find(b"\n", offset - base) + 1
    return window[offset - base : end] if end else bytes(source.view(offset, LINE_LIMIT_BYTES))


def _find_member(source: Source, offset: int, end: int) -> int:
    """What a whole member holds is content of it, and not looked at (`_WHOLE_TRIED` times)."""
    tries, inside = _WHOLE_TRIED, offset
    for base, window in _windows(source, offset, end):
        for match in MEMBER_START.finditer(window):
            found = base + match.start()
            if found >= end:
                break
            if found < inside:
                continue
            start = first_bytes(source, found, _OVERLAP_BYTES)
            if starts_record(start.lstrip(b"\r\n"), arc=True):
                return found
            if start and tries:
                ends: dict[int, int] = {}
                if is_whole_member(source, found, ends):
                    inside = ends[found]
                else:
                    tries -= 1
    return end


def _windows(source: Source, offset: int, end: int) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of windows that overlap and reach a little over `end`."""
    while offset < end:
        window = bytes(source.view(offset, WINDOW_BYTES))
        yield offset, window
        if offset + len(window) >= min(end + _OVERLAP_BYTES, source.size):
            return
        offset += len(window) - _OVERLAP_BYTES


def find_swallowed(source: Source, offset: int, fault: int) -> int | None:
    """The offset of a member that a damaged one ran into before the fault showed.

    Damaged data often inflates to nonsense for a while.  But compressed members may as
    well be part of a payload (a WARC file that was downloaded), so whole members must
    follow a candidate up to the fault.  Only so many are tried: the next member is among
    the first, and a file made to be slow has no end of them.
    """
    offset = max(offset, fault - WINDOW_BYTES)
    hopeless: set[int] = set()
    window = bytes(source.view(offset, fault + MEMBER_START_BYTES - 1 - offset))
    for match in islice(MEMBER_START.finditer(window), _CHAINS_TRIED):
        found = at = offset + match.start()
        if at in hopeless or not first_bytes(source, at, 1):
            continue
        chain: dict[int, int] = {}
        while at < fault and at not in hopeless and is_whole_member(source, at, chain):
            at = chain[at]
        if at >= fault:
            return found
        hopeless.update(chain)
    return None


def is_whole_member(source: Source, offset: int, ends: dict[int, int]) -> bool:
    """Whether a member there inflates to its end, with the right checksum; notes where it ends."""
    if compression_of(source, offset) is None:
        return False
    try:
        for _ in inflate_member(source, offset, ends):
            pass
    except Damage:
        return False
    return True
