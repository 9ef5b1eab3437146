"""pywb, as it comes, looked at by a real browser beside our own replay of the same archive."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import comparing  # noqa: F401
import pytest
from harmed_site import DATES, SITE, write_crawl
from landed_stores import LandedStore
from wayback_server import installed_tools, plain_environment, wayback

from pinakes.config import user_folder
from pinakes.errors import PinakesError
from pinakes.qa.browsers.browser_list import browser_named, installed
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.compare.pairs import compare_pair, reasons
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views.access import AccessSide, access_session
from pinakes.qa.views.access_urls import AccessUrls
from pinakes.qa.views.side import ReplaySide, Side

pytestmark = pytest.mark.browsers
MOMENT = datetime.fromisoformat(DATES[0].replace("Z", "+00:00"))


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl") / "a"
    write_crawl(folder, DATES[0])
    return folder / "site.warc"


@pytest.fixture(scope="module", params=["framed", "frameless"])
def pywb(
    request: pytest.FixtureRequest, crawl: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The prefix of a collection of it."""
    tools = installed_tools()
    root = tmp_path_factory.mktemp("pywb")
    framed = "true" if request.param == "framed" else "false"
    (root / "config.yaml").write_text(f"framed_replay: {framed}\n")
    for words in (["init", "coll"], ["add", "coll", crawl]):
        subprocess.run(
            [tools / "wb-manager", *words], cwd=root, env=plain_environment(), check=True,
            capture_output=True,
        )  # fmt: skip
    with wayback(tools, root) as port:
        yield f"http://127.0.0.1:{port}/coll"


@pytest.mark.parametrize("name", ["chromium", "chromium-119", "firefox"])
def test_pywb_beside_our_replay(name: str, pywb: str, crawl: Path, tmp_path: Path) -> None:
    try:
        installed(browser_named(name), user_folder("cache") / "browsers")
    except PinakesError as error:
        pytest.skip(f"{name}: {error}")
    store = LandedStore(tmp_path / "store")
    store.land("a", "site.warc", crawl.read_bytes())
    with ExitStack() as stack:
        stack.callback(store.close)
        authority = Authority()
        stack.callback(authority.close)

        def shown(port: int) -> Session:
            at = Proxy(host="127.0.0.1", port=port)
            return stack.enter_context(open_browser(name, at, Viewport()))

        proxy = stack.enter_context(ReplayProxy(store.rows, store.archive))
        replayed = proxy.open_session("current")
        urls = AccessUrls(pywb)
        session = access_session(urls, authority)
        stack.callback(session.close)
        sides: list[Side] = [
            ReplaySide("current", replayed, shown(replayed.port)),
            AccessSide(urls, session, shown(session.port)),
        ]
        ours, theirs = (side.visit(f"{SITE}/1", MOMENT, tmp_path) for side in sides)
        snapshot = theirs.loaded.snapshot
        assert (snapshot.outcome, snapshot.title) == (Outcome.COMPLETE, "1")
        assert (snapshot.url, snapshot.final_url) == (f"{SITE}/1", f"{SITE}/1")
        assert snapshot.text == ours.loaded.snapshot.text
        # The picture was sent by both, byte for byte; the page was rewritten, and proves nothing.
        assert set(theirs.loaded.payloads or {}) == {f"{SITE}/1.png"}
        comparison = compare_pair(ours.loaded, theirs.loaded)
        assert comparison.payloads == ()
        assert comparison.image is not None
        assert (comparison.image.gone, comparison.image.changed_tiles) == (0, 0)
        assert reasons(comparison) == ()
        assert theirs.log is not None
        assert theirs.log.faults == ()
        missing = sides[1].visit(f"{SITE}/nowhere", MOMENT, tmp_path).loaded.snapshot
        assert missing.outcome is Outcome.FAILED
        assert missing.reasons[-1] == "the access system does not have the page"
