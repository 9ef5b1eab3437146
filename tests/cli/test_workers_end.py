"""How processes that work for `-j` end when they are told to, and who takes their place."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import BinaryIO

import pytest
import working

from pinakes.application.parts import iter_parts
from pinakes.errors import StoreUnavailable
from pinakes.warc.file_progress import no_advance
from pinakes.workers import Died, Workers

LONG_S = 300.0


class Refused(Exception):
    """What ends the work."""


def test_one_that_python_clears_away_in_just_then_ends() -> None:
    """Errors are ignored there, also the one by which it leaves."""
    heard, told = multiprocessing.Pipe(duplex=False)
    before = set(multiprocessing.active_children())

    class Cleared:
        def __del__(self) -> None:
            told.send("clearing")
            # A signal that comes just before a sleep begins is not seen before it ends.
            for _ in range(round(LONG_S / 0.01)):
                time.sleep(0.01)

    @contextmanager
    def open_work(_: object) -> Iterator[Callable[[None], None]]:
        def work(_: None) -> None:
            Cleared()
            time.sleep(LONG_S)

        yield work

    def work_and_refuse() -> BaseProcess:
        with suppress(Refused), Workers(1, open_work) as workers:
            [process] = set(multiprocessing.active_children()) - before
            workers.give(None)
            assert heard.recv() == "clearing"
            raise Refused
        return process

    exit_code = work_and_refuse().exitcode
    assert exit_code is not None
    assert exit_code > 128  # of itself: who is killed has one below zero


def test_who_takes_a_place_has_nothing_of_what_was_opened_since(tmp_path: Path) -> None:
    """Such as the lock of a run."""
    lock = tmp_path / "lock"
    with Workers(2, partial(working.open_work, "did ")) as workers, lock.open("wb"):
        for _ in range(2):
            workers.give("die")
            assert workers.answers() == [("die", Died(signal.SIGKILL))]
        for task in ("one", "two"):
            workers.give(task)
        seen: list[working.Seen] = []
        while workers.under_way:
            seen += [answer for _, answer in workers.answers() if not isinstance(answer, Died)]
    assert sorted(one.said for one in seen) == ["did one", "did two"]
    assert len({one.pid for one in seen}) == 2
    assert not any(lock in one.opened for one in seen)


def test_what_processes_advance_is_told_also_of_one_that_died() -> None:
    with Workers(1, partial(working.open_work, "did ")) as workers:
        for task in ("die", "one"):
            workers.give(task)
            workers.answers()
        assert workers.advanced() == 2
        assert workers.advanced() == 0


def part_of(work: Callable[[], object], file: str, out: BinaryIO, *_: object) -> None:
    work()
    out.write(file.encode())


def end_by_kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def parts(files: list[str], work: Callable[[], object]) -> Iterator[Path]:
    write = partial(part_of, work)
    for part, _ in iter_parts(files, write, processes=2, folder=None, begin=lambda: no_advance):
        yield part


def test_parts_come_in_the_order_of_files_and_go() -> None:
    files = ["a", "b", "c"]
    seen = [(part, part.read_text()) for part in parts(files, lambda: None)]
    assert [text for _, text in seen] == files
    assert not any(part.exists() for part, _ in seen)


def test_a_part_whose_process_is_killed_says_so() -> None:
    with pytest.raises(StoreUnavailable, match="a process ended early"):
        list(parts(["a", "b"], end_by_kill))


def test_processes_that_write_parts_end_when_their_loop_is_left_early() -> None:
    heard, told = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        told.send(None)
        time.sleep(LONG_S)

    def leave_early() -> None:
        written = parts(["a", "b"], work)
        with closing(written):
            threading.Timer(0, lambda: (heard.recv(), signal.raise_signal(signal.SIGINT))).start()
            list(written)

    with pytest.raises(KeyboardInterrupt):
        leave_early()
    assert multiprocessing.active_children() == []


def test_processes_that_write_parts_raise_what_their_work_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(parts(["a", "b"], partial(divmod, 1, 0)))


def test_what_parts_have_advanced_is_told() -> None:
    advanced: list[int] = []

    def write(file: str, out: BinaryIO, tell: object, advance: Callable[[int], None]) -> None:
        advance(int(file))

    list(
        iter_parts(["1", "2", "3"], write, processes=2, folder=None, begin=lambda: advanced.append)
    )
    assert sum(advanced) == 6


def test_processes_that_write_parts_end_when_who_asked_is_killed() -> None:
    heard, told = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        told.send(os.getpid())
        time.sleep(LONG_S)

    asking = multiprocessing.get_context("fork").Process(
        target=lambda: list(parts(["a", "b"], work))
    )
    asking.start()
    told.close()
    left = [heard.recv() for _ in range(2)]
    asking.kill()
    asking.join()
    try:
        # They have what tells, too: it is closed when the last of them has ended.
        assert heard.poll(LONG_S / 2)
        with pytest.raises(EOFError):
            heard.recv()
    except BaseException:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise
