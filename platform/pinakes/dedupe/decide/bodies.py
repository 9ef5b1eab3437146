"""Where bodies come from when they are compared, and whether one is the other, byte for byte.

A representative small enough is kept in memory while its cluster is compared; a larger
one is read again for every comparison.  Lengths that differ settle it unread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from isal import igzip_lib

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import CAPTURE_TYPES, HARMLESS_FINDINGS
from pinakes.rewrite.file_parts import equal_streams
from pinakes.warc.compression.gzip_members import GZIP_MAGIC, InflateError
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.warc.http.message import head_end
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_QUICK_BYTES = 1 << 22
_NEAR_BYTES = 1 << 16
"""How far into a member a record may lie to be read from the member's start."""
_PIECE_BYTES = 1 << 20
_RECORD_END = b"\r\n\r\n"
_TARGET_URI = b"\r\nWARC-Target-URI: "
Piece = bytes | memoryview

KEPT_BODY_BYTES = 8 << 20
# What is wrong with one body; a store that is away, or a lease that is lost, ends the run.
_FAULTS = (InputRefused, MalformedRecord, OSError)


class BodyReader(Protocol):
    """Gives the stored body of the record that a line is about.

    `resolve_lines` asks in an order that suits files: clusters by where their first
    capture is, a cluster's captures by file and offset; no body is asked for whose
    length already distinguishes it.
    """

    def open_body(self, line: ManifestLine) -> Iterable[Piece]:
        """The stored body, transfer-coding included, in pieces of at most 4 MiB.

        Raises, at once or while the pieces are drawn:
            InputRefused: where the file cannot be read.
            MalformedRecord: where the record is not what the line says, or is damaged.
        """
        ...


class ArchiveBodies:
    """Bodies out of archive files; read only as far as they are drawn.

    Where records share a gzip member, or a file is one stream, its bodies go into a temporary
    file when the first one is asked for that does not lie near its start: else each would
    inflate the member again, in any order in which they are asked for.
    """

    def __init__(self, files: ArchiveFiles, advance: Advance = no_advance) -> None:
        """`advance(0)` is called for each body that is opened: comparing may take hours."""
        self._files = files
        self._advance = advance
        self._members: dict[tuple[str, int], dict[int, _Spooled]] = {}

    def open_body(self, line: ManifestLine) -> Iterable[Piece]:
        """See `BodyReader`."""
        self._advance(0)
        source = self._files.source(line.file)
        body = _read_quickly(source, line)
        return self._read_record(source, line) if body is None else (body,)

    def _read_record(self, source: Source, line: ManifestLine) -> Iterator[Piece]:
        if line.inner_offset > _NEAR_BYTES:
            yield from self._spooled(source, line)
        else:
            place = line.offset, line.inner_offset
            item = read_record(source, place[0], inner_offset=place[1], digests=())
            yield from _payload(item, line)

    def _spooled(self, source: Source, line: ManifestLine) -> Iterator[Piece]:
        member = self._members.get((line.file, line.offset))
        if member is None:
            member = self._members[line.file, line.offset] = self._spool_member(source, line.offset)
        found = member.get(line.inner_offset)
        _require_as_manifest(found, line)
        assert found is not None
        at, left = found.at, found.payload_size
        while left:
            self._files.scratch.seek(at)  # others are read in between
            piece = self._files.scratch.read(min(left, _PIECE_BYTES))
            yield piece
            at += len(piece)
            left -= len(piece)

    def _spool_member(self, source: Source, offset: int) -> dict[int, _Spooled]:
        member = {}
        at = self._files.scratch.seek(0, os.SEEK_END)
        for item in iter_records(source, start=offset, digests=()):
            if not isinstance(item, Record) or item.offset != offset:
                break
            size = item.payload_size if item.type in CAPTURE_TYPES else 0
            if size:
                self._files.scratch.writelines(item.payload())
            member[item.inner_offset] = _Spooled(item.target_uri, size, _harm(item), at)
            at += size
        return member


class _Spooled(NamedTuple):
    """A record whose payload is in the temporary file, and where."""

    target_uri: str | None
    payload_size: int
    harm: str
    at: int


def _read_quickly(source: Source, line: ManifestLine) -> memoryview | None:
    """The body of a response alone in its gzip member, all as the line says; None if not so.

    Nearly every record is one; finding its body takes no parsing, only arithmetic that
    must come out even.
    """
    if line.type is not None or line.size is None or line.inner_offset:
        return None
    view = source.view(line.offset, min(line.length, _QUICK_BYTES + 1))
    if view[:3] != GZIP_MAGIC or len(view) != line.length:
        return None
    inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
    try:
        data = inflater.decompress(view, _QUICK_BYTES)
    except InflateError:
        return None
    body = head_end(data, max(head_end(data), 0))
    if (
        not inflater.eof
        or inflater.unused_data
        or body < 0
        or len(data) - body - len(_RECORD_END) != line.size
        or not data.endswith(_RECORD_END)
        or not _names(data, line.target_uri)
    ):
        return None
    return memoryview(data)[body : -len(_RECORD_END)]


def _names(data: bytes, uri: str) -> bool:
    """Whether the record's target URI, with or without `<>`, is this one."""
    at = data.find(_TARGET_URI) + len(_TARGET_URI)
    written = uri.encode("utf-8", "surrogateescape")
    if data[at : at + 1] == b"<":
        at, written = at + 1, written + b">"
    return data.startswith(written + b"\r\n", at)


def _payload(item: Item | None, line: ManifestLine) -> Iterator[Piece]:
    record = item if isinstance(item, Record) else None
    if record is not None and (record.offset, record.inner_offset) == (
        line.offset,
        line.inner_offset,
    ):
        found = _Spooled(record.target_uri, record.payload_size, _harm(record), 0)
        _require_as_manifest(found, line)
        yield from record.payload()
    else:
        _require_as_manifest(None, line)


def _harm(record: Record) -> str:
    harmful = {finding.code for finding in record.findings} - HARMLESS_FINDINGS
    return ", ".join(sorted(harmful))


def _require_as_manifest(found: _Spooled | None, line: ManifestLine) -> None:
    """Raise MalformedRecord unless the record is the line's, and whole."""
    if (
        found is None
        or (found.target_uri or "") != line.target_uri
        or (line.size is not None and found.payload_size != line.size)
    ):
        raise MalformedRecord(
            "the record here is not the one that was listed: it is damaged, or the file was "
            "changed since",
            file=line.file,
            offset=line.offset,
        )
    if found.harm:
        raise MalformedRecord(
            f"the record is damaged: {found.harm}",
            file=line.file,
            offset=line.offset,
            kind="the record is damaged",
        )


class UnreadableBody(Exception):
    """Inside this package: which of two bodies could not be read, and why."""

    def __init__(self, line: ManifestLine, problem: PinakesError) -> None:
        super().__init__(problem.message)
        self.line = line
        self.problem = problem


@dataclass(slots=True)
class Representative:
    """The body that others of its digest are compared with.

    `body` is None where it is larger than `KEPT_BODY_BYTES`, or not `is_read` yet.
    """

    line: ManifestLine
    body: bytes | None
    compared_bytes: int = 0
    is_read: bool = True

    def equals(self, line: ManifestLine, bodies: BodyReader) -> bool:
        """Whether this line's body is the representative's.

        Raises:
            UnreadableBody: naming the one of the two that cannot be read.
        """
        known, size = self.line.size, line.size
        if known is not None and size is not None and known != size:
            return False
        if not self.is_read:
            self.body, self.is_read = represent(self.line, bodies).body, True
        if self.body is None:
            return equal_streams(
                self._counted(read_body(line, bodies)), read_body(self.line, bodies)
            )
        try:
            return self._equals_kept(self.body, bodies.open_body(line))
        except _FAULTS as error:
            raise _unreadable(line, error) from error

    def _equals_kept(self, body: bytes, pieces: Iterable[Piece]) -> bool:
        at = 0
        for piece in pieces:
            self.compared_bytes += len(piece)
            # startswith compares in place: no slice of the body is copied.
            if not body.startswith(piece, at):
                return False
            at += len(piece)
        return at == len(body)

    def _counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.compared_bytes += len(piece)
            yield piece


def represent(line: ManifestLine, bodies: BodyReader) -> Representative:
    """Read a line's body as the one to compare with.

    Raises:
        UnreadableBody: where it cannot be read.
    """
    parts: list[Piece] = []
    size = 0
    try:
        for piece in bodies.open_body(line):
            parts.append(piece)
            size += len(piece)
            if size > KEPT_BODY_BYTES:
                return Representative(line, None)
    except _FAULTS as error:
        raise _unreadable(line, error) from error
    return Representative(line, b"".join(parts))


def read_body(line: ManifestLine, bodies: BodyReader) -> Iterator[bytes]:
    """The line's body in pieces; UnreadableBody where it cannot be read."""
    try:
        yield from map(bytes, bodies.open_body(line))
    except _FAULTS as error:
        raise _unreadable(line, error) from error


def _unreadable(line: ManifestLine, error: PinakesError | OSError) -> UnreadableBody:
    if isinstance(error, PinakesError):
        return UnreadableBody(line, error)
    reason = f"cannot be read: {error.strerror or error}"
    return UnreadableBody(line, InputRefused(reason, file=line.file, offset=line.offset))
