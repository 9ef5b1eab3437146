"""How long a block is whose Content-Length may be wrong: what follows it decides.

A length is believed if it leads to another record or to the end: the block may then contain
what looks like records (an archive file that was downloaded, a page about them).  Otherwise the
block ends at the first record inside it.  This is determined before the block is read: in a
hostile file each of many lengths may reach to the end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from pinakes.warc.http.message import HEAD_LIMIT_BYTES, head_end

from .arc import ArcHeader, match_arc_header
from .damage import LATER_START, RECORD_START, View, line_at, starts_ahead, starts_record
from .digest import hasher, parse_digest
from .field_names import CONTENT_LENGTH_KEY, WARC_BLOCK_DIGEST_KEY, WARC_TARGET_URI_KEY
from .header import Header
from .record import Body, MemoryBody
from .source import IN_MEMORY_BYTES
from .stream import ByteStream, MemberStream, PlainStream, skip_bytes

_PEEK_BYTES = 1 << 13
_NEAR_BYTES = 1 << 16
_CLOSING = b"\r\n\r\n"
_SCHEME = re.compile(rb"(?:https?|ftp|dns|gopher|nntp|mailto|whois|filedesc):", re.IGNORECASE)
_PART_OF_SCHEME = re.compile(rb"\n([A-Za-z][A-Za-z0-9+.-]*)\Z")
_SCHEME_BYTES = 10
# A hostile block may have any number of lines that look like headers.
_LINES_TRIED = 8


def usable_length(header: Header) -> int | None:
    """Content-Length as a number; None if it is missing, no number, or has over 18 digits."""
    text = (header.field(CONTENT_LENGTH_KEY) or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def length_before_record(
    stream: ByteStream, header: Header, promised: int, place: tuple[int, int]
) -> int | None:
    """The length of the WARC block of a record at `place`, up to the next record in it.

    None where `promised` does not reach past its beginning, or where that is not certain.  The
    stream is after the header, and nothing is taken.
    """
    if isinstance(stream, PlainStream):
        end = min(promised, stream.source.size - stream.position)
    elif isinstance(stream, MemberStream) and stream.can_look(min(promised, IN_MEMORY_BYTES)):
        end = _end_in_members(stream, promised)
        if stream.damage is not None and end == stream.ahead < promised:
            # Damage also explains why bytes are missing.
            return None
    else:
        return None
    if end < promised and end == IN_MEMORY_BYTES and isinstance(stream, MemberStream):
        # Most blocks of this size are sound: one in a member that may be its own is not searched.
        if not place[1]:
            return None
    elif _is_closed(stream, promised, end):
        return None
    found = _first_start(stream, end)
    if found in {0, end}:
        return None
    if isinstance(stream, MemberStream) and not _is_certain(stream, header, promised, place, found):
        return None
    return without_line_ends(stream.look, found, len(_CLOSING))


def _first_start(stream: ByteStream, end: int) -> int:
    """Where a record begins before `end`, or `end`; most are near."""
    near = min(end, _NEAR_BYTES)
    found = next(starts_ahead(stream.look, near, arc=False), near)
    if found < near or near == end:
        return found
    if not isinstance(stream, MemberStream):
        return next(starts_ahead(stream.look, end, arc=False), end)
    # Each look goes over all pieces in memory: one for all.
    data = stream.look(0, end + _PEEK_BYTES)
    starts = starts_ahead(lambda ahead, length: data[ahead : ahead + length], end, arc=False)
    return next(starts, end)


def _is_closed(stream: ByteStream, promised: int, end: int) -> bool:
    """Whether line ends, a record, or the end of the member or of all bytes follow."""
    at = promised if isinstance(stream, MemberStream) else end
    if stream.look(at, len(_CLOSING)) == _CLOSING:
        return True
    ahead = stream.look(at, _PEEK_BYTES)
    rest = ahead.lstrip(b"\r\n")
    if not rest:
        return end == promised
    blank = len(ahead) - len(rest)
    starts = stream.member_starts(at + blank + 1)
    return starts_record(rest, arc=True) or any(start >= at for start in starts)


def _is_certain(
    stream: MemberStream, header: Header, promised: int, place: tuple[int, int], found: int
) -> bool:
    """Whether a record of a member ends before `found`, which its length reaches over.

    Where a record begins with a member, the member is likely its own, and what begins a record
    may be what it captured.
    """
    if _has_declared_digest(stream, header, found):
        return True
    if not place[1] and not _is_behind_whole(stream, header, found):
        return False
    if promised <= IN_MEMORY_BYTES or stream.ahead < IN_MEMORY_BYTES:
        return True
    is_asked = stream.far_looks > 0
    return is_asked and not _leads_on_from_afar(stream, place, len(header.raw) + promised)


def _has_declared_digest(stream: MemberStream, header: Header, found: int) -> bool:
    declared = parse_digest(header.field(WARC_BLOCK_DIGEST_KEY) or "")
    if declared is None:
        return False
    block = stream.look(0, without_line_ends(stream.look, found, len(_CLOSING)))
    return hasher(declared.algorithm)(block).digest() == declared.value


def _is_behind_whole(stream: MemberStream, header: Header, found: int) -> bool:
    """Whether a whole record leads up to `found`, and the one there leads on."""
    end = found - len(_CLOSING)
    if end < 0 or stream.look(end, len(_CLOSING)) != _CLOSING:
        return False
    # A file of records that was captured begins after the HTTP head, whose end is cut off then.
    start = stream.look(0, min(end, HEAD_LIMIT_BYTES))
    if (header.declares_http or start.startswith(b"HTTP/")) and head_end(start) < 0:
        return False
    first = stream.look(found, _PEEK_BYTES)
    next_header = Header(first[: max(head_end(first), 0)])
    length = usable_length(next_header)
    if length is None or length > IN_MEMORY_BYTES:
        return False
    return _leads_on(stream, found + len(next_header.raw) + length)


def holds_start(stream: ByteStream, body: Body) -> bool:
    """Whether a record may begin in a block of a member, after its first byte.

    One too large for memory is inflated again; true where that was done too often.
    """
    if not isinstance(body, MemoryBody):
        if not isinstance(stream, MemberStream) or not stream.far_looks:
            return True
        stream.far_looks -= 1
    tail = b""
    for piece in body.pieces(0):
        data = tail + bytes(piece)
        if LATER_START.search(data):
            return True
        tail = data[-_PEEK_BYTES:]
    return False


def length_before_line(
    stream: ByteStream, header: ArcHeader, promised: int, place: tuple[int, int]
) -> int | None:
    """The same for an ARC block, of the record that begins at `place`.

    In a shared member as in an uncompressed file.  Where a record begins with a member, the
    member is likely its own: another one inside it has to lead exactly to an end as well.
    """
    if isinstance(stream, PlainStream):
        end, alone = min(promised, stream.source.size - stream.position), False
    elif isinstance(stream, MemberStream) and stream.can_look(IN_MEMORY_BYTES):
        end, alone = _end_in_members(stream, promised), place[1] == 0
    else:
        return None
    is_near = promised <= IN_MEMORY_BYTES or isinstance(stream, PlainStream)
    if is_near and _leads_on(stream, promised):
        return None
    found = _first_line(stream, end, alone=alone)
    if found is None:
        return None
    if not is_near and _leads_on_from_afar(stream, place, len(header.raw) + promised):
        return None
    if found == promised - 1:
        # Off by one, by a writer that counted wrong: the line end before it is the block's.
        return found
    return without_line_ends(stream.look, found, closing_bytes(header))


def length_without_number(stream: MemberStream, header: ArcHeader, *, alone: bool) -> int:
    """The length of an ARC block that declares none: to the next record or the member's end.

    0 if neither is near; the bytes of the member are surplus then.
    """
    if not stream.can_look(IN_MEMORY_BYTES):
        return 0
    end = _end_in_members(stream, IN_MEMORY_BYTES)
    found = _first_line(stream, end, alone=alone)
    if found is None:
        starts = (at for at in stream.member_starts(end) if at)
        found = next(starts, 0 if stream.look(IN_MEMORY_BYTES, 1) else end)
    return without_line_ends(stream.look, found, closing_bytes(header)) if found else 0


def _end_in_members(stream: MemberStream, promised: int) -> int:
    """How far a block can reach: to a member that begins with a record, or where bytes end."""
    end = min(promised, stream.ahead, IN_MEMORY_BYTES)
    starts = (at for at in stream.member_starts(end) if at)
    records = (at for at in starts if starts_record(stream.look(at, _PEEK_BYTES), arc=True))
    return next(records, end)


def _first_line(stream: ByteStream, end: int, *, alone: bool) -> int | None:
    """The first header line of ARC in a block of up to `end` bytes that a record follows.

    That is, it leads on itself, or to a HTTP message.  If there is none, the first line.
    """
    first = None
    lines = starts_ahead(stream.look, end, arc=True)
    for at, header in islice(_with_addresses(stream, lines), _LINES_TRIED):
        block = at + len(header.raw)
        length = usable_length(header)
        if length is not None and length <= IN_MEMORY_BYTES and _leads_on(stream, block + length):
            return at
        if alone:
            continue
        uri = (header.field(WARC_TARGET_URI_KEY) or "")[:5].lower()
        if uri.startswith("http") and stream.look(block, 5).upper() == b"HTTP/":
            return at
        first = at if first is None else first
    return first


def _with_addresses(stream: ByteStream, lines: Iterator[int]) -> Iterator[tuple[int, ArcHeader]]:
    for at in lines:
        header = match_arc_header(line_at(stream.look, at))
        if header is not None and header.has_address:
            yield at, header


def _leads_on(stream: ByteStream, at: int) -> bool:
    """Whether a block that ends in `at` bytes ends before a record, or with file or member."""
    ahead = stream.look(at, _PEEK_BYTES)
    rest = ahead.lstrip(b"\r\n")
    blank = len(ahead) - len(rest)
    if not rest:
        return bool(ahead) or not at or bool(stream.look(at - 1, 1))
    if any(at <= start <= at + blank for start in stream.member_starts(at + blank + 1)):
        return True
    if RECORD_START.match(rest):
        return True
    if match_arc_header(line_at(stream.look, at + blank), is_expected=True) is None:
        return False
    least = max(at - _SCHEME_BYTES, 0)
    before = (b"" if least else b"\n") + stream.look(least, at - least)
    if blank or before.endswith(b"\n"):
        return True
    # No line begins here: writers left out the line end, or this is inside of a header line.
    part = _PART_OF_SCHEME.search(before)
    is_inside = part is not None and _SCHEME.match(part[1] + rest)
    return _SCHEME.match(rest) is not None and not is_inside


def _leads_on_from_afar(stream: ByteStream, place: tuple[int, int], size: int) -> bool:
    """`_leads_on` of a record of that size: what is too far to be kept is inflated twice."""
    offset, inner = place
    if not isinstance(stream, MemberStream) or not stream.far_looks:
        return False
    stream.far_looks -= 1
    other = MemberStream(stream.source, offset)
    skip_bytes(other, inner + size - 1)
    return bool(other.take(1)) and _leads_on(other, 0)


def closing_bytes(header: Header) -> int:
    """How many bytes of line ends close a record: one line end in ARC, two in WARC."""
    if not isinstance(header, ArcHeader):
        return len(_CLOSING)
    return len(header.line_end)


def without_line_ends(view: View, end: int, most: int) -> int:
    """The length of a block before up to `most` bytes of line ends that precede `end`."""
    size = min(most, end)
    tail = bytes(view(end - size, size))
    return end - (len(tail) - len(tail.rstrip(b"\r\n")))
