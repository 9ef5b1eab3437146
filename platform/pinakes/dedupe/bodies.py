"""Where bodies come from when they are compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pinakes.errors import MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record

from .archive_files import ArchiveFiles


class BodyReader(Protocol):
    """Gives the stored body of the record that a line is about.

    `resolve_lines` asks in an order that suits files: clusters by where their first
    capture lies, a cluster's captures by file and offset; no body is asked for whose
    length already tells it apart.
    """

    def open_body(self, line: ManifestLine) -> Iterator[bytes]:
        """The stored body, transfer-coding as it lies there, in pieces of at most 4 MiB.

        Raises:
            InputRefused: where the file cannot be read.
            MalformedRecord: where the record is not what the line says, or is damaged.
        """
        ...


class ArchiveBodies:
    """Bodies out of archive files; read only as far as they are drawn."""

    def __init__(self, files: ArchiveFiles) -> None:
        self._files = files

    def open_body(self, line: ManifestLine) -> Iterator[bytes]:
        """See `BodyReader`."""
        record = read_record(
            self._files.source(line.file),
            line.offset,
            inner_offset=line.inner_offset,
            digests=(),
        )
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
        for piece in record.payload():
            yield bytes(piece)
