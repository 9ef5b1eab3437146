"""A cell at an earlier time; or "not kept", if that is no longer known.

A store keeps the newest N versions of a fact.  If all N are newer than the given time, an older
one may have been deleted: that differs from a cell that did not exist yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.errors import SchemaError

from .port import RowStore, StoredCell


class AsOf(NamedTuple):
    """The cell at that time, or None; `kept` is False if older versions may have been deleted."""

    cell: StoredCell | None
    kept: bool


def version_before(versions: Sequence[StoredCell], before_ms: int, versions_kept: int) -> AsOf:
    """The newest of `versions` (newest first) that is older than `before_ms`."""
    for cell in versions:
        if cell.timestamp_ms < before_ms:
            return AsOf(cell, kept=True)
    return AsOf(None, kept=len(versions) < versions_kept)


def cell_before(store: RowStore, table: str, row: bytes, column: bytes, before_ms: int) -> AsOf:
    """A cell just before a time.  One round trip."""
    declared = store.schema.table(table)
    family = declared.family(column.partition(b":")[0].decode("ascii")) if declared else None
    if family is None or not family.act_time:
        raise SchemaError(f"{table} has no history of {column!r}")
    return version_before(store.versions(table, row, column), before_ms, family.versions)
