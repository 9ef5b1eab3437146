"""What is noted of a page, within bounds."""

from __future__ import annotations

import threading

import pytest

from pinakes.qa.replay.page_log import (
    MOST_EXCHANGES,
    TEXT_LIMIT_CHARACTERS,
    LoggedExchange,
    OpenPage,
    Outcome,
)

SITE = "http://example.org/"


def exchange(outcome: Outcome, url: str = SITE) -> LoggedExchange:
    return LoggedExchange(method="GET", url=url, outcome=outcome)


def test_in_the_order_asked_whatever_ends_first() -> None:
    page = OpenPage("p")
    outcomes: tuple[Outcome, ...] = ("hit", "miss", "fault")
    asked = [(page.begin("GET", f"{SITE}{n}"), f"{SITE}{n}") for n in range(3)]
    for (number, url), outcome in reversed(list(zip(asked, outcomes, strict=True))):
        page.finish(number, exchange(outcome, url))
    log = page.close(0)
    assert [(e.url[-1], e.outcome) for e in log.exchanges] == [
        ("0", "hit"),
        ("1", "miss"),
        ("2", "fault"),
    ]
    assert [e.url[-1] for e in (*log.misses, *log.faults)] == ["1", "2"]


def test_what_is_under_way_is_waited_for() -> None:
    page = OpenPage("p")
    number = page.begin("GET", "http://example.org/")
    thread = threading.Thread(target=lambda: page.finish(number, exchange("hit")))
    timer = threading.Timer(0.05, thread.start)
    timer.start()
    assert page.close(60).exchanges[0].outcome == "hit"
    timer.join()
    thread.join()


def test_what_hangs_is_unfinished_and_cannot_be_noted_later() -> None:
    page = OpenPage("p")
    number = page.begin("GET", "http://example.org/")
    log = page.close(0)
    page.finish(number, exchange("hit"))
    assert page.begin("GET", "http://example.org/late") is None
    assert [e.outcome for e in log.exchanges] == ["unfinished"]


def test_a_log_so_far_leaves_the_page_open() -> None:
    page = OpenPage("p")
    first, second = (page.begin("GET", f"{SITE}{n}") for n in range(2))
    page.finish(first, exchange("hit"))
    assert [e.outcome for e in page.so_far(0).exchanges] == ["hit", "unfinished"]
    page.finish(second, exchange("miss"))
    page.finish(page.begin("GET", f"{SITE}2"), exchange("hit"))
    assert [e.outcome for e in page.close(0).exchanges] == ["hit", "miss", "hit"]


@pytest.mark.parametrize("more", [0, 5])
def test_no_page_fills_the_memory(more: int) -> None:
    page = OpenPage("p")
    for _ in range(MOST_EXCHANGES + more):
        page.finish(page.begin("GET", "http://example.org/"), exchange("miss"))
    log = page.close(0)
    assert (len(log.exchanges), log.left_out) == (MOST_EXCHANGES, more)


def test_no_text_in_it_is_endless() -> None:
    page = OpenPage("p")
    long = "a" * 99_999
    page.begin(long, long)
    texts = dict.fromkeys(("urlkey", "capture_uri", "media_type", "problem"), long)
    full = LoggedExchange(method=long, url=long, outcome="fault", **texts)  # type: ignore[arg-type]
    page.finish(page.begin(long, long), full)
    for exchange in page.close(0).exchanges:
        assert len(repr(exchange)) < 6 * TEXT_LIMIT_CHARACTERS
        assert exchange.url == "a" * TEXT_LIMIT_CHARACTERS
