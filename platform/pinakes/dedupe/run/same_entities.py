"""Captures of one entity in other chunks: counted by `dedupe --plan`, and left full.

Their stored bodies differ, so nothing merges them; docs/adr/0046-chunk-boundaries.md says why.
Decides nothing: what is counted here is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.catalog.sidecar import SidecarRow
from pinakes.index.external_sort import SortSpace, sort_outside_memory

Entity = tuple[bytes, int, bytes, int]
"""SHA-256 without the chunks, status, SHA-256 as stored, length in the file."""


class SameEntities(NamedTuple):
    """Bodies that are those of others but for their chunks, and what their records take."""

    records: int
    bytes: int


def count_same_entities(rows: Iterable[SidecarRow], *, space: SortSpace) -> SameEntities:
    """Count the bodies that merging by entity would save, each once; of an entity one stays."""
    records = size = 0
    ordered = sort_outside_memory(_entities(rows), space=space)
    for _, copies in groupby(ordered, key=itemgetter(0, 1)):
        bodies = groupby(copies, key=itemgetter(2))
        next(bodies)
        for _, same in bodies:
            *_, length = next(same)
            records += 1
            size += length
    return SameEntities(records, size)


def _entities(rows: Iterable[SidecarRow]) -> Iterator[Entity]:
    for row in rows:
        if row.type != "response" or row.is_replaced or row.skip is not None:
            continue
        if row.dechunked_sha256 is not None and row.sha256 is not None:
            yield row.dechunked_sha256, row.status or 0, row.sha256, row.length
