"""Pairs of views as QA judged them: rows of `qa_pairs`, read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.hbase_schema.cells import C
from pinakes.hbase_schema.name_keys import PairKey, decode_pair_key, pairs_of
from pinakes.hbase_schema.qa_cells import PairScores, PairVerdict
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Row, RowStore

TABLE = "qa_pairs"


class StoredPair(NamedTuple):
    """A row of `qa_pairs`; None for cells that are missing."""

    key: PairKey
    scores: PairScores | None
    verdict: PairVerdict | None


def scan_pairs(rows: RowStore, run: str, capture_key: bytes | None = None) -> Iterator[StoredPair]:
    """The pairs of a run, by capture, or of one capture in it; lazy."""
    columns = [PairScores.COLUMN, PairVerdict.COLUMN]
    for row in rows.scan(TABLE, pairs_of(run, capture_key), columns=columns):
        yield StoredPair(decode_pair_key(row.key), _read(row, PairScores), _read(row, PairVerdict))


def _read(row: Row, cls: type[C]) -> C | None:
    return read_cell(cls, TABLE, row)
