"""Runs in the catalogue: their arguments, state and progress."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.hbase_schema.cells import C, encode_cell
from pinakes.hbase_schema.name_keys import encode_run_key
from pinakes.hbase_schema.ranges import prefix_range
from pinakes.hbase_schema.run_cells import RunFacts, RunProgress, RunState
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Put, Row, RowStore, get_row

TABLE = "runs"
RUNNING, DONE, FAILED, STOPPED = "running", "done", "failed", "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A run as the catalogue knows it; `progress` is None until it has reported any."""

    run: str
    facts: RunFacts
    state: str
    progress: RunProgress | None


def put_run(store: RowStore, run: str, facts: RunFacts) -> None:
    """Add a run, in the state running."""
    key = encode_run_key(run)
    store.mutate(TABLE, [Put(key, {RunFacts.COLUMN: encode_cell(facts)}, facts.act_time_ms)])
    set_run_state(store, run, RunState(state=RUNNING))


def set_run_state(store: RowStore, run: str, state: RunState) -> None:
    """Write the state of a run."""
    cell = {RunState.COLUMN: encode_cell(state)}
    store.mutate(TABLE, [Put(encode_run_key(run), cell, None)])


def has_ended(store: RowStore, run: str) -> bool:
    """Whether a run is known and will not be continued."""
    return _state(store, run) not in (None, RUNNING)


def is_running(store: RowStore, run: str) -> bool:
    """Whether a run is known and running, or will be continued when its verb is called again."""
    return _state(store, run) == RUNNING


def _state(store: RowStore, run: str) -> str | None:
    row = get_row(store, TABLE, encode_run_key(run), columns=[RunState.COLUMN])
    state = read_cell(RunState, TABLE, row)
    return state.state if state is not None else None


def read_run(store: RowStore, run: str) -> RunFacts | None:
    """The arguments of a run; None if it is unknown."""
    row = get_row(store, TABLE, encode_run_key(run), columns=[RunFacts.COLUMN])
    return read_cell(RunFacts, TABLE, row)


def set_run_progress(store: RowStore, run: str, progress: RunProgress) -> None:
    """Write the progress of a run."""
    cell = {RunProgress.COLUMN: encode_cell(progress)}
    store.mutate(TABLE, [Put(encode_run_key(run), cell, None)])


def latest_runs(store: RowStore, verb: str, limit: int) -> list[RunEntry]:
    """The latest runs of a verb, newest first: their names begin with it, and then the time."""
    runs = prefix_range(f"{verb}-".encode("ascii"))
    rows = store.scan(TABLE, runs, reverse=True, limit_rows=limit)
    return [entry for row in rows if (entry := _entry(row)) is not None]


def _entry(row: Row) -> RunEntry | None:
    def read(cls: type[C]) -> C | None:
        return read_cell(cls, TABLE, row)

    facts, state = read(RunFacts), read(RunState)
    if facts is None:
        return None
    return RunEntry(
        run=row.key.decode("ascii"),
        facts=facts,
        state=state.state if state is not None else RUNNING,
        progress=read(RunProgress),
    )
