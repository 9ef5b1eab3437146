"""The pages as a client gets them: what they say, what they link to, what they let through."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from archive_builders import HTTP
from asgi_client import Client
from asked_pages import Ask, Outline, check_page
from importing import import_all
from landed_stores import LandedStore, page, revisit
from packages import members_of, write_package
from scenes import Scene

from pinakes.access.asgi_site import AsgiSite
from pinakes.access.pages.home_page import PAGES
from pinakes.access.pages.rendering import capture_time, size
from pinakes.access.readable import ReadableCaptures, ReadBudget
from pinakes.access.rules import parse_rules
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import CurrentGeneration
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.hbase_schema.ranges import ALL_ROWS
from pinakes.row_store.port import Put

URL = "http://a.example/page"
EVIL = 'http://evil.example/"><script>alert(1)</script>\u202e\x1b[31m&amp;'
DECEIVING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")


@pytest.fixture
def ask(site: Callable[..., Ask]) -> Ask:
    return site()


def key_of(ask: Ask, url: str, number: int = 0) -> str:
    """The link to a capture of a URL."""
    outline = check_page(ask(f"/captures?url={quote(url, safe='')}"))
    return sorted(set(outline.links("/capture/")), key=lambda one: one.split("%20")[1])[number]


def test_home_names_crawls_with_their_counts(store: LandedStore, ask: Ask) -> None:
    assert "Nothing has landed yet" in check_page(ask("/")).text
    store.land("one", "a.warc.gz", page(URL), b"no record")
    store.land("two", "b.warc.gz", page(URL), collection="news")
    for _ in range(600):  # views are read by threads of their own
        if "two open 1 1 1" in (text := check_page(ask("/")).text):
            break
        threading.Event().wait(0.1)
    assert "2 collections, 2 crawls" in text
    assert re.search(r"one open 1 1 1 (\d+ B) \1 – – 1 20", text)


@pytest.mark.parametrize(
    ("typed", "status", "wanted"),
    [
        ("", 200, "What can be looked up"),
        ("how to cook", 200, "This is not a URL"),
        ("sha1:ABC", 200, "wrong length"),
        ("md5:d41d8cd98f00b204e9800998ecf8427e", 200, "known by sha1 and sha256"),
        ("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", 200, "1 capture, by collection"),
        ("sha1:QKMZRI4EBGB6ZNGHQ2RY4DDMGHTTMI2D", 200, "No capture has this digest"),
        (URL, 303, "/captures?url=http%3A%2F%2Fa.example%2Fpage"),
        ("HTTPS://www.A.example/page", 303, "/captures?url="),
        ("a.example/pag", 200, "There is no capture of http://a.example/pag itself. 1 URL"),
        ("a.example", 200, "URLs on a.example and hosts below it 1 URL"),
        ("http://a.example/none", 200, "No URL in the store begins like this. Look on all of"),
        ("example,a)/p", 200, "with the key example,a)/p…"),
        ("http://[::1", 200, "No URL in the store begins like this"),
    ],
)  # fmt: skip
def test_search(store: LandedStore, ask: Ask, typed: str, status: int, wanted: str) -> None:
    store.land("one", "a.warc.gz", page(URL))
    answer = ask(f"/search?q={quote(typed, safe='')}")
    assert answer.status_code == status
    assert wanted in (answer.headers["Location"] if status == 303 else check_page(answer).text)


def test_suggestions_are_urls_below_what_is_typed(store: LandedStore, ask: Ask) -> None:
    store.land("one", "a.warc.gz", *(page(f"http://a.example/{n:02d}") for n in range(30)))
    assert json.loads(ask("/suggest?q=a.example/0").text) == [
        f"http://a.example/{n:02d}" for n in range(10)
    ]
    assert json.loads(ask("/suggest?q=nothing+here").text) == []


def test_captures_of_a_url_with_what_changed(store: LandedStore, ask: Ask) -> None:
    store.land(
        "one",
        "a.warc.gz",
        page(URL, b"one", date="2019-12-31T00:00:00Z"),
        page(URL, b"one", date="2020-01-02T00:00:00Z"),
        page(URL, b"three", date="2020-01-02T00:00:01Z"),
        page(URL, b"", date="2020-03-01T00:00:00Z", head=b"HTTP/1.1 404 Not Found\r\n\r\n"),
    )
    outline = check_page(ask(f"/captures?url={URL}"))
    assert "4 captures, from 2019-12-31 00:00:00 to 2020-03-01 00:00:00 UTC" in outline.text
    assert "Calendar of 2020" in outline.text
    for words in ("same body", "other body, +2 bytes", "status 200 → 404"):
        assert words in outline.text
    assert "first capture" in check_page(ask(f"/captures?url={URL}&period=2019")).text
    day = check_page(ask(f"/captures?url={URL}&period=20200102")).text
    assert "Captures of 2020-01-02" in day
    assert "404" not in day
    for period in ("2020010", "x", "9999", "20209999"):
        assert ask(f"/captures?url={URL}&period={period}").status_code == 200
    for path in (f"/captures/{URL}", f"/captures/{URL}?q=1"):
        wanted = "/captures?url=" + quote(path.removeprefix("/captures/"), safe="")
        assert ask(path).headers["Location"] == wanted
    assert check_page(ask("/captures?url=http://none.example/"))
    assert ask("/captures?url=http://none.example/").status_code == 404


def test_captures_are_turned_by_key(store: LandedStore, ask: Ask) -> None:
    dates = [f"2020-{1 + n // 28:02d}-{1 + n % 28:02d}T00:00:00Z" for n in range(250)]
    store.land("one", "a.warc.gz", *(page(URL, date=date) for date in dates))
    path, seen = f"/captures?url={URL}", []
    for _ in range(3):
        outline = check_page(ask(path))
        rows = re.findall(r'class="when"><a href="[^"]*">([^<]*)</a>', ask(path).text)
        seen += rows
        [path] = [one["href"] for one in outline.all("a") if one.get("rel") == "next"] or [""]
    assert path == ""
    assert seen == [date.replace("T", " ")[:-1] for date in dates]


def test_capture_says_what_is_known_and_gives_the_record(store: LandedStore, ask: Ask) -> None:
    record = page(URL, b"hello", extra=[("WARC-Note", "a <b>")])
    store.land("one", "a.warc.gz", page("http://b.example/"), record)
    link = key_of(ask, URL)
    outline = check_page(ask(link))
    for words in ("WARC-Note: a <b>", "HTTP/1.1 200 OK", "one/a.warc.gz", "m:capture", "sha256:",
                  "It refers to nothing, and nothing refers to it"):  # fmt: skip
        assert words in outline.text
    [download] = outline.links("/record/")
    answer = ask(download)
    assert answer.data == record
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="20200102')
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.mimetype == "application/octet-stream"
    assert outline.links("/warc/") == ["/warc/one/a.warc.gz"]
    assert not outline.links("replay.example")


def test_replay_is_linked_where_there_is_one(store: LandedStore, site: Callable[..., Ask]) -> None:
    ask = site(replay_url="http://replay.example/all/")
    store.land("one", "a.warc.gz", page(URL), page("javascript:alert(1)"))
    assert check_page(ask(key_of(ask, URL))).links("replay.example") == [
        "http://replay.example/all/20200102030405/http://a.example/page"
    ]
    assert not check_page(ask(key_of(ask, "javascript:alert(1)"))).links("replay.example")


def test_references_are_shown_both_ways(scene: Scene) -> None:
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    views = Views(scene.rows, scene.archive)
    captures = ReadableCaptures(scene.rows, scene.archive)
    client = Client(AsgiSite(Site(views, captures), hosts=None, headers=HEADERS))
    marks = {}
    for sighting in captures.scan(ALL_ROWS, ReadBudget(rows=1_000)):
        if sighting.capture.is_duplicate:
            marks[sighting.key] = sighting.capture.dedupe.refers_to_key.encode()  # type: ignore[union-attr]
    assert marks
    for duplicate, original in marks.items():
        from_duplicate = check_page(client.get(f"/capture/{quote(duplicate, safe='')}"))
        assert f"/capture/{quote(original, safe='')}" in from_duplicate.links("/capture/")
        assert "WARC-Type: revisit" in from_duplicate.text
        assert "current" in from_duplicate.text
        from_original = check_page(client.get(f"/capture/{quote(original, safe='')}"))
        assert f"/capture/{quote(duplicate, safe='')}" in from_original.links("/capture/")
    views.close()


def test_revisit_of_a_crawler_is_resolved(store: LandedStore, ask: Ask) -> None:
    first, second = "2020-01-02T03:04:05Z", "2020-02-02T03:04:05Z"
    store.land("one", "a.warc.gz", page(URL, date=first))
    store.land("one", "b.warc.gz", revisit(URL, second, URL, first))
    lost = revisit("http://c.example/", second, "http://gone.example/", first)
    store.land("one", "c.warc.gz", lost)
    original, later = key_of(ask, URL), key_of(ask, URL, 1)
    assert original in check_page(ask(later)).links("/capture/")
    assert later in check_page(ask(original)).links("/capture/")
    assert "This is not in the store" in check_page(ask(key_of(ask, "http://c.example/"))).text


@pytest.mark.parametrize(
    "url",
    [
        EVIL,
        "javascript:alert(document.domain)",
        "data:text/html,<script>alert(1)</script>",
        "http://long.example/" + "a" * 300_000,
        "http://odd.example/\x85\u2028\u200b\ufeff/../%2e%2e/?a=b&c#d",
        "http://lone.example/%ff",
        "//slashes.example//",
        "no url at all",
    ],
    ids=["script", "javascript", "data", "long", "controls", "byte", "slashes", "words"],
)  # fmt: skip
def test_hostile_urls_are_text_and_can_be_reached(store: LandedStore, ask: Ask, url: str) -> None:
    raw = page("http://x.example/", b"<script>alert(2)</script>", extra=[("X-Evil", EVIL)])
    plain = gzip.decompress(raw).replace(b"http://x.example/", url.encode())
    store.land("one", "a.warc.gz", gzip.compress(plain))
    listed = check_page(ask("/search?q=*"))
    [link] = listed.links("/captures?")
    found = check_page(ask(link))
    [capture] = set(found.links("/capture/"))
    shown = check_page(ask(capture))
    assert ask(shown.links("/record/")[0]).status_code == 200
    for path in ("/search?q=*", link, capture):
        answer = ask(path)
        assert answer.status_code == 200
        assert len(answer.data) < 100_000
        assert not DECEIVING.search(answer.text)
        assert [one["src"] for one in Outline(answer.text).all("script")] == ["/suggest.js"]


@pytest.mark.parametrize(
    "path",
    [
        "/capture/x", "/capture/%00", "/capture/org,example)/%2020200102030405000%20ABCDEFGH",
        "/record/x", "/record/..%2f..%2fetc%2fpasswd", "/capture/", "/captures?urlkey=%ff",
        "/captures?urlkey=a%20b", "/nowhere",
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_page_that_says_so(store: LandedStore, ask: Ask, path: str) -> None:
    answer = ask(path)
    assert answer.status_code == 404
    check_page(answer)


def test_restricted_captures_are_on_no_page(store: LandedStore, site: Callable[..., Ask]) -> None:
    first, second = "2020-01-02T03:04:05Z", "2020-02-02T03:04:05Z"
    store.land("one", "a.warc.gz", page(URL, date=first))
    store.land("hidden", "b.warc.gz", page(URL, date=second), page("http://hidden.example/"))
    everything, restricted = site(), site(rules=parse_rules([{"block": "*", "crawl": "hidden"}]))
    hidden = key_of(everything, URL, 1)
    assert "1 capture, of 2020-01-02" in check_page(restricted(f"/captures?url={URL}")).text
    assert restricted(hidden).status_code == 404
    assert restricted(hidden.replace("/capture/", "/record/")).status_code == 404
    assert restricted("/captures?url=http://hidden.example/").status_code == 404
    assert "hidden.example" not in restricted("/search?q=*").text
    assert "one open" in check_page(restricted("/")).text
    assert "hidden open" in check_page(everything("/")).text
    for path in ("/", "/landing", "/metrics"):
        assert "hidden" in everything(path).text
        assert "hidden" not in restricted(path).text
    assert json.loads(restricted("/suggest?q=hidden.example/").text) == []
    digest = check_page(everything(hidden)).links("/search?q=sha1")[0]
    assert hidden in check_page(everything(digest)).links("/capture/")
    assert hidden not in check_page(restricted(digest)).links("/capture/")


def test_withdrawn_capture_is_shown_without_its_record(store: LandedStore, ask: Ask) -> None:
    store.land("one", "a.warc.gz", page(URL))
    link = key_of(ask, URL)
    key = unquote(link.removeprefix("/capture/")).encode()
    cell = {"v": 1, "act": "withdraw-1", "act_time_ms": 1, "reason": "its author asked",
            "by": "Ida", "asked": URL}  # fmt: skip
    now = store.actor.now_ms()
    store.rows.mutate("captures", [Put(key, {b"m:withdrawn": json.dumps(cell).encode()}, now)])
    # Its tombstone is in a generation in which it has no place.
    current = CurrentGeneration(generation=2, act="withdraw-1")
    cells = {CurrentGeneration.COLUMN: encode_cell(current)}
    store.rows.mutate("files", [Put(encode_file_key("one/a.warc.gz"), cells, None)])
    assert "withdrawn" in check_page(ask(f"/captures?url={URL}")).text
    outline = check_page(ask(link))
    assert "This capture was withdrawn" in outline.text
    assert "its author asked" in outline.text
    assert "Ida" not in outline.text
    assert not outline.links("/record/")
    assert not outline.links("/warc/")
    assert ask(link.replace("/capture/", "/record/")).status_code == 404


def test_record_that_cannot_be_read_leaves_the_rest_of_its_page(
    store: LandedStore, ask: Ask
) -> None:
    store.land("one", "a.warc.gz", page(URL, b"hello", head=HTTP))
    link = key_of(ask, URL)
    (store.folder / "archive" / "one" / "a.warc.gz").unlink()
    outline = check_page(ask(link))
    assert "The record cannot be read" in outline.text
    assert "missing" in outline.text
    answer = ask(link.replace("/capture/", "/record/"))
    assert answer.status_code == 404
    check_page(answer)


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("20200102030405000", "2020-01-02 03:04:05"),
        ("20200102030405067", "2020-01-02 03:04:05.067"),
        ("00000000000000000", "date unreadable"),
    ],
)
def test_words_for_times(digits: str, words: str) -> None:
    assert capture_time(digits) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "…"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (-2_500_000, "-2.5 MB")],
)
def test_words_for_sizes(count: int | None, words: str) -> None:
    assert size(count) == words


def test_record_that_shares_its_member_with_a_restricted_one_is_not_given(
    store: LandedStore, site: Callable[..., Ask]
) -> None:
    both = gzip.decompress(page(URL)) + gzip.decompress(page("http://secret.example/", b"secret"))
    store.land("one", "a.warc.gz", gzip.compress(both))
    everything = site()
    path = key_of(everything, URL).replace("/capture/", "/record/")
    assert b"secret" in gzip.decompress(everything(path).data)
    answer = site(rules=parse_rules([{"block": "http://secret.example/"}]))(path)
    assert answer.status_code == 404
    assert "may not be given out" in check_page(answer).text


# --- The page of a crawl: what it says, and the pages that its WACZ files list


URI = "http://example.org/"
HEADER = {"format": "json-pages-1.0"}


def land(store: LandedStore, folder: Path, pages: Iterable[dict[str, object]]) -> None:
    """A WACZ file in the crawl `spring`, with one capture of `URI` in 2020."""
    members = members_of({"a.warc.gz": page(URI)})
    members["pages/pages.jsonl"] = b"".join(json.dumps(one).encode() + b"\n" for one in pages)
    import_all(store.rows, store.archive, [write_package(folder / "spring.wacz", members)])


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
