"""Our own replay looked at: what it cannot give, and where the log of a page begins."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import comparing  # noqa: F401
import pytest
from asking import AskingBrowser
from browsing import MOMENT, Client
from landed_stores import LandedStore, page

from pinakes.qa.browsers.session import open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.page_log import LoggedExchange, PageLog
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.replay.session import ProxySession
from pinakes.qa.snapshot import Outcome, Snapshot
from pinakes.qa.views.side import ReplaySide, main_exchange

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SITE = "http://example.org"
DATE = "2020-01-02T03:04:05Z"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
# Asks as long as it is there, and once more when it is left.
RESTLESS = b"""<title>restless</title><p>words<script>
let n = 0;
setInterval(() => fetch("/poll?" + n++).catch(() => 0), 20);
addEventListener("pagehide", () => navigator.sendBeacon("/left"));
addEventListener("unload", () => navigator.sendBeacon("/unloaded"));
</script>"""


@pytest.fixture
def session(store: LandedStore) -> Iterator[tuple[ProxySession, ReplayProxy]]:
    with ReplayProxy(store.rows, store.archive) as proxy:
        yield proxy.open_session("current"), proxy


def asking(session: tuple[ProxySession, ReplayProxy]) -> tuple[ReplaySide, AskingBrowser]:
    replay, proxy = session
    browser = AskingBrowser(Client(replay.port, proxy.ca_file))
    return ReplaySide("current", replay, browser), browser


def test_a_page_that_the_archive_does_not_have(
    store: LandedStore, session: tuple[ProxySession, ReplayProxy], tmp_path: Path
) -> None:
    store.land("a", "1.warc.gz", page(f"{SITE}/there", b"<p>words", date=DATE, head=HTML))
    side, browser = asking(session)
    for url, outcome, reasons in (
        (f"{SITE}/none", Outcome.FAILED, ("the archive does not have the page",)),
        (f"{SITE}/there", Outcome.COMPLETE, ()),
    ):
        snapshot = side.visit(url, MOMENT, tmp_path).loaded.snapshot
        assert (snapshot.outcome, snapshot.reasons) == (outcome, reasons)
    # What the browser showed of it was a page, to the browser.
    assert "Pinakes: miss" in browser.said[0].body.decode()


def test_a_page_that_cannot_be_read(
    store: LandedStore, session: tuple[ProxySession, ReplayProxy], tmp_path: Path
) -> None:
    store.land("a", "1.warc.gz", page(f"{SITE}/", b"<p>words" * 99, date=DATE, head=HTML))
    [file] = (store.folder / "archive").rglob("1.warc.gz")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:90])
    looked = asking(session)[0].visit(f"{SITE}/", MOMENT, tmp_path)
    assert looked.log is not None
    [fault] = looked.log.faults
    assert fault.problem
    assert looked.loaded.snapshot.outcome is Outcome.FAILED
    assert looked.loaded.snapshot.reasons == (fault.problem,)


@pytest.mark.parametrize(
    ("named", "asked"),
    [("/?q=l'eau", "/?q=l%27eau"), ("/a/../b", "/b"), ("/é", "/%C3%A9"), ("/b", "/b")],
)
def test_the_page_itself_is_known_however_a_browser_writes_its_url(named: str, asked: str) -> None:
    own, picture = (
        LoggedExchange(method="GET", url=SITE + path, outcome="miss", status=404)
        for path in (asked, "/1.png")
    )
    favicon = replace(picture, url=f"{SITE}/favicon.ico", outcome="refused")
    assert main_exchange(PageLog(name=SITE + named, exchanges=(favicon, own, picture))) == own
    away = replace(own, outcome="hit", status=302)
    assert main_exchange(PageLog(name=SITE + named, exchanges=(away, picture))) is None
    assert main_exchange(PageLog(name=SITE + named, exchanges=(favicon,))) is None


def test_what_is_missing_in_a_page_does_not_make_it_one_that_failed(
    store: LandedStore, session: tuple[ProxySession, ReplayProxy], tmp_path: Path
) -> None:
    gone = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"
    store.land(
        "a", "1.warc.gz", page(f"{SITE}/", b"<img src=/1.png>", date=DATE, head=HTML),
        page(f"{SITE}/gone", b"<p>gone", date=DATE, head=gone),
    )  # fmt: skip
    side, _ = asking(session)
    looked = side.visit(f"{SITE}/", MOMENT, tmp_path)
    assert looked.log is not None
    assert [miss.url for miss in looked.log.misses] == [f"{SITE}/1.png"]
    assert looked.loaded.snapshot.outcome is Outcome.COMPLETE
    # An error that was captured is a page as it was.
    assert side.visit(f"{SITE}/gone", MOMENT, tmp_path).loaded.snapshot.outcome is Outcome.COMPLETE


@pytest.mark.parametrize("begun", [False, True])
def test_only_a_page_that_was_begun_is_ended(
    begun: bool, store: LandedStore, session: tuple[ProxySession, ReplayProxy], tmp_path: Path
) -> None:
    store.land("a", "1.warc.gz", page(f"{SITE}/", b"<p>words", date=DATE, head=HTML))
    side, browser = asking(session)
    capture = browser.capture

    def dies(*_: object, on_blank: object = None, **__: object) -> Snapshot:
        if begun:
            assert callable(on_blank)
            on_blank()
        raise KeyboardInterrupt

    browser.capture = dies  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        side.visit(f"{SITE}/", MOMENT, tmp_path)
    browser.capture = capture  # type: ignore[method-assign]
    assert side.visit(f"{SITE}/", MOMENT, tmp_path).loaded.snapshot.outcome is Outcome.COMPLETE


@pytest.mark.parametrize("name", ["chromium", pytest.param("firefox", marks=pytest.mark.browsers)])
def test_what_the_page_before_still_asks_for_is_not_of_this_one(
    name: str, store: LandedStore, session: tuple[ProxySession, ReplayProxy], tmp_path: Path
) -> None:
    pytest.importorskip("selenium", reason="no Selenium: make dev-qa")
    program = "chromedriver" if name == "chromium" else "geckodriver"
    if name == "chromium" and shutil.which(program) is None:
        pytest.skip(f"for want of {program}: `make browsers` installs it")
    quiet = [page(f"{SITE}/{n}", b"<title>quiet</title><p>words", date=DATE, head=HTML)
             for n in range(2)]  # fmt: skip
    restless = page(f"{SITE}/restless", RESTLESS, date=DATE, head=HTML)
    store.land("a", "1.warc.gz", restless, *quiet)
    replay, _ = session
    with open_browser(name, Proxy(host=replay.host, port=replay.port), Viewport()) as browser:
        side = ReplaySide("current", replay, browser)
        for number in range(2):
            asked = _asked(side, f"{SITE}/restless", MOMENT, tmp_path)
            assert f"{SITE}/poll?0" in asked
            refused = replay.refused_outside
            asked = _asked(side, f"{SITE}/{number}", MOMENT, tmp_path)
            assert asked - {f"{SITE}/favicon.ico"} == {f"{SITE}/{number}"}
            # It did ask, up to its end.
            assert replay.refused_outside > refused


def _asked(side: ReplaySide, url: str, moment: datetime, folder: Path) -> set[str]:
    looked = side.visit(url, moment, folder)
    assert looked.log is not None
    assert looked.loaded.snapshot.outcome is Outcome.COMPLETE
    # What the browser asks for of its own accord, elsewhere, may come at any time.
    return {exchange.url for exchange in looked.log.exchanges if exchange.url.startswith(SITE)}
