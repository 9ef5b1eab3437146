"""Files that are not compared, and only read for the full records that references may mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .index_originals import iter_indexed
from .resolution import Resolution
from .values import FoundReferences

_ALGORITHM = "sha256"


def add_originals(
    source: Source, references: FoundReferences, at: Sequence[tuple[int, int]] | None = None
) -> None:
    """Make the full records of a file known; `at`: those at these offsets and inner offsets.

    Raises:
        MalformedRecord: where none is at such a place.
    """
    for item in _whole(source) if at is None else _some(source, at):
        if isinstance(item, Record) and item.type in ("response", "resource"):
            references.add_full(item, item.payload_digest(_ALGORITHM).hex, stays=True)


def add_indexed_originals(
    index: Path,
    files: ArchiveFiles,
    resolution: Resolution,
    on_problem: Callable[[PinakesError], None],
) -> None:
    """Read what an index knows of the originals that are not among the files compared.

    Memory: the references to such originals.
    """
    wanted = {
        (found.target_uri, found.target_second)
        for found in resolution.outcomes()
        if found.outcome == "dangling"
    }
    for original, place in iter_indexed(index):
        if original in wanted:
            try:
                add_originals(files.source(place.file), resolution, [(place.offset, 0)])
            except (InputRefused, MalformedRecord) as problem:
                on_problem(problem)


def _whole(source: Source) -> Iterator[Item]:
    return iter_records(source, digests=(_ALGORITHM,))


def _some(source: Source, places: Iterable[tuple[int, int]]) -> Iterator[Item]:
    for offset, inner in places:
        record = read_record(source, offset, inner_offset=inner, digests=(_ALGORITHM,))
        if not isinstance(record, Record) or (record.offset, record.inner_offset) != (
            offset,
            inner,
        ):
            raise MalformedRecord("there is no record here", file=source.name, offset=offset)
        yield record
