"""What WACZ files brought along besides archive files: pages, `datapackage.json`, logs.

They are kept as records of the document file that lands with a package (`warc.packages`):

    spring/item.wacz/documents.warc    urn:wacz:item.wacz/pages/pages.jsonl

They are found by its sidecar, so one is read without those before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple
from urllib.parse import unquote

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.file_states import FileState
from pinakes.warc.record import Record

from .file_records import iter_sidecar
from .file_rows import FileEntry
from .payloads import open_record
from .withdrawals import is_tombstone_row

_DOCUMENTS = re.compile(r"(.+\.wacz)/documents(?:-[0-9]+)?\.warc\Z", re.IGNORECASE)
_PREFIX = "urn:wacz:"


class Document(NamedTuple):
    """A member of a WACZ file, as it is kept: of `package`, `spring/item.wacz`, at `path` in it."""

    package: str
    path: str
    size: int
    file: str
    offset: int
    inner_offset: int
    length: int


def iter_documents(
    archive: ArchiveReader, entries: Iterable[FileEntry], is_wanted: Callable[[str], bool]
) -> Iterator[Document]:
    """Yield the documents of these files whose paths are wanted, in their order; none that was
    withdrawn.

    Reads the sidecars of document files.
    """
    for entry in entries:
        package = _DOCUMENTS.match(entry.archive_file)
        if package is None or entry.state is not FileState.STORED:
            continue
        file = entry.stored_name
        for row in iter_sidecar(archive, file):
            uri = row.target_uri or ""
            is_gone = is_tombstone_row(row) or row.ordinal in entry.withdrawing
            if row.type != "resource" or is_gone or not uri.startswith(_PREFIX):
                continue
            path = unquote(uri[len(_PREFIX) :], errors="surrogateescape").partition("/")[2]
            if path and is_wanted(path):
                place = row.offset, row.inner_offset, row.length
                yield Document(package[1], path, row.content_length, file, *place)


def open_document(archive: ArchiveReader, document: Document) -> AbstractContextManager[Record]:
    """Its record, whose payload are its bytes; read it within the `with`.

    Raises as `payloads.open_record`.
    """
    place = Location(
        offset=document.offset, length=document.length, inner_offset=document.inner_offset
    )
    return open_record(archive, document.file, place)


def read_document(archive: ArchiveReader, document: Document, *, most_bytes: int) -> bytes | None:
    """Its bytes; None of one that is larger.  Memory: those."""
    if document.size > most_bytes:
        return None
    with open_document(archive, document) as record:
        return b"".join(map(bytes, record.payload()))
