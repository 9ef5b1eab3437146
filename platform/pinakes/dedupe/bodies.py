"""Where bodies come from when they are compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Protocol

from isal import igzip_lib

from pinakes.errors import MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import HARMLESS_FINDINGS
from pinakes.warc.http import head_end
from pinakes.warc.members import GZIP_MAGIC, InflateError
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .archive_files import ArchiveFiles

_QUICK_BYTES = 1 << 22
_WALKS = 4
"""Members that are read on from where they were: of originals, of their duplicates."""
_RECORD_END = b"\r\n\r\n"
_TARGET_URI = b"\r\nWARC-Target-URI: "
Piece = bytes | memoryview


class BodyReader(Protocol):
    """Gives the stored body of the record that a line is about.

    `resolve_lines` asks in an order that suits files: clusters by where their first
    capture lies, a cluster's captures by file and offset; no body is asked for whose
    length already tells it apart.
    """

    def open_body(self, line: ManifestLine) -> Iterable[Piece]:
        """The stored body, transfer-coding as it lies there, in pieces of at most 4 MiB.

        Raises, at once or while the pieces are drawn:
            InputRefused: where the file cannot be read.
            MalformedRecord: where the record is not what the line says, or is damaged.
        """
        ...


class ArchiveBodies:
    """Bodies out of archive files; read only as far as they are drawn."""

    def __init__(self, files: ArchiveFiles) -> None:
        self._files = files
        self._walks: deque[_Walk] = deque(maxlen=_WALKS)

    def open_body(self, line: ManifestLine) -> Iterable[Piece]:
        """See `BodyReader`."""
        source = self._files.source(line.file)
        body = _read_quickly(source, line)
        return self._read_record(source, line) if body is None else (body,)

    def _read_record(self, source: Source, line: ManifestLine) -> Iterator[Piece]:
        item: Item | None = self._walk_to(source, line) if line.inner_offset else None
        if item is None:
            item = read_record(source, line.offset, inner_offset=line.inner_offset, digests=())
        yield from _payload(item, line)

    def _walk_to(self, source: Source, line: ManifestLine) -> Record | None:
        """A record that shares its member, read on from one that was read before it.

        Else each would inflate the member from its start: a file may be one member.
        """
        place = line.offset, line.inner_offset
        behind = [w for w in self._walks if w.source is source and w.may_come_to(*place)]
        if behind:
            walk = max(behind, key=_inner_offset)
            self._walks.remove(walk)
        else:
            walk = _Walk(source, line.offset)
        self._walks.append(walk)
        return walk.go_to(line.inner_offset)


class _Walk:
    """The records of one member, in order."""

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self._offset = offset
        self._items = iter_records(source, start=offset, digests=())
        self._item: Item | None = next(self._items, None)

    @property
    def inner_offset(self) -> int:
        """Where it stands in the member."""
        return self._item.inner_offset if isinstance(self._item, Record) else 0

    def may_come_to(self, offset: int, inner_offset: int) -> bool:
        """Whether that place is here, or ahead."""
        return self._offset == offset and self._is_inside() and self.inner_offset <= inner_offset

    def go_to(self, inner_offset: int) -> Record | None:
        """The record there; None where none begins there in this way of reading."""
        while self._is_inside() and self.inner_offset < inner_offset:
            self._item = next(self._items, None)
        found = self._item
        is_there = self._is_inside() and self.inner_offset == inner_offset
        return found if is_there and isinstance(found, Record) else None

    def _is_inside(self) -> bool:
        return isinstance(self._item, Record) and self._item.offset == self._offset


_inner_offset = attrgetter("inner_offset")


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


def _payload(record: Item | None, line: ManifestLine) -> Iterator[Piece]:
    if (
        not isinstance(record, Record)
        or record.offset != line.offset
        or record.inner_offset != line.inner_offset
        or (record.target_uri or "") != line.target_uri
        or (line.size is not None and record.payload_size != line.size)
    ):
        raise MalformedRecord(
            "the record here is not the manifest's: make the manifest again",
            file=line.file,
            offset=line.offset,
        )
    harmful = {finding.code for finding in record.findings} - HARMLESS_FINDINGS
    if harmful:
        raise MalformedRecord(
            f"the record is damaged: {', '.join(sorted(harmful))}",
            file=line.file,
            offset=line.offset,
        )
    yield from record.payload()
