"""`indexes/index.cdx`: the captures of the archive files that were written, sorted.

Of a file that is as it is in the store its sidecar is asked; one whose revisits were made full is
read.  Source: WACZ 1.1.1 §5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.cdx_lines import iter_stored_cdx_lines
from pinakes.errors import MalformedRecord, PinakesError
from pinakes.index.cdx_lines import iter_cdx_lines
from pinakes.index.cdxj import CdxLine, format_cdxj
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

from .contents import ExportedFile
from .wacz_file import Member, WaczFile

ARCHIVE = "archive/"
INDEX = "indexes/index.cdx"


def count_lines(archive: ArchiveReader, files: Iterable[ExportedFile]) -> int:
    """How many captures of files, as they are in the store, have a line.  Reads sidecars only."""
    return sum(
        1
        for file in files
        for _ in iter_stored_cdx_lines(archive, file.entry, on_unplaced=lambda *_: None)
    )


def write_index(
    out: WaczFile,
    archive: ArchiveReader,
    files: Iterable[ExportedFile],
    filled: Mapping[str, Member],
    space: SortSpace,
    on_problem: Callable[[PinakesError], None],
) -> int:
    """Write the member; how many lines.  `filled` are the members whose revisits were made full,
    by the names of their files; `on_problem` gets the captures that have no line."""
    lines = (
        line._replace(filename=file.name)
        for file in files
        for line in _lines(out, archive, file, filled.get(file.name), on_problem)
    )
    return write_lines(out, lines, space)


def write_lines(out: WaczFile, lines: Iterable[CdxLine], space: SortSpace) -> int:
    """Write the member of these lines, which come in any order; how many lines."""
    encoded = (f"{format_cdxj(line)}\n".encode("utf-8", "surrogateescape") for line in lines)
    in_order = sort_outside_memory(encoded, space=space)
    # All of them are read before the first comes, so nothing is read while this is written.
    first = list(islice(in_order, 1))
    count = 0
    with out.member(INDEX) as member:
        for line in chain(first, in_order):
            member.write(line)
            count += 1
    return count


def _lines(
    out: WaczFile,
    archive: ArchiveReader,
    file: ExportedFile,
    filled: Member | None,
    on_problem: Callable[[PinakesError], None],
) -> Iterator[CdxLine]:
    path = f"{ARCHIVE}{file.name}"

    def on_unplaced(offset: int, why: str) -> None:
        on_problem(MalformedRecord(f"{why}: left out of the index", file=path, offset=offset))

    if filled is None:
        return iter_stored_cdx_lines(
            archive, file.entry, on_unplaced=lambda _, offset, why: on_unplaced(offset, why)
        )
    items = iter_records(out.read(filled), digests=())
    records = (item for item in items if isinstance(item, Record))
    return iter_cdx_lines(records, file.name, on_unplaced=on_unplaced)
