"""A record that is exactly the given bytes.

The fast path of `reader`: header, Content-Length and the two line ends that close a
record must add up to the last byte.  Everything else is left to `parse`.
"""

from __future__ import annotations

import re
from typing import Literal

from .damage import RECORD_START
from .field_names import CONTENT_LENGTH_KEY, WARC_TYPE_KEY
from .header import Header
from .record import MemoryBody, Record
from .shapes import ShapeBook, ShapedHeader

_VERSION_LINE = re.compile(rb"(WARC/\d\.\d+)\r\n")
_CRLFCRLF = b"\r\n\r\n"
_HEADER_LIMIT_BYTES = 1 << 16


def whole_record(
    data: bytes | bytearray,
    ordinal: int,
    offset: int,
    file_length: int,
    book: ShapeBook,
    skip_gets: bool,
) -> Record | Literal[True] | None:
    """The WARC record that is exactly these bytes; None if the slow path has to read them.

    `offset` and `file_length` are its place in the file.  True, with `skip_gets`, is
    an intact GET request, for which no object is built.
    """
    match = book.match(data)
    shape = book.shape
    if match is None or shape is None:
        return _unshaped_record(data, ordinal, offset, file_length, book)
    start, length = match.end(), int(match[shape.length_group])
    if start + length + 4 != len(data) or not data.endswith(_CRLFCRLF):
        return None
    if start > _HEADER_LIMIT_BYTES:
        return None
    if skip_gets and shape.record_type == "request" and data.startswith(b"GET ", start):
        return True
    header = ShapedHeader(shape, match, length)
    body = MemoryBody(data, start, start + length)
    return Record(
        ordinal, offset, file_length, header, body, length, shape.version, shape.record_type
    )


def _unshaped_record(
    data: bytes | bytearray, ordinal: int, offset: int, file_length: int, book: ShapeBook
) -> Record | None:
    start = data.find(b"\n\r\n") + 3
    if not 3 < start < _HEADER_LIMIT_BYTES:
        return None
    raw = bytes(data[:start])
    version = _VERSION_LINE.match(raw)
    if version is None or RECORD_START.match(raw) is None or b"\n\n" in raw:
        return None
    header = Header(raw)
    digits = header.field(CONTENT_LENGTH_KEY) or ""
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        return None
    length = int(digits)
    if start + length + 4 != len(data) or not data.endswith(_CRLFCRLF):
        return None
    book.learn(raw)
    record_type = (header.field(WARC_TYPE_KEY) or "").lower()
    body = MemoryBody(data, start, start + length)
    return Record(
        ordinal, offset, file_length, header, body, length, version[1].decode("ascii"), record_type
    )
