"""`crawl stats` counts as duplicates what `dedupe --plan` would write as revisits."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import shake_128
from pathlib import Path
from typing import Any

import pytest
from landed_stores import LandedStore, page, revisit
from scenes import land_late_revisit, make_scene
from store_chain import call

BODY, OTHER = (shake_128(name).digest(3000) for name in (b"one", b"two"))
SHORT = b"as short as a revisit"


def _uri(number: int) -> str:
    return f"http://example.org/{number}"


def _crawl(store: LandedStore, crawl: int, *records: bytes, collection: str = "default") -> None:
    store.land(f"c{crawl}", "a.warc.gz", *records, collection=collection)


def _date(year: int, second: int = 0) -> str:
    return f"20{year}-01-01T00:00:{second:02d}Z"


def _within_a_crawl(store: LandedStore) -> None:
    _crawl(store, 1, *(page(_uri(n), BODY, date=_date(20, n)) for n in range(4)))


def _several_crawls(store: LandedStore) -> None:
    for crawl in (1, 2, 3):
        bodies = enumerate((BODY, OTHER, SHORT, b"%d" % crawl * 2000))
        _crawl(store, crawl, *(page(_uri(n), body, date=_date(19 + crawl)) for n, body in bodies))


def _several_collections(store: LandedStore) -> None:
    for crawl, collection in ((1, "default"), (2, "other"), (3, "other")):
        _crawl(store, crawl, page(_uri(1), BODY, date=_date(19 + crawl)), collection=collection)


def _revisits_by_the_crawler(store: LandedStore) -> None:
    for crawl, year in ((1, 20), (2, 22)):
        _crawl(
            store,
            crawl,
            page(_uri(1), BODY, date=_date(year)),
            page(_uri(2), BODY, date=_date(year, 1)),
            revisit(_uri(1), _date(year, 2), _uri(1), _date(year)),
        )


def _what_takes_no_part(store: LandedStore) -> None:
    for crawl in (1, 2):
        _crawl(
            store,
            crawl,
            page(_uri(1), BODY, date=_date(19 + crawl), record_type="resource", head=b""),
            page(_uri(2), BODY, date=_date(19 + crawl, 1), head=b"HTTP/1.1 404 Not Found\r\n\r\n"),
            page(_uri(3), BODY, date=_date(19 + crawl, 2)),
        )


@pytest.mark.parametrize(
    ("fill", "crawls", "found"),
    [
        pytest.param(_within_a_crawl, 1, 3, id="within-a-crawl"),
        pytest.param(_several_crawls, 3, 4, id="several-crawls"),
        pytest.param(_several_collections, 3, 1, id="several-collections"),
        pytest.param(_revisits_by_the_crawler, 2, 2, id="revisits-by-the-crawler"),
        pytest.param(_what_takes_no_part, 2, 2, id="what-takes-no-part"),
    ],
)
def test_stats_and_plan_count_the_same_before_and_after(
    tmp_path: Path, fill: Callable[[LandedStore], None], crawls: int, found: int
) -> None:
    store = LandedStore(tmp_path / "store")
    fill(store)
    store.close()

    def ask(*words: str) -> dict[str, Any]:
        answer = call(*words, "--json", "--store", store.folder)
        assert answer.exit_code == 0, answer
        result: dict[str, Any] = json.loads(answer.out)
        return result

    def counted() -> int:
        total = 0
        for crawl in (f"c{number + 1}" for number in range(crawls)):
            stats, plan = ask("crawl", "stats", crawl), ask("dedupe", crawl, "--plan")
            assert stats["duplicates"] == plan["revisits"]
            assert stats["copies_left_full"].items() <= plan["left_full"].items()
            total += stats["duplicates"]
        return total

    assert counted() == found
    for collection in ("default", "other"):
        assert (
            call("dedupe", "--all", "--collection", collection, "--store", store.folder).exit_code
            == 0
        )
    assert counted() == 0


# --- `crawl requires` counts references both ways, by crawl and by file


def test_it_counts_what_is_needed_both_ways(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        land_late_revisit(scene)
    store = tmp_path / "store"

    def required(crawl: str) -> dict[str, Any]:
        answer = call("crawl", "requires", crawl, "--json", "--store", store)
        assert answer.exit_code == 0, answer
        found: dict[str, Any] = json.loads(answer.out)
        return found

    parts = [[f"c2/part-{n}.warc.gz", f"c1/part-{n}.warc.gz", 4] for n in (0, 1)]
    late = ["c5/late.warc.gz", "c2/part-1.warc.gz", 1]

    def pairs(of: str, way: str) -> list[list[object]]:
        return [list(pair.values()) for pair in required(of)[way]]

    assert (pairs("c1", "needs"), pairs("c1", "needed_by")) == ([], parts)
    assert (pairs("c2", "needs"), pairs("c2", "needed_by")) == (parts, [late])
    assert (pairs("c5", "needs"), pairs("c5", "needed_by")) == ([late], [])
    assert required("c5")["unresolved"] == 0
    text = call("crawl", "requires", "c2", "--store", store).out
    assert "  c1: 8 references\n    c2/part-0.warc.gz -> c1/part-0.warc.gz: 4\n" in text
    assert "needed by:\n  c5: 1 reference\n" in text
