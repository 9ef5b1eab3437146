"""One record from a stream of bytes, however it is written: the slow path.

Every fault of a file becomes a `Finding` of a record that could be read, or `NotARecord`
where none begins.  Messages of `NotARecord` and `Damage` are stored in files that
`pinakes convert` writes: they stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.warc.compression.gzip_members import GZIP_MAGIC
from pinakes.warc.compression.members import why_unread
from pinakes.warc.compression.zstd_format import FRAME_MAGIC
from pinakes.warc.http.message import head_end

from .arc import LINE_LIMIT_BYTES, match_arc_header
from .damage import RECORD_START, starts_record
from .extent import take_record
from .field_names import WARC_TARGET_URI_KEY
from .header import Header
from .record import Record
from .stream import ByteStream, skip_bytes

HEADER_LIMIT_BYTES = 1 << 20
_FIRST_BYTES = 1 << 9
_PEEK_BYTES = 1 << 13


class NotARecord(Exception):
    """Inside this package: no record begins at `offset`; search again from `search_from`."""

    def __init__(self, message: str, offset: int, search_from: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.search_from = search_from


def parse_record(
    stream: ByteStream, ordinal: int, digests: Sequence[str], *, arc: bool
) -> Record | None:
    """The next record; None at a clean end.

    Raises:
        NotARecord: if no record begins at the next byte.
    """
    _skip_line_ends(stream)
    if not stream.peek(1):
        if stream.damage is not None:
            raise NotARecord(stream.damage.message, stream.damaged_from, stream.resume_from)
        return None
    return take_record(stream, _read_header(stream, arc=arc), ordinal, digests)


def _skip_line_ends(stream: ByteStream) -> None:
    while True:
        ahead = stream.peek(64)
        blank = len(ahead) - len(ahead.lstrip(b"\r\n"))
        skip_bytes(stream, blank)
        if blank < len(ahead) or not ahead:
            return


def _read_header(stream: ByteStream, *, arc: bool) -> Header:
    """Peek at the header of the record that begins here; takes nothing."""
    offset, _ = stream.place()
    # Most headers end within these bytes; what follows may be very many members.
    header = _ended(stream, stream.peek(_FIRST_BYTES))
    if header is not None:
        return header
    length = _PEEK_BYTES
    while True:
        data = stream.peek(length)
        complete, end = len(data) < length, len(data)
        if RECORD_START.match(data):
            header = _ended(stream, data)
            if header is not None and len(header.raw) <= HEADER_LIMIT_BYTES:
                return header
            end = len(header.raw) if header is not None else end
        elif data[:5].upper() == b"WARC/" and not complete and length < LINE_LIMIT_BYTES:
            pass
        else:
            arc_header = match_arc_header(data[:LINE_LIMIT_BYTES], is_expected=arc)
            if arc_header is not None and (arc or arc_header.field(WARC_TARGET_URI_KEY)):
                return arc_header
            what = why_unread(data) or "no record begins here"
            if data.startswith((GZIP_MAGIC, FRAME_MAGIC)):
                kind = "gzip member" if data.startswith(GZIP_MAGIC) else "Zstandard frame"
                what = f"this is a {kind} within another: not read here"
            raise NotARecord(what, offset, stream.search_from)
        if end > HEADER_LIMIT_BYTES:
            # Lines as far from that end cannot begin a record either.
            raise NotARecord(
                f"a record header longer than {HEADER_LIMIT_BYTES} bytes",
                offset,
                stream.search_from_behind(end - HEADER_LIMIT_BYTES),
            )
        if complete and stream.damage is None:
            return Header(data)
        if complete:
            fault = "the file breaks off in a record header"
            raise NotARecord(fault, offset, stream.resume_from)
        length *= 4


def _ended(stream: ByteStream, data: bytes) -> Header | None:
    """The header that `data` begins with, if its end is in `data`."""
    if not RECORD_START.match(data):
        return None
    ends = [at for at in (head_end(data), _next_record(stream, data)) if at >= 0]
    return Header(data[: min(ends)]) if ends else None


def _next_record(stream: ByteStream, data: bytes) -> int:
    """Where in `data` a later member begins with a record; -1 if none does."""
    starts = stream.member_starts(len(data))
    return next((at for at in starts if at and starts_record(data[at:])), -1)
