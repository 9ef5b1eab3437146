"""Runs in the catalogue: what was asked for, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.name_keys import encode_run_key
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.row_store.port import Put, RowStore, get_row

TABLE = "runs"
RUNNING = "running"


def put_run(store: RowStore, run: str, facts: RunFacts) -> None:
    """Make a run known, and running."""
    key = encode_run_key(run)
    store.mutate(TABLE, [Put(key, {RunFacts.COLUMN: encode_cell(facts)}, facts.act_time_ms)])
    set_run_state(store, run, RunState(state=RUNNING))


def set_run_state(store: RowStore, run: str, state: RunState) -> None:
    """Write how the run stands."""
    cell = {RunState.COLUMN: encode_cell(state)}
    store.mutate(TABLE, [Put(encode_run_key(run), cell, None)])


def has_ended(store: RowStore, run: str) -> bool:
    """Whether a run is known, and nobody will go on with it."""
    row = get_row(store, TABLE, encode_run_key(run), columns=[RunState.COLUMN])
    value = row.value(RunState.COLUMN) if row is not None else None
    return value is not None and decode_cell(RunState, value).state != RUNNING


def read_run(store: RowStore, run: str) -> RunFacts | None:
    """What a run was asked to do; None where it is not known."""
    row = get_row(store, TABLE, encode_run_key(run), columns=[RunFacts.COLUMN])
    value = row.value(RunFacts.COLUMN) if row is not None else None
    return decode_cell(RunFacts, value) if value is not None else None


def scan_runs(store: RowStore) -> Iterator[tuple[str, RunFacts]]:
    """All runs, by name."""
    for row in store.scan(TABLE, columns=[RunFacts.COLUMN]):
        value = row.value(RunFacts.COLUMN)
        if value is not None:
            yield row.key.decode("ascii"), decode_cell(RunFacts, value)
