"""Index lines from the sidecars of stored files: no archive file is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.capture_cells import REVISIT_MIME, cdx_digest
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, decode_capture_key
from pinakes.index.cdx_lines import NOT_FOUND_BY, SHARED_MEMBER
from pinakes.index.cdxj import CDX_11, CdxLine, format_cdx
from pinakes.index.scan import CAPTURE_TYPES

from .declared import sha1_text
from .file_records import iter_sidecar
from .file_rows import FileEntry
from .originals import Original
from .sidecar import SidecarRow

CDX_WITH_IDS = f"{CDX_11} u"
"""What wget wants of a CDX file: among its columns URL, digest, and record id."""


def format_cdx_with_id(original: Original) -> str:
    """The CDX-11 line of an original, and its record id as the record has it."""
    facts, location = original.copy.facts, original.location
    line = CdxLine(
        decode_capture_key(original.copy.key).urlkey,
        original.copy.second,
        facts["url"],
        facts.get("mime"),
        facts.get("status"),
        facts["digest"],
        location.length,
        location.offset,
        original.filename,
    )
    return f"{format_cdx(line)} <{facts['record_id']}>"


def iter_stored_cdx_lines(
    archive: ArchiveReader, entry: FileEntry, *, on_unplaced: Callable[[str, int, str], None]
) -> Iterator[CdxLine]:
    """The lines of a stored file's captures as they are now, in their order, without those that
    were withdrawn; `on_unplaced` gets file and offset of those that have none, and why.
    """
    name = entry.stored_name
    rows = (row for row in iter_sidecar(archive, name) if row.ordinal not in entry.withdrawing)
    return iter_row_lines(rows, name, on_unplaced=on_unplaced)


def iter_row_lines(
    rows: Iterable[SidecarRow], name: str, *, on_unplaced: Callable[[str, int, str], None]
) -> Iterator[CdxLine]:
    """The lines of the captures among the rows of a file called `name`, in their order."""
    for row in rows:
        if row.type not in CAPTURE_TYPES:
            continue
        line = _line_of(row, name)
        if line is None or row.inner_offset:
            on_unplaced(name, row.offset, NOT_FOUND_BY if line is None else SHARED_MEMBER)
        else:
            yield line


def _line_of(row: SidecarRow, filename: str) -> CdxLine | None:
    if row.row_key is None or not row.target_uri:
        return None
    key = decode_capture_key(row.row_key)
    if key.time == UNREADABLE_TIME:
        return None
    is_revisit = row.is_replaced or row.type == "revisit"
    digest = row.declared if row.sha1 is None else sha1_text(row.sha1)
    return CdxLine(
        key.urlkey,
        key.time[:14],
        row.target_uri,
        REVISIT_MIME if is_revisit else row.media_type,
        None if row.status is None else str(row.status),
        cdx_digest(digest) if digest else None,
        row.length,
        row.offset,
        filename,
        extra={"method": row.method} if row.method not in (None, "GET") else None,
    )
