from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from asgi_client import Answer, Client
from dead_landers import land_and_die
from exposed_metrics import sample, samples_of
from landed_stores import LandedStore, page

from pinakes.access import views
from pinakes.access.asgi_site import AsgiSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.catalog.run_rows import put_run, set_run_progress
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.run_cells import RunFacts, RunProgress

CRAWL, RUN = "a-crawl", "ingest-20260101T000000-1"


@contextmanager
def asking(
    rows: Any, archive: Any, hosts: Sequence[str] | None = ("localhost", "[::1]")
) -> Iterator[Callable[..., Answer]]:
    views = Views(rows, archive)
    pages = Site(views, ReadableCaptures(rows, archive))
    client = Client(AsgiSite(pages, hosts=hosts, headers=HEADERS))
    try:
        yield lambda path, method="GET", **given: client.open(path, method=method, **given)
    finally:
        views.close()


@pytest.fixture
def ask(store: LandedStore) -> Iterator[Callable[..., Answer]]:
    with asking(store.rows, store.archive) as ask:
        yield ask


def eventually(look: Callable[[], Any]) -> Any:
    """What a look gives once it gives anything: views are read by threads of their own."""
    for _ in range(600):
        if found := look():
            return found
        threading.Event().wait(0.1)
    raise AssertionError("this has not come about in a minute")


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def test_metrics_agree_with_rows(store: LandedStore, ask: Callable[..., Any]) -> None:
    landed = [store.land(CRAWL, f"{n}.warc.gz", page(f"http://{n}.example/")) for n in "abc"]
    land_and_die(store, CRAWL, "d.warc.gz")
    put_run(
        store.rows, RUN, RunFacts(verb="ingest", act_time_ms=store.actor.now_ms(), software="p")
    )
    counts = {"files": 3, "refused": 2, "records": 30, "mismatches": 1, "row_retries": 4}
    progress = RunProgress(
        owner="there/1/2/3", at_ms=store.actor.now_ms(), crawl=CRAWL, counts=counts
    )
    set_run_progress(store.rows, RUN, progress)
    metrics = eventually(
        lambda: (
            (text := ask("/metrics").text)
            and sample(text, "pinakes_crawl_files", crawl=CRAWL) is not None
            and text
        )
    )
    samples_of(metrics)
    wanted = {
        ("pinakes_crawl_files",): 3,
        ("pinakes_crawl_landed_files_total",): 3,
        ("pinakes_crawl_landed_bytes_total",): sum(one.size for one in landed),
        ("pinakes_crawl_landed_records_total",): 3,
        ("pinakes_crawl_state", "state", "open"): 1,
        ("pinakes_inflight_files", "state", "stalled"): 1,
        ("pinakes_ingest_running", "run", RUN): 1,
        ("pinakes_ingest_files_total", "outcome", "landed"): 3,
        ("pinakes_ingest_files_total", "outcome", "refused"): 2,
        ("pinakes_ingest_files_total", "outcome", "failed"): 0,
        ("pinakes_ingest_records_total", "run", RUN): 30,
        ("pinakes_ingest_digest_mismatches_total",): 1,
        ("pinakes_ingest_retries_total", "store", "rows"): 4,
        ("pinakes_ingest_retries_total", "store", "archive"): 0,
    }
    found = {
        (name, *pair): sample(metrics, name, crawl=CRAWL, **dict([pair] if pair else []))  # type: ignore[list-item]
        for name, *pair in wanted
    }
    assert found == wanted
    for name in ("rows", "archive"):
        assert sample(metrics, "pinakes_store_reachable", store=name) == 1
    for view in ("landing", "totals"):
        assert sample(metrics, "pinakes_view_failed", view=view) == 0


def test_foreign_text_is_escaped(store: LandedStore, ask: Callable[..., Any]) -> None:
    evil = "<script>alert(1)</script>&\"'"
    land_and_die(store, CRAWL, "<script>.warc.gz")
    put_run(store.rows, RUN, RunFacts(verb="ingest", act_time_ms=1, software="p"))
    progress = RunProgress(owner=evil, at_ms=store.actor.now_ms(), crawl=CRAWL, trouble=evil)
    set_run_progress(store.rows, RUN, progress)
    html = eventually(lambda: (text := ask("/landing").text) and RUN in text and text)
    tags = Tags(html).found
    assert tags.count("script") == 1  # ours
    assert html.count("&lt;script&gt;") >= 2
    assert {"main", "h1", "h2", "table", "caption", "th", "nav"} <= set(tags)
    assert "stalled" in html


def test_page_refreshes_unless_told_not_to(ask: Callable[..., Any]) -> None:
    def refresh(path: str) -> str | None:
        found = re.search(r'http-equiv="refresh" content="(\d+)"', ask(path).text)
        return found[1] if found else None

    assert [
        refresh(p)
        for p in ("/landing", "/landing?refresh=30", "/landing?refresh=off", "/landing?refresh=0x")
    ] == [
        "5",
        "30",
        None,
        "5",
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/landing", "text/html"),
        ("/search", "text/html"),
        ("/suggest.js", "text/javascript"),
        ("/style.css", "text/css"),
        ("/metrics", "text/plain"),
        ("/healthz", "application/json"),
    ],
)
def test_head_request_has_headers_and_no_body(
    ask: Callable[..., Any], path: str, kind: str
) -> None:
    answer, head = ask(path), ask(path, "HEAD")
    assert (answer.status_code, head.status_code) == (200, 200)
    assert answer.data
    assert not head.data
    assert answer.mimetype == head.mimetype == kind
    for response in (answer, head, ask("/nowhere")):
        assert HEADERS.items() <= dict(response.headers).items()


@pytest.mark.parametrize(
    "path", ["/nowhere", "/metrics/", "/healthz/x", "/../setup.cfg", "/%00", "/cli"]
)
def test_unknown_path_is_not_found(ask: Callable[..., Any], path: str) -> None:
    assert ask(path).status_code == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"])
def test_only_get_and_head_are_allowed(ask: Callable[..., Any], method: str) -> None:
    answer = ask("/metrics", method)
    assert answer.status_code == 405
    assert set(answer.allow) == {"GET", "HEAD"}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LocalHost", 200),
        ("[::1]", 200),
        ("[::1]:8090", 200),
        ("[::1]:port", 400),
        ("[::2]", 400),
        ("::1", 400),
        ("localhost:1:2", 400),
        ("localhost:8090", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("evil.example:8090", 400),
        ("localhost@evil.example", 400),
        ("", 400),
    ],
)
def test_unknown_host_is_refused(
    ask: Callable[..., Any], store: LandedStore, host: str, status: int
) -> None:
    def get(ask: Callable[..., Any]) -> int:
        return int(ask("/healthz", headers={"Host": host}).status_code)

    assert get(ask) == status
    with asking(store.rows, store.archive, hosts=None) as open_to_all:
        if host and "@" not in host:
            assert get(open_to_all) == 200


class Away:
    """A store that is not reachable, or (`hangs`) does not answer until it may."""

    def __init__(self, hangs: bool) -> None:
        self.may_answer = threading.Event()
        self._hangs = hangs

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def fail(*args: object, **given: object) -> Any:
            if self._hangs:
                self.may_answer.wait()
            raise StoreUnavailable("nobody is there")

        return fail


@pytest.mark.parametrize("hangs", [False, True], ids=["away", "hangs"])
def test_unavailable_store_is_shown_without_waiting(
    store: LandedStore, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "WAIT_S", 0.1)  # which is what it waits, page by page
    away = Away(hangs)
    with asking(away, store.archive) as ask:
        try:
            health = ask("/healthz")
            assert health.status_code == 503
            stores = json.loads(health.text)["stores"]
            assert not stores["rows"]["reachable"]
            assert ("no answer" if hangs else "nobody is there") in stores["rows"]["problem"]
            assert stores["archive"]["reachable"]
            metrics = ask("/metrics").text
            assert sample(metrics, "pinakes_store_reachable", store="rows") == 0
            assert sample(metrics, "pinakes_store_reachable", store="archive") == 1
            assert sample(metrics, "pinakes_view_age_seconds", view="landing") is None
            html = ask("/landing").text
            assert "rows</b> not reachable" in html
            assert 'role="alert"' in html
            assert "The store of rows is not reachable" in ask("/").text
        finally:
            away.may_answer.set()


def test_page_of_a_store_that_fails_does_not_tell_where_it_lies(
    store: LandedStore, caplog: pytest.LogCaptureFixture
) -> None:
    class Lost:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            def fail(*args: object, **given: object) -> Any:
                raise StoreUnavailable("the disk failed to read", file="/srv/secret/rows.sqlite")

            return fail

    with asking(Lost(), store.archive) as ask:
        answer = ask("/captures?url=http://example.org/")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "the disk failed to read" in answer.text
    assert "secret" not in answer.text
    assert "GET /captures: /srv/secret/rows.sqlite: the disk failed to read" in caplog.text


def test_returning_store_is_healthy_again(store: LandedStore) -> None:
    class Sometimes:
        away = True

        def size(self, name: str) -> int | None:
            if self.away:
                raise StoreUnavailable("nobody is there")
            return store.archive.size(name)

    archive = Sometimes()
    with asking(store.rows, archive) as ask:
        assert ask("/healthz").status_code == 503
        archive.away = False
        eventually(lambda: ask("/healthz").status_code == 200)
