"""Manifest lines out of sidecars: a collection is decided on without reading its archives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.catalog.generation_rows import without_decision
from pinakes.catalog.sidecar import SidecarRow
from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.warc.digest import format_digest, parse_digest

_AS_WE_WRITE = re.compile(r"sha1:[A-Z2-7]{32}\Z")


def landed_line(row: SidecarRow, archive_file: str) -> ManifestLine | None:
    """The line of one record as it landed; None for what is no capture.

    One that is a revisit of ours now is told by its copy number; no other has one.
    """
    if not row.is_replaced:
        return stored_line(row, archive_file)
    line = stored_line(without_decision(row), archive_file)
    return line._replace(copy_number=row.copy_number) if line is not None else None


def stored_line(row: SidecarRow, archive_file: str) -> ManifestLine | None:
    """The line of one record in its current generation; None for what is no capture.

    A record that an earlier run has made a revisit stands as a revisit, so that its
    original is pinned.
    """
    if row.type not in CAPTURE_TYPES:
        return None
    is_revisit = row.type == "revisit" or row.is_replaced
    return ManifestLine(
        file=archive_file,
        offset=row.offset,
        length=row.length,
        target_uri=row.target_uri or "",
        date=row.date or "",
        digest=_digest(row),
        size=row.payload_size,
        status=row.status,
        skip=None if is_revisit else row.skip,
        type="revisit" if is_revisit else None if row.type == "response" else row.type,
        ctype=row.media_type if row.type == "resource" else None,
        inner_offset=row.inner_offset,
        record_id=row.record_id,
        refers_uri=row.refers_uri,
        refers_date=row.refers_date,
        refers_id=row.refers_id,
        also=",".join(_other_digests(row)) or None,
    )


def _digest(row: SidecarRow) -> str:
    if row.sha256 is not None:
        return format_digest("sha256", row.sha256)
    return _declared(row) or row.declared or "-"


def _declared(row: SidecarRow) -> str | None:
    if not row.declared or _AS_WE_WRITE.match(row.declared):
        return row.declared
    digest = parse_digest(row.declared)
    return None if digest is None else str(digest)


def _other_digests(row: SidecarRow) -> Iterator[str]:
    """What revisits of others may name this payload by.

    First the stored body's SHA-1, which `trust` takes for its second digest; last the one by
    which tools know the capture, that is declared, or else computed: see `also`.
    """
    if row.sha1 is None:
        return
    stored = format_digest("sha1", row.sha1)
    yield stored
    if row.dechunked_sha1 is not None:
        yield format_digest("sha1", row.dechunked_sha1)
    if row.dechunked_sha256 is not None:
        yield format_digest("sha256", row.dechunked_sha256)
    declared = _declared(row)
    if declared:
        yield declared
    elif row.dechunked_sha1 is not None:
        yield stored
