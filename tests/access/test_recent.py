from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pinakes.access.recent import Recent
from pinakes.errors import StoreUnavailable

TIMEOUT_S = 60.0


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@contextmanager
def closing(recent: Recent[int]) -> Iterator[Recent[int]]:
    try:
        yield recent
    finally:
        assert recent.close(TIMEOUT_S)


def counting(clock: Clock, takes_s: float = 0.0) -> Callable[[], int]:
    asked = 0

    def ask() -> int:
        nonlocal asked
        asked += 1
        clock.now_s += takes_s
        return asked

    return ask


def test_asks_only_when_read_and_when_due() -> None:
    clock = Clock()
    with closing(Recent(counting(clock), every_s=5.0, clock=clock)) as recent:
        assert recent.look(TIMEOUT_S).value == 1
        clock.now_s += 4.9
        look = recent.look(TIMEOUT_S)
        assert (look.value, look.age_s) == (1, pytest.approx(4.9))
        clock.now_s += 0.1
        assert recent.look(TIMEOUT_S).value == 2


def test_slow_question_is_asked_less_often() -> None:
    clock = Clock()
    slow = Recent(counting(clock, takes_s=3.0), every_s=5.0, share=0.1, clock=clock)
    with closing(slow) as recent:
        assert recent.look(TIMEOUT_S).took_s == pytest.approx(3.0)
        clock.now_s += 26.9
        assert recent.look(TIMEOUT_S).value == 1
        clock.now_s += 0.2
        assert recent.look(TIMEOUT_S).value == 2


def test_failure_keeps_last_answer_and_says_why() -> None:
    clock = Clock()
    away = False

    def ask() -> int:
        if away:
            raise StoreUnavailable("it is away")
        return 7

    with closing(Recent(ask, every_s=1.0, clock=clock)) as recent:
        assert recent.look(TIMEOUT_S).error is None
        away, clock.now_s = True, clock.now_s + 2
        look = recent.look(TIMEOUT_S)
        assert (look.value, look.error, look.age_s) == (7, "it is away", pytest.approx(2.0))
        away, clock.now_s = False, clock.now_s + 2
        assert recent.look(TIMEOUT_S).error is None


def test_reader_does_not_wait_for_a_hanging_question() -> None:
    asked, answer = threading.Event(), threading.Event()

    def ask() -> int:
        asked.set()
        answer.wait()
        return 7

    recent = Recent(ask, every_s=0.0)
    look = recent.look(0.0)
    assert (look.value, look.error) == (None, None)
    assert asked.wait(TIMEOUT_S)
    for _ in range(3):
        look = recent.look(0.01)
        assert look.value is None
        assert look.asking_s is not None
    assert not recent.close(0.01)
    answer.set()
    assert recent.close(TIMEOUT_S)


def test_readers_at_once_share_one_question() -> None:
    asked, answer = [], threading.Event()

    def ask() -> int:
        asked.append(1)
        answer.wait()
        return 7

    values: list[int | None] = []
    with closing(Recent(ask, every_s=1000.0)) as recent:
        threads = [
            threading.Thread(target=lambda: values.append(recent.look(TIMEOUT_S).value))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        answer.set()
        for thread in threads:
            thread.join()
    assert (values, asked) == ([7] * 8, [1])


def test_nothing_is_asked_after_close() -> None:
    asked: list[int] = []
    recent = Recent(lambda: asked.append(1) or 7, every_s=0.0)
    assert recent.close(TIMEOUT_S)
    assert recent.look(TIMEOUT_S).value is None
    assert asked == []
