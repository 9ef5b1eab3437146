"""The content of a stretch of an archive file, by offset and length, as indexes have them."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.errors import MalformedRecord
from pinakes.warc.compression.members import compression_of, inflate_member, unit_at
from pinakes.warc.compression.port import Damage

from .damage import starts_record
from .reader import read_record
from .record import Record
from .source import Source

_FIRST_BYTES = 1 << 13
_LINE_ENDS = (b"\r", b"\n")


def iter_slice(source: Source, offset: int, length: int) -> Iterator[bytes | memoryview]:
    """The uncompressed bytes of `[offset, offset + length)`, where a record begins; in pieces.

    Of a compressed file the stretch is one or several whole members, each inflated with what its
    file needs for it (the dictionary of a Zstandard file); of an uncompressed one it is one or
    several whole records, with or without the line ends that close the last.

    Raises:
        MalformedRecord: no record begins there, a member is damaged, or the stretch does not end
            where a member or record does; the bytes before the fault may have been given.
    """
    end = offset + length
    if end > source.size:
        raise _wrong_end(source, offset, f"the file ends at {source.size}")
    pieces: Iterator[bytes | memoryview]
    if compression_of(source, offset) is None:
        _check_plain(source, offset, end)
        pieces = source.pieces(offset, end)
    else:
        pieces = _inflated(source, offset, end)
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= _FIRST_BYTES:
            break
    if not starts_record(start.lstrip(b"\r\n"), arc=True):
        raise MalformedRecord("no record begins here", file=source.name, offset=offset)
    yield start
    yield from pieces


def _check_plain(source: Source, offset: int, end: int) -> None:
    at = offset
    while at < end:
        record = read_record(source, at, digests=())
        if not isinstance(record, Record):
            raise MalformedRecord("no record begins here", file=source.name, offset=at)
        at += record.length
        if at > end:
            raise _wrong_end(source, offset, f"its record ends at {at}")
        while at < end and bytes(source.view(at, 1)) in _LINE_ENDS:
            at += 1


def _inflated(source: Source, offset: int, end: int) -> Iterator[bytes]:
    at, ends = offset, dict[int, int]()
    while at < end:
        try:
            yield from inflate_member(source, at, ends)
        except Damage as damage:
            raise MalformedRecord(
                damage.message, file=source.name, offset=damage.offset
            ) from damage
        if ends[at] > end:
            raise _wrong_end(source, offset, f"its {unit_at(source, at)} ends at {ends[at]}")
        at = ends.pop(at)


def _wrong_end(source: Source, offset: int, what_ends: str) -> MalformedRecord:
    return MalformedRecord(f"wrong length: {what_ends}", file=source.name, offset=offset)
