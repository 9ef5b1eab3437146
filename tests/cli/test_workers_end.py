"""How processes that work for `-j` end when they are told to."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess

from pinakes.cli.workers import Workers

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
            time.sleep(LONG_S)

    @contextmanager
    def open_work() -> Iterator[Callable[[None], None]]:
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
