"""Which capture lies at a place of a stored file: its sidecar says."""

from __future__ import annotations

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import InputRefused

from .sidecar import read_sidecar, sidecar_name


def capture_at(archive: ArchiveReader, file: str, offset: int) -> bytes | None:
    """The row key of the first capture at an offset; None where there is none.

    Raises:
        InputRefused: where the store has no such file.
    """
    if archive.size(file) is None:
        raise InputRefused("file not found on disk or in the store", file=file)
    if archive.size(sidecar_name(file)) is None:
        return None
    with archive.open(sidecar_name(file)) as sidecar:
        for row in read_sidecar(sidecar):
            if row.offset == offset and row.row_key is not None:
                return row.row_key
            if row.offset > offset:
                break
    return None
