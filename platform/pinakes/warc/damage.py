"""Finding the next record after damage.

Each candidate is verified: the first bytes of a member are inflated and must begin a
record; a record in an uncompressed file must have a version line, followed by a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from pinakes.warc.compression.members import (
    MEMBER_START,
    MEMBER_START_BYTES,
    compression_at,
    compression_of,
    first_bytes,
    inflate_member,
)
from pinakes.warc.compression.port import Damage

from .arc import LINE_LIMIT_BYTES, match_arc_header
from .source import WINDOW_BYTES, Source

View = Callable[[int, int], bytes | memoryview]
"""The bytes from an offset on, as many as asked for; fewer only at the end."""
_OVERLAP_BYTES = 1 << 12
# Of a block: the record that is looked for is most likely near.
_BLOCK_WINDOW_BYTES = 1 << 14
RECORD_START = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n[ \t]*[^\s:]+[ \t]*:", re.IGNORECASE)
# With the line end before it; the first bytes of a file are checked separately.
LATER_START = re.compile(rb"\n" + RECORD_START.pattern, re.IGNORECASE)
_PLAIN_ARC = re.compile(rb"\n[A-Za-z][A-Za-z0-9+.-]*:")
_CHAINS_TRIED = 64
# A hostile file may have any number of members that turn out to be damaged only near their end.
_WHOLE_TRIED = 16


def starts_record(data: bytes, *, arc: bool = False) -> bool:
    """Whether `data` begins with a WARC record, or with an ARC record if `arc`."""
    if RECORD_START.match(data):
        return True
    return arc and match_arc_header(data) is not None


def next_line(data: bytes, *, arc: bool, more: bool) -> int:
    """How many bytes to skip where no record begins: up to a line that may begin one.

    If `more` bytes follow, a line that begins near the end of `data` is undecided.
    """
    match = (_PLAIN_ARC if arc else LATER_START).search(data)
    if match is not None:
        return match.start() + 1
    sure = max(len(data) - _OVERLAP_BYTES, 1)
    return data.rfind(b"\n", 0, sure) + 1 or sure if more else len(data)


def holds_members(source: Source, offset: int) -> bool:
    """Whether the file is read as compressed members from here on, or as plain bytes.

    Decided by the first bytes; if those are damaged, by what is found first.
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
    """The offset of the first record at or after `offset`; `end` if there is none."""
    end = source.size if end is None else end
    if members:
        return _find_member(source, offset, end)
    if not offset and starts_record(bytes(source.view(0, LINE_LIMIT_BYTES)), arc=arc):
        return 0
    # One byte before the window, since a line end may be there.
    found = _lines(source.view, max(offset - 1, 0), end, arc=arc)
    return next((at for at in found if at >= offset), end)


def starts_ahead(view: View, end: int, *, arc: bool) -> Iterator[int]:
    """Where records begin in a block of `end` bytes, of which `view` shows any."""
    if starts_record(line_at(view, 0) if arc else bytes(view(0, _OVERLAP_BYTES)), arc=arc):
        yield 0
    yield from _lines(view, 0, end, arc=arc, window_bytes=_BLOCK_WINDOW_BYTES)


def _lines(
    view: View, offset: int, end: int, *, arc: bool, window_bytes: int = WINDOW_BYTES
) -> Iterator[int]:
    """Where lines between `offset` and `end` begin a record."""
    last = -1
    for base, window in _windows(view, offset, end, window_bytes):
        for match in (_PLAIN_ARC if arc else LATER_START).finditer(window):
            found = base + match.start() + 1
            if found >= end:
                return
            if found <= last:
                continue
            if not arc or match_arc_header(_line_at(view, base, window, found)):
                yield found
                last = found


def _line_at(view: View, base: int, window: bytes, offset: int) -> bytes:
    end = window.find(b"\n", offset - base) + 1
    return window[offset - base : end] if end else bytes(view(offset, LINE_LIMIT_BYTES))


def line_at(view: View, offset: int) -> bytes:
    """The line there; without a line end if it is longer than `LINE_LIMIT_BYTES`."""
    return _line_at(view, offset, bytes(view(offset, _OVERLAP_BYTES)), offset)


def _find_member(source: Source, offset: int, end: int) -> int:
    """Skips whole members, but those that are not for `_WHOLE_TRIED` tries: what they contain is
    not searched."""
    tries, inside = _WHOLE_TRIED, offset
    for base, window in _windows(source.view, offset, end):
        for match in MEMBER_START.finditer(window):
            found = base + match.start()
            if found >= end:
                break
            if found < inside:
                continue
            start = first_bytes(source, found, _OVERLAP_BYTES)
            if starts_record(start.lstrip(b"\r\n"), arc=True):
                return found
            compression = compression_at(source, found) if tries else None
            if compression is not None and (start or compression.FORM_SHOWS_END):
                ends: dict[int, int] = {}
                whole = compression.proven_end(source, found)
                if whole is None and start and is_whole_member(source, found, ends):
                    whole = ends[found]
                if whole is None:
                    tries -= 1
                else:
                    inside = whole
    return end


def _windows(
    view: View, offset: int, end: int, window_bytes: int = WINDOW_BYTES
) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of overlapping windows, the last a little past `end`."""
    while offset < end:
        window = bytes(view(offset, window_bytes))
        yield offset, window
        if len(window) < window_bytes or offset + len(window) >= end + _OVERLAP_BYTES:
            return
        offset += len(window) - _OVERLAP_BYTES


def find_swallowed(source: Source, offset: int, fault: int) -> int | None:
    """The offset of an intact member inside a damaged one, before the place of the fault.

    Damaged data often inflates to garbage for a while, past the start of the next member.
    But compressed members may also be part of a payload (a WARC file that was downloaded),
    so from a candidate to the fault there must be intact members only.  The number of
    candidates is limited: the next member is among the first ones, and a hostile file may
    have any number of them.
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
    """Whether an intact member is there, checksum included; its end goes to `ends`."""
    try:
        for _ in inflate_member(source, offset, ends):
            pass
    except Damage:
        return False
    return True
