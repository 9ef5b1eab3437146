"""Readable captures, calendars and lists of URLs: right, and within their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from landed_stores import LandedStore, page

from pinakes.access.pages import url_list
from pinakes.access.pages.calendar import read_calendar
from pinakes.access.pages.captures_page import changes
from pinakes.access.pages.search_page import PrefixQuery, parse_query
from pinakes.access.pages.url_list import list_urls
from pinakes.access.readable import ReadableCaptures, ReadBudget
from pinakes.access.rules import parse_rules
from pinakes.catalog.captures import CaptureRow
from pinakes.catalog.file_rows import INFLIGHT
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark
from pinakes.hbase_schema.capture_keys import captures_of
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import InFlight
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.hbase_schema.ranges import ALL_ROWS
from pinakes.row_store.port import Put

URL, KEY = "http://a.example/", b"example,a)/"


class CountingRows:
    """Counts the rows of `captures` that a scan gives."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.given = 0

    def scan(self, table: str, *given: Any, **named: Any) -> Iterator[Any]:
        for row in self._rows.scan(table, *given, **named):
            self.given += table == "captures"
            yield row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)


def reader(store: LandedStore, **named: Any) -> ReadableCaptures:
    return ReadableCaptures(store.rows, store.archive, **named)


def dated(url: str, *dates: str) -> list[bytes]:
    return [page(url, date.encode(), date=f"{date}T00:00:00Z") for date in dates]


def times(captures: ReadableCaptures) -> list[str]:
    found = captures.scan(captures_of("example,a)/"), ReadBudget(rows=100))
    return [sighting.time[:8] for sighting in found]


def test_files_in_flight_and_restricted_crawls_are_left_out(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", *dated(URL, "2020-01-01", "2020-03-01"))
    store.land("two", "b.warc.gz", *dated(URL, "2020-02-01"), collection="news")
    assert times(reader(store)) == ["20200101", "20200201", "20200301"]
    fitting = {"allow": URL, "crawl": "two", "collection": "news", "from": "2020-02-01"}
    rules = parse_rules([{"block": "*"}, {**fitting, "to": "2020-02-01"}])
    assert times(reader(store, rules=rules)) == ["20200201"]
    cells = {InFlight.COLUMN: encode_cell(InFlight(act="remove-1", direction="leaving"))}
    store.rows.mutate(INFLIGHT, [Put(encode_file_key("one/a.warc.gz"), cells, None)])
    assert times(reader(store)) == ["20200201"]
    keys = [row.key for row in store.rows.scan("captures")]
    assert [one.collection for one in reader(store).get(keys).values()] == ["news"]
    assert (
        reader(store, rules=parse_rules([{"block": "*"}, {"allow": "*", "crawl": "one"}])).get(keys)
        == {}
    )


@pytest.mark.parametrize(
    ("bound", "year", "years", "shown", "total"),
    [
        (100, "", {"2001": (2, False), "2003": (3, False), "2020": (1, False)}, "2020", 1),
        (100, "2003", {"2001": (2, False), "2003": (3, False), "2020": (1, False)}, "2003", 3),
        (100, "1999", {"2001": (2, False), "2003": (3, False), "2020": (1, False)}, "2020", 1),
        (3, "", {"2001": (2, False), "2003": (None, False), "2020": (1, False)}, "2020", 1),
        (2, "2003", {"2001": (2, False), "2003": (3, True), "2020": (None, False)}, "2003", 3),
    ],
    ids=["latest", "asked-for", "without-captures", "beyond-bound", "year-beyond-bound"],
)
def test_calendar_counts_within_its_bound(
    store: LandedStore,
    bound: int,
    year: str,
    years: dict[str, tuple[int | None, bool]],
    shown: str,
    total: int,
) -> None:
    dates = ["2001-05-06", "2001-05-06", "2003-01-01", "2003-12-31", "2003-12-31", "2020-02-29"]
    for number, date in enumerate(dates):
        store.land("one", f"{number}.warc.gz", *dated(URL, date))
    found = read_calendar(reader(store), KEY, year, counted_rows=bound)
    assert found is not None
    assert {one.year: (one.captures, one.is_least) for one in found.years} == years
    assert found.year == shown
    assert found.counts.total == total
    days = {day[1]: day[2] for month in found.months for week in month.weeks for day in week if day}
    assert len(days) in (365, 366)
    assert sum(days.values()) == total


def test_calendar_of_unreadable_date_has_no_months(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", page(URL, date="not a date"))
    found = read_calendar(reader(store), KEY, "")
    assert found is not None
    assert (found.year, found.months, found.counts.total) == ("0000", (), 1)
    assert read_calendar(reader(store), b"example,none)/", "") is None


@pytest.mark.parametrize("urls", [1, 2, 7])
@pytest.mark.parametrize(("rows", "counted"), [(5_000, 200), (5_000, 2), (3, 2), (1, 1)])
def test_pages_of_urls_follow_each_other_without_gap_or_repeat(
    store: LandedStore, monkeypatch: pytest.MonkeyPatch, rows: int, counted: int, urls: int
) -> None:
    monkeypatch.setattr(url_list, "ROWS", rows)
    monkeypatch.setattr(url_list, "COUNTED", counted)
    wanted = {f"http://{host}.example/{n}": n for host in "abc" for n in range(1, 5)}
    for url, captures in wanted.items():
        dates = [f"20{n:02d}-01-01" for n in range(captures)]
        store.land("one", f"{len(store.names())}.warc.gz", *dated(url, *dates))
    found, after, pages = {}, "", 0
    while pages < 100:
        part = list_urls(reader(store), ALL_ROWS, after=after, urls=urls)
        pages += 1
        for line in part.lines:
            assert line.target_uri not in found
            found[line.target_uri] = line
        if part.after is None:
            break
        assert part.after > after
        after = part.after
    assert list(found) == sorted(wanted)
    for url, captures in wanted.items():
        line = found[url]
        assert (line.first[:4], line.last[:4]) == ("2000", f"20{captures - 1:02d}")
        assert line.captures == captures if not line.is_least else line.captures < captures


def test_urls_with_many_captures_are_skipped_over(store: LandedStore) -> None:
    dates = [f"{1990 + n // 12}-{1 + n % 12:02d}-01" for n in range(600)]
    store.land("one", "a.warc.gz", *dated("http://many.example/", *dates))
    store.land("one", "b.warc.gz", *dated("http://next.example/", "2020-01-01"))
    rows = CountingRows(store.rows)
    query = parse_query("*")
    assert isinstance(query, PrefixQuery)
    page_ = list_urls(ReadableCaptures(rows, store.archive), query.key_range)
    assert [(one.captures, one.is_least) for one in page_.lines] == [(200, True), (1, False)]
    assert page_.lines[0].last[:4] == "2039"
    assert rows.given < 500


# --- What is said to have changed between two captures


ONE, TWO = "sha1:" + "A" * 32, "sha1:" + "B" * 32


def capture(
    copy_number: int = 1,
    *,
    type: str = "response",  # noqa: A002
    status: int | None = 200,
    media_type: str = "text/html",
    sha1: str | None = ONE,
    size: int = 100,
    declared: str | None = None,
) -> CaptureRow:
    facts = CaptureFacts(
        type=type,
        target_uri="http://example.org/",
        date="2020-01-02T03:04:05Z",
        archive_file="c/a.warc.gz",
        ordinal=1,
        status=status,
        mime=media_type,
        payload_size=size,
        digest=(sha1 or declared or "").removeprefix("sha1:") or None,
        payload_sha256=f"sha256:of-{sha1}" if sha1 is not None else None,
        declared_digest=declared,
    )
    return CaptureRow(
        key=b"org,example)/ 20200102030405000 ABCDEFGH",
        facts=facts,
        landed_ms=0,
        locations={},
        dedupe=DedupeMark(run="r", hash_extension=0, copy_number=copy_number),
        pinned=False,
    )


def revisit(declared: str | None = None) -> CaptureRow:
    """As a crawler writes it."""
    return capture(type="revisit", sha1=None, size=0, declared=declared)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, capture(), ["first capture"]),
        (capture(), capture(), ["same body"]),
        (capture(), capture(2), ["same body", "stored as a revisit by dedupe"]),
        (
            capture(),
            capture(sha1=TWO, size=80),
            ["other body, -20 bytes"],
        ),
        (capture(), capture(sha1=TWO), ["other body, of the same size"]),
        (
            capture(),
            revisit(ONE),
            ["same body", "revisit by its crawler"],
        ),
        (
            capture(),
            revisit(TWO),
            ["other body", "revisit by its crawler"],
        ),
        (
            capture(),
            revisit(),
            ["body not comparable: a digest is missing", "revisit by its crawler"],
        ),
        (
            revisit(ONE),
            capture(sha1=TWO, declared=ONE),
            ["same body"],
        ),
        (
            capture(),
            capture(status=404, media_type="text/plain"),
            ["same body", "status 200 → 404", "type text/html → text/plain"],
        ),
        (capture(status=None), capture(), ["same body", "status none → 200"]),
    ],
    ids=[
        "first", "same", "duplicate", "smaller", "same-size", "revisit", "revisit-of-other",
        "revisit-without-digest", "behind-revisit", "status-and-type", "no-status",
    ],
)  # fmt: skip
def test_words_for_changes(before: CaptureRow | None, after: CaptureRow, words: list[str]) -> None:
    assert [change.words for change in changes(before, after)] == words
