from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from dead_landers import land_and_die
from landed_stores import LandedStore, page

from pinakes.access.landing_view import Landing, LandingView, Rate, Rates, TotalsView
from pinakes.catalog.run_rows import RunEntry, latest_runs, put_run, set_run_progress, set_run_state
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import ConfigError, DigestMismatch, InputRefused, StoreUnavailable
from pinakes.hbase_schema.run_cells import RunFacts, RunProgress, RunState
from pinakes.ingest.landing_run import REPORT_EVERY_S, LandingRun
from pinakes.ingest.tally import ROW_RETRIES, Tally

NOW_MS = 1_800_000_000_000


def view_of(store: LandedStore, **given: Any) -> LandingView:
    return LandingView(store.rows, store.actor.now_ms, store.actor.is_gone, **given)


def states(landing: Landing) -> list[tuple[str, str]]:
    return [(flight.file, flight.state) for flight in landing.flights]


def test_file_is_shown_while_it_lands(store: LandedStore) -> None:
    view, seen = view_of(store), []
    store.land("c", "a.warc.gz", page("http://a.example/"), at=lambda _: seen.append(view.read()))
    assert states(seen[-1]) == []
    under_way = [landing for landing in seen if landing.flights]
    assert {state for landing in under_way for state in states(landing)} == {
        ("c/a.warc.gz", "landing")
    }
    [flight] = under_way[0].flights
    assert flight.owner == store.actor.owner
    assert flight.since_ms is not None
    assert flight.since_ms <= store.actor.now_ms()
    assert under_way[0].busy_crawls() == {"c"}
    assert [(c.crawl, c.facts.collection, c.state) for c in view.read().crawls] == [
        ("c", "default", "open")
    ]


def test_file_of_dead_lander_is_stalled_until_it_lands(store: LandedStore) -> None:
    view = view_of(store)
    land_and_die(store, "c", "a.warc.gz")
    assert states(view.read()) == [("c/a.warc.gz", "stalled")]
    store.land("c", "a.warc.gz", page("http://a.example/"))
    assert states(view.read()) == []


def test_file_refused_half_way_is_shown(store: LandedStore) -> None:
    store.land("c", "a.warc.gz", page("http://a.example/"))
    path = store.folder / "archive" / "c" / "b.warc.gz"
    path.write_bytes(b"what nobody knows")
    with pytest.raises(InputRefused):
        store.land("c", "b.warc.gz", page("http://a.example/"))
    assert states(view_of(store).read()) == [("c/b.warc.gz", "refused")]


def test_more_files_in_flight_than_are_shown(
    store: LandedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        land_and_die(store, "c", f"{name}.warc.gz")
    assert not view_of(store).read().more
    monkeypatch.setattr("pinakes.access.landing_view.INFLIGHT_LIMIT", 2)
    landing = view_of(store).read()
    assert (len(landing.flights), landing.more) == (2, True)


def test_totals_count_files_landed_and_removed(store: LandedStore) -> None:
    view = TotalsView(store.rows, time.monotonic)
    assert view.read(set()) == {}
    first = store.land("c", "a.warc.gz", page("http://a.example/"))
    assert view.read(set())["c"].counts["files"] == 1
    second = store.land("c", "b.warc.gz", page("http://a.example/"), page("http://b.example/"))
    # It was not busy, nor its state another: what is known of it may be kept.
    assert view.read(set())["c"].counts["files"] == 1
    totals = view.read({"c"})["c"]
    assert totals.counts["bytes"] == first.size + second.size
    assert (totals.counts["records"], totals.counts["captures"]) == (3, 3)
    assert totals.latest_ms is not None
    store.land("c", "d.warc.gz", page("http://d.example/"))
    assert view.read(set())["c"].counts["files"] == 3  # it was busy just before
    assert Remover(store.rows, store.archive, store.actor).take_out("c", CANCEL).is_complete
    gone = view.read(set())["c"]  # its state is another
    assert (gone.counts["files"], gone.counts["removed_files"]) == (3, 3)


def run_row(store: LandedStore, run: str, state: str | None, age_ms: int, owner: str) -> None:
    began_ms = store.actor.now_ms() - age_ms
    facts = RunFacts(verb="ingest", act_time_ms=began_ms, software="pinakes 0")
    put_run(store.rows, run, facts)
    progress = RunProgress(owner=owner, at_ms=began_ms, crawl="c", counts={"files": 1})
    set_run_progress(store.rows, run, progress)
    if state is not None:
        set_run_state(store.rows, run, RunState(state=state))


@pytest.mark.parametrize(
    ("state", "age_ms", "owner", "shown"),
    [
        pytest.param(None, 0, "elsewhere/1/2/3", "running", id="running"),
        pytest.param(None, 600_000, "elsewhere/1/2/3", "silent", id="not heard of"),
        pytest.param("done", 600_000, "elsewhere/1/2/3", "done", id="done"),
        pytest.param("failed", 0, "elsewhere/1/2/3", "failed", id="failed"),
        pytest.param("done", 7200_000, "elsewhere/1/2/3", None, id="long done"),
        pytest.param(None, 7200_000, "elsewhere/1/2/3", None, id="long silent"),
    ],
)
def test_state_of_an_ingest(
    store: LandedStore, state: str | None, age_ms: int, owner: str, shown: str | None
) -> None:
    run_row(store, "ingest-20260101T000000-1", state, age_ms, owner)
    run_row(store, "dedupe-20260101T000000-1", None, 0, owner)
    runs = view_of(store).read().runs
    assert [run.state for run in runs] == ([shown] if shown else [])


def test_ingest_without_process_is_dead(store: LandedStore) -> None:
    host = store.actor.owner.partition("/")[0]
    run_row(store, "ingest-20260101T000000-1", None, 0, f"{host}/1/another-boot/x")
    assert [run.state for run in view_of(store).read().runs] == ["dead"]


def test_ingest_with_file_in_flight_is_not_silent(store: LandedStore) -> None:
    run_row(store, "ingest-20260101T000000-1", None, 600_000, store.actor.owner)
    view, seen = view_of(store), []
    store.land("c", "a.warc.gz", page("http://a.example/"), at=lambda _: seen.append(view.read()))
    assert "running" in {run.state for landing in seen for run in landing.runs}
    assert [run.state for run in view.read().runs] == ["silent"]


def entry_at(at_ms: int, records: int, size: int) -> RunEntry:
    progress = RunProgress(owner="x", at_ms=at_ms, counts={"records": records, "bytes": size})
    facts = RunFacts(verb="ingest", act_time_ms=NOW_MS, software="pinakes 0")
    return RunEntry(run="ingest-1", facts=facts, state="running", progress=progress)


def test_rate_is_over_the_last_minute() -> None:
    rates = Rates()
    assert rates.rate_of(replace(entry_at(0, 0, 0), progress=None)) == Rate()
    assert rates.rate_of(entry_at(NOW_MS, 0, 0)) == Rate()
    assert rates.rate_of(entry_at(NOW_MS + 10_000, 100, 2000)) == Rate(10.0, 200.0)
    assert rates.rate_of(entry_at(NOW_MS + 60_000, 1600, 2000)) == Rate(1600 / 60, 2000 / 60)
    # The first report has left the minute, and the second one begins it.
    assert rates.rate_of(entry_at(NOW_MS + 70_000, 1600, 2000)) == Rate(25.0, 0.0)


def test_rate_with_one_report_is_since_the_run_began() -> None:
    assert Rates().rate_of(entry_at(NOW_MS + 50_000, 100, 500)) == Rate(2.0, 10.0)
    forgetful = Rates()
    forgetful.rate_of(entry_at(NOW_MS + 40_000, 0, 0))
    forgetful.keep(set())
    assert forgetful.rate_of(entry_at(NOW_MS + 50_000, 100, 500)) == Rate(2.0, 10.0)


# --- What an ingest tells of itself, as others read it


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
