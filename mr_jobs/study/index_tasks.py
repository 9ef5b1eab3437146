"""Rows of `ccindex` from sidecars: those of one file, and what a task of Spark's does.

Apart from `spark_database`, for hosts that have Spark and none of the extra `spark`.  Sidecars
are read with our own reader, and not by Spark's: that one takes no name that begins with `_`
or has a `*` in it, and knows nothing of versions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.config import load_configuration
from pinakes.errors import PinakesError, StoreUnavailable
from pinakes.mr_jobs.study.index_row import IndexedFile, index_rows
from pinakes.profile import open_archive

FAILED = "pinakes: "
"""What precedes our own words in the error of a task."""


def read_packs(
    packs: Iterable[Sequence[IndexedFile]], *, settings: Mapping[str, str], columns: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """The cells of each capture of these files; `settings` open the store as the driver does."""
    configuration = load_configuration(options=settings, environment={}, folder=Path("/"))
    with open_archive(configuration) as archive:
        for pack in packs:
            for file in pack:
                try:
                    yield from read_file(archive, file, columns)
                except StoreUnavailable as error:
                    # An error comes to the driver as the text of its traceback.
                    raise RuntimeError(f"{FAILED}{error}") from error


def read_file(
    archive: ArchiveReader, file: IndexedFile, columns: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """The cells of each capture of a file.

    Raises:
        StoreUnavailable: where its sidecar cannot be read: a study without it is none.
    """
    return index_rows(_sidecar_rows(archive, file), file, columns)


def _sidecar_rows(archive: ArchiveReader, file: IndexedFile) -> Iterator[SidecarRow]:
    try:
        yield from iter_sidecar(archive, file.stored)
    except PinakesError as error:
        raise StoreUnavailable(f"{sidecar_name(file.stored)}: {error.message}") from error
