"""Puts and writes behind the parser: bounded, complete, and no error is lost."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from failing_store import failing_rows
from fsck_here import look
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.errors import Conflict, StoreUnavailable
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.index.urlkey import urlkey
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.ingest.overlapped import (
    BackgroundWork,
    OverlappedRows,
    overlapped_file,
    overlapped_rows,
)

URI = "http://example.org/"
RECORDS = [page(f"{URI}{number}", b"%d" % number) for number in range(9)]
STEPS = 9


class TestBehind:
    def test_one_thread_keeps_the_order_and_drain_waits_for_all(self) -> None:
        done: list[int] = []
        with BackgroundWork(done.append, room=3) as behind:
            for number in range(200):
                behind.give(number, 1)
            behind.drain()
            assert done == list(range(200))

    def test_weightless_work_is_waited_for_too(self) -> None:
        done: list[int] = []
        with BackgroundWork(done.append, room=1, threads=3) as behind:
            for number in range(50):
                behind.give(number, 0)
            behind.drain()
            assert sorted(done) == list(range(50))

    def test_no_more_waits_than_there_is_room_for(self) -> None:
        given, ahead = 0, []
        gate = threading.Event()

        def work(number: int) -> None:
            gate.wait()
            ahead.append(given - number)

        with BackgroundWork(work, room=10) as behind:
            threading.Timer(0.05, gate.set).start()
            for number in range(100):
                behind.give(number, 2)
                given += 1
            behind.drain()
        assert max(ahead) <= 10 // 2

    def test_what_is_too_heavy_goes_alone(self) -> None:
        done: list[str] = []
        with BackgroundWork(done.append, room=1) as behind:
            for word in ("light", "too heavy by far", "light"):
                behind.give(word, len(word))
            behind.drain()
        assert done == ["light", "too heavy by far", "light"]

    @pytest.mark.parametrize("threads", [1, 3])
    def test_an_error_comes_out_where_work_is_given_and_where_it_is_waited_for(
        self, threads: int
    ) -> None:
        def fail(number: int) -> None:
            if number == 5:
                raise StoreUnavailable("full")

        def work(numbers: Iterable[int], *, room: int) -> None:
            with BackgroundWork(fail, room=room, threads=threads) as behind:
                for number in numbers:
                    behind.give(number, 1)
                behind.drain()

        for numbers, room in ((range(10_000), 2), ([5], 100)):
            with pytest.raises(StoreUnavailable, match="full"):
                work(numbers, room=room)

    def test_left_early_its_threads_end_and_what_waited_is_not_done(self) -> None:
        before = set(threading.enumerate())
        begun, go_on = threading.Event(), threading.Event()
        done: list[int] = []

        def work(number: int) -> None:
            begun.set()
            go_on.wait()
            done.append(number)

        def leave() -> None:
            with BackgroundWork(work, room=100) as behind:
                for number in range(10):
                    behind.give(number, 1)
                begun.wait()
                threading.Timer(0.05, go_on.set).start()
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            leave()
        assert done == [0]
        left = {
            t for t in set(threading.enumerate()) - before if not isinstance(t, threading.Timer)
        }
        assert left == set()


def test_a_file_gets_all_that_was_written_in_order() -> None:
    file = io.BytesIO()
    pieces = [bytes([number]) * (1 + number * 7919 % 70_000) for number in range(256)]
    with overlapped_file(file) as writer:
        for piece in pieces:
            assert writer.write(memoryview(piece)) == len(piece)
        writer.flush()
        assert file.getvalue() == b"".join(pieces)


# --- whole landings


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OverlappedRows, "batch_rows", 2)


def land(store: LandedStore, rows: Any = None, **options: Any) -> Landed:
    """Land a file with everything behind the parser, as a worker of its own."""
    rows = rows or store.rows
    path = store.write("c/a.warc.gz", *RECORDS)
    ensure_crawl(store.rows, "c", CrawlFacts(collection="default"), act="a", act_time_ms=1)
    options = {"sinks": overlapped_rows(rows), "writers": overlapped_file, **options}
    lander = Lander(rows, store.archive, Actor(owner="here"), **options)
    return lander.land(str(path), "c/a.warc.gz", "default")


def seen(store: LandedStore) -> int:
    return sum(
        len(list(scan_captures_of(store.rows, urlkey(f"{URI}{number}"))))
        for number in range(len(RECORDS))
    )


@pytest.fixture
def expected(tmp_path: Path) -> Iterator[dict[str, Any]]:
    plain = LandedStore(tmp_path / "plain")
    plain.land("c", "a.warc.gz", *RECORDS)
    yield plain.dump()
    plain.close()


def test_the_same_rows_and_steps_as_without(store: LandedStore, expected: dict[str, Any]) -> None:
    steps: list[str] = []
    landed = land(store, at=steps.append)
    assert landed.captures == len(RECORDS)
    assert store.dump() == expected
    assert steps == [
        "claimed",
        "in flight",
        "rows",
        "copied",
        "facts",
        "sidecar published",
        "published",
        "stored",
        "visible",
    ]
    assert look(store, full=True) == []


@pytest.mark.parametrize("applied", [False, True], ids=["refused", "done-unanswered"])
def test_whichever_call_fails_nothing_half_is_seen(
    store: LandedStore, expected: dict[str, Any], applied: bool
) -> None:
    failed = 0
    for call in range(1, 100):
        try:
            land(store, failing_rows(store.rows, call, applied=applied))
        except StoreUnavailable:
            failed += 1
        except Conflict:  # the claim was taken, and the answer lost; it is ours to take up
            failed += 1
        else:
            break
        assert seen(store) in (0, len(RECORDS))
    assert failed > 10
    assert store.dump() == expected
    assert look(store, full=True) == []


def test_a_copy_that_cannot_be_written(store: LandedStore) -> None:
    @contextmanager
    def full(file: BinaryIO) -> Iterator[Any]:
        class Full(io.RawIOBase):
            def write(self, data: Any, /) -> int:
                raise StoreUnavailable("the disk is full")

        with overlapped_file(Full()) as writer:  # type: ignore[arg-type]
            yield writer

    with pytest.raises(StoreUnavailable, match="full"):
        land(store, writers=full)
    assert (seen(store), store.names()) == (0, [])
    assert land(store).captures == len(RECORDS)
    assert seen(store) == len(RECORDS)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(STEPS))
def test_killed_and_run_again(store: LandedStore, expected: dict[str, Any], step: int) -> None:
    assert in_child(lambda: land(store, at=kill_at(step))) == KILLED
    assert seen(store) in (0, len(RECORDS))
    land(store)
    assert store.dump() == expected
