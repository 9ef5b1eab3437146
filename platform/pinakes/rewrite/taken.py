"""Records of archive files written into another: their members verbatim where that is possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from pinakes.errors import MalformedRecord
from pinakes.warc.compression.members import compression_of
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.write import gzip_member, record_pieces

from .shared_members import HARMLESS


class RecordTaker:
    """Writes records one after the other; `written` bytes so far."""

    def __init__(self, out: BinaryIO, *, compressed: bool) -> None:
        self._out = out
        self._compressed = compressed
        self.written = 0

    def take(self, source: Source, record: Record) -> None:
        """Write a record of `source`.

        A record that has its gzip member to itself is copied as that member.  Others keep every
        byte, in a member of their own, or in none where the new file is not compressed; of one
        without the two line ends that close it, those are added.

        Raises:
            MalformedRecord: for one that is damaged, or in an ARC file; nothing is written.
        """
        require_whole(source, record)
        for piece in pieces_taken(source, record, compressed=self._compressed):
            self.written += self._out.write(piece)


def pieces_taken(
    source: Source, record: Record, *, compressed: bool
) -> Iterable[bytes | memoryview]:
    """What `RecordTaker.take` writes of a whole record."""
    if compressed and is_alone(source, record):
        return source.pieces(record.offset, record.offset + record.length)
    pieces = record_pieces(record.header.raw, record.chunks())
    return gzip_member(pieces) if compressed else pieces


def is_alone(source: Source, record: Record) -> bool:
    """Whether a gzip member holds this record and nothing else."""
    shares = any(finding.code == "member" for finding in record.findings)
    return not shares and compression_of(source, record.offset) == "gzip"


def require_whole(source: Source, record: Record) -> None:
    """Raise MalformedRecord for a record of which a copy would not be read as it is."""
    require_warc(source, record)
    require_undamaged(source, record)


def require_warc(source: Source, record: Record) -> None:
    """Raise MalformedRecord for a record of an ARC file."""
    if record.version[:4].upper() != "WARC":
        raise MalformedRecord(
            "a record of an ARC file is left out: convert the file first, with `pinakes convert`",
            file=source.name,
            offset=record.offset,
        )


def require_undamaged(source: Source, record: Record) -> None:
    """Raise MalformedRecord for a record that is cut off, or has other bytes than it had."""
    for finding in record.findings:
        if finding.code not in HARMLESS:
            raise MalformedRecord(
                f"left out, for it is damaged: {finding.message}",
                file=source.name,
                offset=record.offset,
            )
