"""What an ingest tells of itself, as others read it."""

from __future__ import annotations

import pytest
from landed_stores import LandedStore, page

from pinakes.catalog.run_rows import RunEntry, latest_runs
from pinakes.errors import ConfigError, DigestMismatch, InputRefused, StoreUnavailable
from pinakes.hbase_schema.run_cells import RunFacts
from pinakes.ingest.landing_run import REPORT_EVERY_S, LandingRun
from pinakes.ingest.tally import ROW_RETRIES, Tally

RUN = "ingest-20260101T000000-1"


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def landing_run(store: LandedStore, tally: Tally, clock: Clock | None = None) -> LandingRun:
    facts = RunFacts(verb="ingest", act_time_ms=store.actor.now_ms(), software="p")
    return LandingRun(
        store.rows, store.actor, tally, run=RUN, facts=facts, crawl="c", clock=clock or Clock()
    )


def told(store: LandedStore) -> RunEntry:
    [entry] = latest_runs(store.rows, "ingest", 10)
    assert entry.progress is not None
    assert (entry.progress.owner, entry.progress.crawl) == (store.actor.owner, "c")
    return entry


def counts(store: LandedStore) -> dict[str, int]:
    progress = told(store).progress
    return dict(progress.counts) if progress is not None else {}


def test_reports_after_each_file_and_every_few_seconds(store: LandedStore) -> None:
    tally, clock = Tally(), Clock()
    landed = store.land("c", "a.warc.gz", page("http://a.example/"), page("http://b.example/"))
    with landing_run(store, tally, clock) as run:
        assert (told(store).state, counts(store)) == ("running", {})
        run.landed(landed)
        assert counts(store) == {}
        clock.now_s += REPORT_EVERY_S
        run.beat()
        first = {"files": 1, "records": 2, "captures": 2, "bytes": landed.size}
        assert counts(store) == first
        run.landed(
            store.land("c", "a.warc.gz", page("http://a.example/"), page("http://b.example/"))
        )
        run.missed(InputRefused("it is empty", file="b"))
        tally.add(ROW_RETRIES, 3)
        assert counts(store) == first
        clock.now_s += REPORT_EVERY_S
        run.missed(DigestMismatch("the disk lies", file="d"))
        last = {**first, "known": 1, "refused": 1, "failed": 1, "mismatches": 1, "row_retries": 3}
        assert counts(store) == last
        tally.add(ROW_RETRIES)
    assert (told(store).state, counts(store)) == ("done", {**last, "row_retries": 4})
    progress = told(store).progress
    assert progress is not None
    assert progress.trouble == "d: the disk lies"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        pytest.param(ConfigError("x"), "failed", id="failed"),
        pytest.param(ZeroDivisionError(), "failed", id="a bug"),
        pytest.param(KeyboardInterrupt(), "stopped", id="stopped"),
        # The store would not take it, and be asked for minutes.
        pytest.param(StoreUnavailable("x"), "running", id="away"),
    ],
)
def test_end_of_run_is_reported(store: LandedStore, error: BaseException, state: str) -> None:
    with pytest.raises(type(error)), landing_run(store, Tally()):
        raise error
    assert told(store).state == state
