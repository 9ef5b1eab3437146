"""Which capture answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from pinakes.access.byte_range import parse_range
from pinakes.catalog.captures import CaptureRow
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.capture_keys import encode_capture_key
from pinakes.qa.replay.index_lookup import (
    ReplayCandidate,
    by_preference,
    distance_of,
    reason_to_skip,
)
from pinakes.qa.replay.request import ProxyRequest
from pinakes.warc.http.message import HttpHead

ASKED = "https://example.org/"
MOMENT = datetime(2020, 1, 1, 0, 0, 30, tzinfo=timezone.utc)


def capture(second: int, *, uri: str = ASKED, status: int | None = 200) -> CaptureRow:
    time = f"20200101{second // 60:04d}{second % 60:02d}000"
    return CaptureRow(
        key=encode_capture_key("org,example)/", time, f"{uri}{status}", second),
        facts=CaptureFacts(
            type="response",
            target_uri=uri,
            date="",
            archive_file="c/a",
            ordinal=0,
            status=status,
        ),
        landed_ms=0,
        locations={},
        dedupe=None,
        pinned=False,
    )


def chosen(*captures: CaptureRow) -> list[CaptureRow]:
    candidates = [ReplayCandidate(c, distance_of(c, MOMENT)) for c in captures]
    earlier = [c for c in candidates if c.distance_s is not None and c.distance_s < 0]
    later = [c for c in candidates if c not in earlier]
    return [c.capture for c in by_preference(reversed(earlier), later, ASKED)]


def test_the_closest_first_on_both_sides() -> None:
    captures = [capture(second) for second in (0, 20, 29, 30, 33, 59)]
    order = [c.time[12:14] for c in chosen(*captures)]
    assert order == ["30", "29", "33", "20", "59", "00"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (capture(31), capture(31, status=404)),
        (capture(31, status=301), capture(31, status=500)),
        (capture(29), capture(31, status=404)),
        (capture(31), capture(29, status=404)),
        (capture(31, status=404), capture(32)),
        (capture(31, status=301), capture(31, uri="http://example.org/")),
        (
            capture(31, uri="http://example.org/"),
            capture(31, uri="http://example.org/", status=301),
        ),
        (capture(31, uri="http://example.org/"), capture(31, status=404)),
        (capture(31, status=None), capture(31, status=301)),
    ],
    ids=[
        "no error",
        "a redirect before an error",
        "before, and no error",
        "behind, and no error",
        "closer, though an error",
        "the URL as asked",
        "no redirect",
        "another URL before an error",
        "an unknown status is taken for 200",
    ],
)
def test_of_two(first: CaptureRow, second: CaptureRow) -> None:
    pair = sorted((second, first), key=lambda c: c.time)
    assert chosen(*pair)[0] == first


def test_an_unreadable_date_is_the_last_resort() -> None:
    lost = ReplayCandidate(capture(0), None)
    order = list(by_preference([ReplayCandidate(capture(29), -1), lost], [], ASKED))
    assert order[-1] is lost


def test_no_more_is_read_than_is_taken() -> None:
    read = 0

    def endless(step: int) -> Iterator[ReplayCandidate]:
        nonlocal read
        for number in range(1, 10**9):
            read += 1
            yield ReplayCandidate(capture(0), step * number)

    order = by_preference(endless(-1), endless(1), ASKED)
    assert [next(order).distance_s for _ in range(4)] == [-1, 1, -2, 2]
    assert read < 10


def head(status: int, **fields: str) -> HttpHead:
    lines = [f"HTTP/1.1 {status} x", *(f"{k.replace('_', '-')}: {v}" for k, v in fields.items())]
    return HttpHead("\r\n".join([*lines, "", ""]).encode())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (head(200), None),
        (head(404), None),
        (head(304), "not-modified"),
        (head(301, Location="https://example.org/"), "self-redirect"),
        (head(301, Location="https://EXAMPLE.org"), "self-redirect"),
        (head(301, Location="/"), "self-redirect"),
        (head(301, Location="https://example.org:443/#top"), "self-redirect"),
        (head(301, Location="http://example.org/"), None),
        (head(301, Location="https://www.example.org/"), None),
        (head(301, Location="/?a"), None),
        (head(301, Location="http://[bad"), None),
        (head(301), None),
        (head(206), "partial"),
        (head(206, Content_Range="bytes 0-9/10"), None),
        (head(206, Content_Range="bytes 0-9/99"), "partial"),
    ],
)
def test_why_another_should_answer(answer: HttpHead, why: str | None) -> None:
    assert reason_to_skip(ProxyRequest(method="GET", uri=ASKED), answer) == why


@pytest.mark.parametrize(
    ("asked", "stored", "why"),
    [
        ("bytes=0-", "bytes 0-9/99", None),
        ("bytes=5-", "bytes 0-9/99", None),
        ("bytes=10-", "bytes 0-9/99", "partial"),
        ("bytes=0-", "bytes 10-19/99", "partial"),
        ("bytes=100-", "bytes 0-9/99", "partial"),
    ],
)
def test_a_stored_part_answers_what_it_holds(asked: str, stored: str, why: str | None) -> None:
    request = ProxyRequest(method="GET", uri=ASKED, range=parse_range(asked))
    assert reason_to_skip(request, head(206, Content_Range=stored)) == why
