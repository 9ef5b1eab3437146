"""Stored screenshots and the live web, with a real Chromium."""

from __future__ import annotations

import json
import shutil
import ssl
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import comparing  # noqa: F401
import pytest
from ingest_processes import call
from landed_stores import page
from loopback_proxy import Answer, serving
from loopback_proxy import page as html_page
from scripted_server import Script, answer, scripted
from stored_screenshots import encoded as encoded_picture
from stored_screenshots import kept, picture

from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Proxy, Viewport
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.snapshot import Outcome
from pinakes.qa.views.live import LiveSide, NotPublic, Pauses, live_session
from pinakes.qa.views.recording import Recording
from pinakes.qa.views.upstream import Origin

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")
pytestmark = pytest.mark.browsers
SITE = "http://example.org"
DATE = "2020-01-02T03:04:05Z"
MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
WORDS = "<title>words</title><style>p { max-width: 50% }</style>" + "<p>some words of the page" * 90


@pytest.fixture
def chromium() -> Callable[[int, Viewport], Session]:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")

    def start(port: int, viewport: Viewport) -> Session:
        return open_browser("chromium", Proxy(host="127.0.0.1", port=port), viewport)

    return start


def test_a_run_against_screenshots_of_the_crawl(
    chromium: Callable[[int, Viewport], Session], tmp_path: Path
) -> None:
    """As wide as the screenshot, and of the page its top alone: so they are the same."""
    image = Answer(body=encoded_picture(picture()), headers={"Content-Type": "image/png"})
    html = f"{WORDS}<img src=/1.png>"
    window = Viewport(width=1000, height=700)
    served = {f"{SITE}/page": html_page(html), f"{SITE}/1.png": image}
    with serving(served) as pages, chromium(pages.proxy.port, window) as session:
        shown = session.capture(f"{SITE}/page", pins=Pins(clock=MOMENT), folder=tmp_path)
    assert shown.image is not None
    import cv2
    import numpy as np

    whole = cv2.imdecode(np.frombuffer(read_image(tmp_path, shown.image), np.uint8), 1)
    assert whole.shape[0] > 1500
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    png = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
    (tmp_path / "a").mkdir()
    records = [
        page(f"{SITE}/page", html.encode(), date=DATE, head=head),
        page(f"{SITE}/other", b"<p>another" * 9, date=DATE, head=head),
        page(f"{SITE}/none", html.encode(), date=DATE, head=head),
        page(f"{SITE}/1.png", image.body, date=DATE, head=png),
        *(kept(f"urn:view:{SITE}/{n}", encoded_picture(whole[:700])) for n in ("page", "other")),
    ]  # fmt: skip
    (tmp_path / "a" / "a.warc.gz").write_bytes(b"".join(records))
    for verb in (["init"], ["ingest", "a", "--crawl", "a"]):
        assert call(tmp_path, *verb).returncode == 0
    asked = ("qa", "run", "a", "--reference", "stored", "--view", "current", "-o", "run")
    done = call(tmp_path, *asked)
    assert done.returncode in (0, 1), done.stderr
    lines = (tmp_path / "run" / "pairs.jsonl").read_text().splitlines()
    found = {entry["url"].removeprefix(f"{SITE}/"): entry for entry in map(json.loads, lines)}
    assert found["page"]["verdict"] == "similar", found["page"]
    assert found["page"]["reference"]["kind"] == "stored"
    assert found["other"]["verdict"] != "similar"
    assert found["none"]["verdict"] == "uncertain"
    assert found["none"]["reference"]["reasons"] == ["no stored screenshot"]


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_a_page_of_the_live_web(
    secure: bool, chromium: Callable[[int, Viewport], Session], tmp_path: Path
) -> None:
    html = "<title>live</title><p>words<img src=/1.png><img src=http://intranet.example/secret>"
    scripts: dict[str, Script] = {
        "/page": answer(html.encode(), Content_Type="text/html"),
        "/1.png": answer(encoded_picture(picture()), Content_Type="image/png"),
    }
    authority = Authority()
    tls = authority.context("a.example") if secure else None
    with scripted(scripts, tls=tls) as server:

        def resolved(origin: Origin) -> list[tuple[str, int]]:
            if origin.host != "a.example":
                raise NotPublic(f"{origin.host} is not of the public web")
            return [("127.0.0.1", server.port)]

        recording = Recording(tmp_path / "live", software="tests")
        trusted = ssl.create_default_context(cafile=str(authority.ca_file))
        session = live_session(recording, authority, resolver=resolved, tls=trusted)
        with chromium(session.port, Viewport()) as browser:
            side = LiveSide(session, browser, recording, Pauses(tmp_path / "pauses", 0))
            url = f"{'https' if secure else 'http'}://a.example/page"
            looked = side.visit(url, MOMENT, tmp_path)
        session.close()
        recording.close()
        authority.close()
        paths = {request.split(b" ")[1] for request in server.asked}
    assert paths == {b"/page", b"/1.png"}
    snapshot = looked.loaded.snapshot
    assert (snapshot.outcome, snapshot.title) == (Outcome.COMPLETE, "live")
    assert snapshot.pictures is not None
    assert (snapshot.pictures.total, snapshot.pictures.broken) == (2, 1)
    assert looked.log is not None
    # In a page of https Chromium asks for pictures by https.
    assert [e.url.partition("://")[2] for e in looked.log.faults] == ["intranet.example/secret"]
    assert recording.recorded == 2
    assert recording.path is not None
    checked = call(tmp_path, "check", "--json", str(recording.path))
    assert (checked.returncode, checked.stdout) == (0, "")
