"""The page of a crawl: what it says, and the pages that its WACZ files list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from asked_pages import Ask, check_page
from importing import import_all
from landed_stores import LandedStore, page
from packages import members_of, write_package

from pinakes.access.pages.home_page import PAGES
from pinakes.access.rules import parse_rules

URI = "http://example.org/"
HEADER = {"format": "json-pages-1.0"}


def land(store: LandedStore, folder: Path, pages: Iterable[dict[str, object]]) -> None:
    """A WACZ file in the crawl `spring`, with one capture of `URI` in 2020."""
    members = members_of({"a.warc.gz": page(URI)})
    members["pages/pages.jsonl"] = b"".join(json.dumps(one).encode() + b"\n" for one in pages)
    import_all(store.rows, store.archive, [write_package(folder / "spring.wacz", members)])


@pytest.fixture
def ask(site: Callable[..., Ask]) -> Ask:
    return site()


def test_pages_with_titles_lead_to_their_captures(
    store: LandedStore, ask: Ask, tmp_path: Path
) -> None:
    listed = [
        HEADER,
        {"url": URI, "title": "<b>Hello</b>\n there\u202e", "ts": "2020-01-02T03:04:05Z"},
        {"url": f"{URI}gone", "ts": "whenever"},
    ]
    land(store, tmp_path, listed)
    home = check_page(ask("/"))
    assert home.links("/crawl/") == ["/crawl/spring"]
    outline = check_page(ask("/crawl/spring"))
    assert "<b>Hello</b> there\\u202e" in outline.text
    assert "2020-01-02 03:04:05" in outline.text
    assert f"{URI}gone not captured" in outline.text
    assert "spring.wacz" in outline.text
    (link,) = outline.links("/captures?")
    assert ask(link).status_code == 200


def test_a_long_list_is_turned_page_by_page(store: LandedStore, ask: Ask, tmp_path: Path) -> None:
    count = 2 * PAGES + 5
    land(
        store,
        tmp_path,
        [HEADER, *({"url": f"{URI}{n}", "title": f"No. {n}"} for n in range(count))],
    )
    link, seen = "/crawl/spring", list[str]()
    while link:
        outline = check_page(ask(link))
        seen += re.findall(r"No\. ([0-9]+) not captured", outline.text)
        link = next(iter(outline.links("after=")), "")
    assert seen == [str(n) for n in range(count)]
    assert check_page(ask("/crawl/spring?after=5000")).text.count("No further pages")
    assert check_page(ask("/crawl/spring?after=x"))


def test_what_rules_hide_is_not_listed(
    store: LandedStore, site: Callable[..., Ask], tmp_path: Path
) -> None:
    listed = [
        HEADER,
        {"url": URI, "title": "Open", "ts": "2020-01-02T03:04:05Z"},
        {"url": f"{URI}private/a", "title": "Private", "ts": "2020-01-02T03:04:05Z"},
        {"url": f"{URI}b", "title": "Young", "ts": "2020-02-02T03:04:05Z"},
    ]
    land(store, tmp_path, listed)
    rules = [{"block": f"{URI}private/"}, {"block": "*", "from": "20200201"}]
    text = check_page(site(rules=parse_rules(rules))("/crawl/spring")).text
    assert "Open" in text
    assert "Private" not in text
    assert "Young" not in text
    hidden = site(rules=parse_rules([{"block": "*", "crawl": "spring"}]))
    assert hidden("/crawl/spring").status_code == 404


def test_what_rules_hide_does_not_bring_pages_back(
    store: LandedStore, site: Callable[..., Ask], tmp_path: Path
) -> None:
    count = 6 * PAGES
    urls = [f"{URI}{'private' if n % 3 else 'open'}/{n}" for n in range(count)]
    land(store, tmp_path, [HEADER, *({"url": url, "title": f"No. {url}"} for url in urls)])
    ask = site(rules=parse_rules([{"block": f"{URI}private/"}]))
    link, seen = "/crawl/spring", list[str]()
    for _ in range(count):
        outline = check_page(ask(link))
        seen += re.findall(r"No\. \S+/open/([0-9]+) not captured", outline.text)
        link = next(iter(outline.links("after=")), "")
        if not link:
            break
    assert seen == [str(n) for n in range(0, count, 3)]


@pytest.mark.parametrize("crawl", ["autumn", "%2B", "+default", "a%20b", "..", "%00", "é" * 200])
def test_no_such_crawl(store: LandedStore, ask: Ask, crawl: str) -> None:
    assert ask(f"/crawl/{crawl}").status_code == 404


def test_a_crawl_without_lists(store: LandedStore, ask: Ask) -> None:
    store.land("autumn", "a.warc.gz", page(URI))
    assert "bring no list of pages" in check_page(ask("/crawl/autumn")).text


def test_lists_that_cannot_be_read_are_named(store: LandedStore, ask: Ask, tmp_path: Path) -> None:
    land(store, tmp_path, [HEADER, {"url": URI}])
    for path in store.archive.folder.rglob("documents*.warc"):
        path.unlink()
    outline = check_page(ask("/crawl/spring"))
    assert "cannot be read" in outline.text
    assert "spring.wacz" in outline.text
