"""Crawlers, unmodified, write revisits thanks to our index, and an unmodified pywb replays them.

Each records a site twice, the first recording landed and committed in between; one page changes.
pywb has our server as its only index and archive.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from serve_process import serve_process
from verbs_here import call_here
from wayback_server import installed_tools, plain_environment
from web_servers import free_port

import pinakes
from bench.peers import pins

pytestmark = pytest.mark.slow
LONG = pytest.mark.large
HANGS_S = 120
PAGES = {
    "/": b'<a href="/same.html">1</a> <a href="/news.html">2</a> <a href="/chunked.html">3</a>',
    "/robots.txt": b"User-agent: *\nDisallow:\n",
    "/same.html": b"<p>the same in both crawls</p>" * 40,
    "/chunked.html": b"<p>sent in chunks</p>" * 40,
}
UNCHANGED = ("/", "/same.html", "/chunked.html")
CHANGED = "/news.html"


class Site(BaseHTTPRequestHandler):
    """The pages, one of them in chunks, one another each year; what is not there is 404."""

    protocol_version = "HTTP/1.1"
    year = 1

    def do_GET(self) -> None:
        body = PAGES.get(self.path)
        if self.path == CHANGED:
            body = b"<p>news of year %d</p>" % type(self).year
        self.send_response(200 if body is not None else 404)
        body = body or b"<p>nothing here, in either crawl</p>"
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if self.path == "/chunked.html":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 300):
                part = body[at : at + 300]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_request(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def site() -> Iterator[str]:
    """Its address: warcprox fetches nothing from 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.2", 0), Site)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Site.year = 1
    try:
        yield f"http://127.0.0.2:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "pinakes.toml").write_text(
        'profile = "embedded"\nstore = "store"\ncollection = "news"\n'
    )
    assert call_here(tmp_path, "init").returncode == 0
    return tmp_path


def land(folder: Path, crawl: str) -> None:
    done = call_here(folder, "ingest", f"warcs-{crawl}", "--crawl", crawl)
    assert done.returncode == 0, done.stderr
    assert call_here(folder, "crawl", "commit", crawl).returncode == 0


def revisits(folder: Path, crawl: str, site: str) -> list[str]:
    """The paths of the site that a crawl recorded as revisits."""
    found = []
    for path in sorted((folder / f"warcs-{crawl}").glob("*.warc.gz")):
        found += [r.target_uri or "" for r in pinakes.iter_records(path, types={"revisit"})]
    return sorted(uri.removeprefix(site) for uri in found)


@contextmanager
def warcprox(
    folder: Path, crawl: str, dedup: str, *options: str
) -> Iterator[Callable[[str], None]]:
    """What fetches a URL through it; at the end its files are closed."""
    program = pins.warcprox()
    if not program.exists():
        pytest.skip("warcprox is not installed: `make tools` does it")
    port, out = free_port(), folder / f"warcs-{crawl}"
    command = [program, "-p", str(port), "-z", "-d", out, "--cdxserver-dedup", dedup, *options]
    log = folder / f"{crawl}.log"
    with log.open("w") as said:
        process = subprocess.Popen(
            command, cwd=folder, env=plain_environment(), stdout=said, stderr=said
        )
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"})
    )

    def fetch(url: str) -> None:
        with suppress(urllib.error.HTTPError):
            opener.open(url, timeout=HANGS_S).read()

    try:
        end = time.monotonic() + HANGS_S
        while time.monotonic() < end:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield fetch
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(HANGS_S)
    assert "ERROR" not in log.read_text(), log.read_text()


def by_warcprox(folder: Path, crawl: str, site: str, dedup: str, *options: str) -> None:
    with warcprox(folder, crawl, dedup, *options) as fetch:
        for path in (*UNCHANGED, CHANGED, "/gone.html"):
            fetch(site + path)


def by_wget(folder: Path, crawl: str, site: str, *options: str) -> str:
    if shutil.which("wget") is None:
        pytest.skip("wget is not installed: `make tools` does it")
    (folder / f"warcs-{crawl}").mkdir()
    command = ["wget", "--recursive", "--no-directories", "--delete-after", "--no-verbose"]
    done = subprocess.run(
        [*command, "--verbose", f"--warc-file=warcs-{crawl}/rec", *options, f"{site}/"],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=HANGS_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def replayed(folder: Path, site: str, crawl: str) -> dict[str, bytes]:
    """What pywb gives for each capture of the second crawl, by path."""
    command = str(installed_tools() / "wayback")
    options = ("--replay", "0", "--wayback-command", command)
    found = {}
    with serve_process(folder / "store", *options) as (_, told):
        for path in (*UNCHANGED, CHANGED):
            url = (
                f"{told['url']}news/cdx?url={site}{path}&limit=-1&fl=timestamp,filename&output=text"
            )
            with urllib.request.urlopen(url, timeout=HANGS_S) as answer:
                timestamp, filename = answer.read().decode().split()
            assert filename.startswith(f"{crawl}/")
            replay = f"{told['replay']}{timestamp}id_/{site}{path}"
            with urllib.request.urlopen(replay, timeout=HANGS_S) as answer:
                found[path] = answer.read()
    return found


def check_second(folder: Path, site: str) -> None:
    """The second crawl lands, every reference of it resolves, and pywb replays all of it."""
    land(folder, "two")
    files = sorted(str(p) for p in (folder / "store" / "archive").rglob("*.warc.gz"))
    done = call_here(folder, "validate", "--refs", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    news = b"<p>news of year 2</p>"
    assert replayed(folder, site, "two") == {p: PAGES[p] for p in UNCHANGED} | {CHANGED: news}


@pytest.mark.parametrize(
    ("path", "options"),
    [
        pytest.param("news/dedup/hex", (), id="hex"),
        pytest.param("news/dedup/base32", ("--base32",), id="Base32", marks=LONG),
        pytest.param("news", (), id="as declared: hex", marks=LONG),
        pytest.param("news/cdx", ("--base32",), id="as declared: Base32", marks=LONG),
    ],
)
def test_warcprox_writes_revisits(
    store: Path, site: str, path: str, options: tuple[str, ...]
) -> None:
    with serve_process(store / "store") as (_, told):
        dedup = told["url"] + path
        by_warcprox(store, "one", site, dedup, *options)
        assert revisits(store, "one", site) == []
        land(store, "one")
        time.sleep(1)  # else it would be the same second
        Site.year = 2
        by_warcprox(store, "two", site, dedup, *options)
    assert revisits(store, "two", site) == sorted((*UNCHANGED, "/gone.html"))
    check_second(store, site)


def test_wget_writes_revisits(store: Path, site: str) -> None:
    by_wget(store, "one", site)
    land(store, "one")
    with (
        serve_process(store / "store") as (_, told),
        urllib.request.urlopen(f"{told['url']}news/dedup/wget") as answer,
    ):
        seen = answer.read()
    done = call_here(store, "cdx", "news", "--format", "wget", "-o", "seen.cdx")
    assert (done.returncode, (store / "seen.cdx").read_bytes()) == (0, seen), done.stderr
    Site.year = 2
    time.sleep(1)  # else it would be the same second
    said = by_wget(store, "two", site, "--warc-dedup=seen.cdx")
    assert "Loaded 5 records from CDX" in said
    assert revisits(store, "two", site) == sorted((*UNCHANGED, "/robots.txt"))
    check_second(store, site)
