"""A real browser through the proxy: TLS, scripts, style, fetch, service workers, misses."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Browsing, browsing
from landed_stores import page

from pinakes.qa.replay.page_log import LoggedExchange

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SITE = "https://example.org"
REFUSED = LoggedExchange(method="GET", url="", outcome="refused")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--proxy-bypass-list=<-loopback> --virtual-time-budget=5000 --dump-dom"
)
PAGE = b"""<html><head>
<link rel=stylesheet href="https://cdn.example.net/s.css?v=9">
<script src="/a.js?_=1234567"></script></head>
<body><img src="/missing.png"><p id=x>plain<script>
fetch("https://api.example.net/x", {headers: {"X-A": "1"}})
  .then(answer => answer.text()).then(text => document.title = "fetched " + text);
navigator.serviceWorker.register("/sw.js");
</script></body></html>"""
SCRIPT = b"""document.addEventListener("DOMContentLoaded", () => {
  const x = document.getElementById("x");
  x.textContent = "script ran, " + getComputedStyle(x).color; })"""


def of_type(media_type: str, *lines: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Type: {media_type}", *lines, "", ""]).encode()


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Browsing]:
    if shutil.which("chromium") is None:
        pytest.skip("for want of chromium: `make browsers` installs it")
    with browsing(tmp_path) as made:
        made.store.land(
            "c",
            "a.warc.gz",
            page(f"{SITE}/", PAGE, head=of_type("text/html")),
            page("https://cdn.example.net/s.css?v=1", b"p{color:red}", head=of_type("text/css")),
            page(f"{SITE}/a.js?_=99999", SCRIPT, head=of_type("text/javascript")),
            page(f"{SITE}/sw.js", b"", head=of_type("text/javascript")),
            page(
                "https://api.example.net/x",
                b"api",
                head=of_type("text/plain", "Access-Control-Allow-Origin: *"),
            ),
        )
        yield made


def test_chromium_shows_what_was_archived(at: Browsing, tmp_path: Path) -> None:
    command = [
        "chromium",
        *FLAGS.split(),
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--proxy-server=http://127.0.0.1:{at.session.port}",
        "--ignore-certificate-errors",
        f"{SITE}/",
    ]
    shown = subprocess.run(command, capture_output=True, timeout=300).stdout.decode()
    assert "script ran, rgb(255, 0, 0)" in shown
    assert "<title>fetched api</title>" in shown
    log = {(e.method, e.url): e for e in at.log()}
    assert log["GET", f"{SITE}/missing.png"].outcome == "miss"
    # Whether it comes to that before the page is taken is Chromium's affair.
    assert log.get(("GET", f"{SITE}/sw.js"), REFUSED).outcome == "refused"
    assert log["OPTIONS", "https://api.example.net/x"].outcome == "preflight"
    assert log["GET", f"{SITE}/a.js?_=1234567"].rule == "cache-buster"
    misses = {e.url for e in log.values() if e.outcome == "miss"}
    assert misses == {f"{SITE}/missing.png"}
