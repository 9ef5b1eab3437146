"""Files that are not compared, and only read for the full records that references may mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pinakes.errors import MalformedRecord
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

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
