"""Calls that do not come back."""

from __future__ import annotations

import threading

import pytest

from pinakes.archive_store.hdfs.calls import Bounded
from pinakes.waiting import NOTICE_AFTER_S, Waiting

LONG_S = 300.0


def test_results_and_errors_are_passed_on() -> None:
    bounded = Bounded(Waiting("HDFS", 60.0))
    assert bounded.call(lambda: 7, LONG_S) == 7
    with pytest.raises(ZeroDivisionError):
        bounded.call(lambda: 1 // 0, LONG_S)
    bounded.close()
    assert bounded.call(lambda: 8, LONG_S) == 8
    bounded.close()


def test_own_timeout_error_is_not_taken_for_the_bound() -> None:
    bounded = Bounded(Waiting("HDFS", 60.0))
    first = bounded.call(threading.get_ident, LONG_S)

    def late() -> None:
        raise TimeoutError("a server's")

    with pytest.raises(TimeoutError, match="a server's"):
        bounded.call(late, LONG_S)
    assert bounded.call(threading.get_ident, LONG_S) == first
    bounded.close()


@pytest.mark.slow
def test_slow_call_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    bounded, go = Bounded(Waiting("HDFS", 60.0)), threading.Event()
    timer = threading.Timer(NOTICE_AFTER_S + 0.5, go.set)
    timer.start()
    assert bounded.call(go.wait, LONG_S)
    assert caplog.messages == ["waiting for HDFS, for up to 60 s: it has not answered yet"]
    bounded.close()
    timer.join()


def test_hanging_call_is_abandoned_with_its_thread() -> None:
    bounded, go = Bounded(Waiting("HDFS", 60.0)), threading.Event()
    threads = [bounded.call(threading.current_thread, LONG_S)]

    def hang() -> None:
        threads.append(threading.current_thread())
        go.wait()

    with pytest.raises(TimeoutError, match="no answer in"):
        bounded.call(hang, 0.05)
    assert bounded.call(threading.current_thread, LONG_S) is not threads[0]
    go.set()
    threads[0].join()  # it ends by itself
    bounded.close()
