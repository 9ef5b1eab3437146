"""Bad pages in a run by a real browser: each gets a result that says so, and the run goes on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import comparing  # noqa: F401
import pytest
from ingest_processes import call, start, until
from landed_stores import page

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")
pytestmark = pytest.mark.browsers
SITE = "http://bad.example"
HOSTILE = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
PNG_HEAD = b"\x89PNG\r\n\x1a\n"


class Bad(NamedTuple):
    """A page that is bad in one way, and how a view of it says so."""

    html: str
    outcome: str
    reason: str = ""


def busy_image() -> bytes:
    """A picture of 20,000 x 20,000 pixels: 1.2 GB decoded, and a few KB as it is."""
    width = height = 20_000
    deflate = zlib.compressobj(9)
    row = b"\0" + b"\x80" * width
    packed = b"".join([*(deflate.compress(row) for _ in range(height)), deflate.flush()])

    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return PNG_HEAD + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


BAD = {
    "alert": Bad("<script>alert('hello'); confirm('x'); prompt('y')</script><p>after", "complete",
                 "dialog:alert"),
    "unload": Bad("<script>onbeforeunload = () => 'stay'</script><p>words", "complete"),
    "close": Bad("<script>window.close()</script><p>words", "complete", "close:"),
    "popup": Bad("<script>window.open('/plain')</script><p>words", "complete", "popup:"),
    "print": Bad("<script>window.print()</script><p>words", "complete", "dialog:print"),
    "never": Bad("<p>words<script>onload = () => { document.open(); document.write('<p>begun') }"
                 "</script>",
                 "still_loading", "still loading after"),
    "restless": Bad("<p>words<script>let n = 0; setInterval(() => { "
                    "const i = new Image(); i.src = '/none-' + n++; document.body.append(i) "
                    "}, 50)</script>", "complete"),
    "hangs": Bad("<p>words<script>while (true) {}</script>", "cut_off", "killed after"),
    "download": Bad("<script>location = '/file.zip'</script>", "not_a_page", ""),
    "pdf": Bad("<script>location = '/file.pdf'</script>", "not_a_page", ""),
    "circle": Bad("<script>location = '/circle-1'</script>", "failed", "redirect loop"),
    "high": Bad("<div style='height: 50000px; background: linear-gradient(red, blue)'></div>",
                "complete"),
    "wide": Bad("<div style='width: 90000px; height: 50px; background: red'></div>", "complete"),
    "huge-image": Bad("<img src=/huge.png width=300 height=300><p>words", "complete"),
    "empty": Bad("", "complete"),
    "no-text": Bad("<div style='width:100px;height:100px;background:red'></div>", "complete"),
    "fullscreen": Bad("<div style='position:fixed;inset:0;background:black;z-index:9'>overlay"
                      "</div><p>words", "complete"),
    "prototypes": Bad("<script>Array.prototype.toJSON = () => 'x'; JSON.stringify = () => 'x';"
                      "Object.prototype.hello = 1; Date = null; Promise = null</script><p>words",
                      "complete"),
    "deep": Bad("<div>" * 5_000 + "words", "complete"),
    "frames": Bad("".join(f"<iframe src=/plain?{n}></iframe>" for n in range(150)), "complete"),
    "surrogates": Bad("<p id=p><script>p.textContent = '\\ud800 \\u202e evil'; "
                      "document.title = '\\udfff'</script>", "complete"),
    "title": Bad("<title>&lt;/title>&lt;script>alert(1)&lt;/script></title><p>&lt;script>",
                 "complete"),
    HOSTILE: Bad("<p>words", "complete"),
    "plain": Bad("<title>plain</title><p>words", "complete"),
}  # fmt: skip


def http(status: str, media_type: str, **fields: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(
        (f"HTTP/1.1 {status}", f"Content-Type: {media_type}", *lines, "", "")
    ).encode()


def bad_site(folder: Path) -> None:
    html = http("200 OK", "text/html; charset=utf-8")
    records = [page(f"{SITE}/{name}", bad.html.encode(), head=html) for name, bad in BAD.items()]
    attached = http("200 OK", "application/zip", Content_Disposition="attachment; filename=x.zip")
    pdf = http("200 OK", "application/pdf")
    records += [
        page(f"{SITE}/file.zip", b"PK\x03\x04" * 100, head=attached),
        page(f"{SITE}/file.pdf", b"%PDF-1.4\n%%EOF\n", head=pdf),
        page(f"{SITE}/circle-1", b"", head=http("302 Found", "text/plain", Location="/circle-2")),
        page(f"{SITE}/circle-2", b"", head=http("302 Found", "text/plain", Location="/circle-1")),
        page(f"{SITE}/huge.png", busy_image(), head=http("200 OK", "image/png")),
    ]
    (folder / "crawl").mkdir()
    (folder / "crawl" / "bad.warc.gz").write_bytes(b"".join(records))
    for verb in (["init"], ["ingest", "crawl", "--crawl", "bad"]):
        done = call(folder, *verb)
        assert done.returncode == 0, done.stderr


def require_chromium() -> None:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_chromium()
    folder = tmp_path_factory.mktemp("bad")
    bad_site(folder)
    return folder


@pytest.fixture(scope="module")
def run(store: Path) -> dict[str, dict[str, Any]]:
    """All pages in one run; by name."""
    done = call(store, "qa", "run", "bad", "-j", "2", "--json", "-o", "run")
    assert done.returncode in (0, 1), done.stderr
    return pairs_in(store / "run")


def pairs_in(folder: Path) -> dict[str, dict[str, Any]]:
    entries = [json.loads(line) for line in (folder / "pairs.jsonl").read_bytes().splitlines()]
    found = {entry["url"].removeprefix(f"{SITE}/"): entry for entry in entries}
    assert len(found) == len(entries), "a page was judged twice"
    return found


def test_every_page_has_a_result(run: dict[str, dict[str, Any]]) -> None:
    assert run.keys() == BAD.keys()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_says_so(name: str, run: dict[str, dict[str, Any]]) -> None:
    bad = BAD[name]
    for side in ("reference", "other"):
        view = run[name][side]
        assert view["outcome"] == bad.outcome, view
        assert any(bad.reason in reason for reason in view["reasons"]) or not bad.reason, view
        if bad.outcome == "complete":
            assert view["image"] is not None


def test_none_of_them_is_called_harmed(run: dict[str, dict[str, Any]]) -> None:
    """Before and after are the same archive."""
    verdicts = {name: entry["verdict"] for name, entry in run.items()}
    assert "dissimilar" not in verdicts.values(), verdicts
    assert verdicts["plain"] == "similar"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]
        if tag == "script":
            self.scripts.append(dict(attributes))


def test_nothing_hostile_is_alive_in_the_report(
    run: dict[str, dict[str, Any]], store: Path
) -> None:
    done = call(store, "qa", "report", "run")
    assert done.returncode == 0, done.stderr
    pages = list((store / "run").rglob("*.html"))
    assert pages
    text = ""
    for file in pages:
        html = file.read_text("utf-8")
        tags = _Tags()
        tags.feed(html)
        text += html
        assert not tags.tags & {"iframe", "object", "embed"}
        # Ours, beside the page; the policy lets no other run.
        assert tags.scripts == [{"src": name, "defer": None} for name in ("pairs.js", "report.js")]
        assert "script-src 'self'" in html
        assert tags.handlers == []
        assert "\u202e" not in html
    assert "alert(1)" in text  # it is named, and dead


def browsers_of(process: subprocess.Popen[str]) -> list[int]:
    """The Chromiums that a run started, drivers left out; by their ids."""
    found, left = [], [process.pid]
    while left:
        pid = left.pop()
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            for thread in Path(f"/proc/{pid}/task").iterdir():
                left += map(int, (thread / "children").read_text().split())
        except OSError:
            continue
        # What a process is called has 15 characters (proc(5)).
        if name in {"chromium", "chromium-headless-shell"[:15]}:
            found.append(pid)
    return found


def kill_browsers(process: subprocess.Popen[str]) -> None:
    for browser in browsers_of(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(browser, signal.SIGKILL)


def judged(folder: Path) -> int:
    path = folder / "pairs.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_browser_that_crashes_is_replaced(store: Path, tmp_path: Path) -> None:
    urls = tmp_path / "urls"
    names = ["plain", "alert", "high", "popup", "title", "no-text"]
    urls.write_text("".join(f"{SITE}/{name}\n" for name in names))
    asked = ("qa", "run", "bad", "--urls", str(urls), "-o", str(tmp_path / "run"))
    process = start(store, *asked)
    # Twice: as it starts, and wherever it is some pages later.
    until(lambda: browsers_of(process), process)
    kill_browsers(process)
    until(lambda: judged(tmp_path / "run") and browsers_of(process), process)
    kill_browsers(process)
    _, err = process.communicate()
    assert process.returncode in (0, 1), err
    found = pairs_in(tmp_path / "run")
    assert sorted(found) == sorted(names)
    outcomes = [found[name][side]["outcome"] for name in names for side in ("reference", "other")]
    assert outcomes.count("complete") >= len(outcomes) - 1
    assert all(
        any("the browser is gone" in reason for reason in found[name][side]["reasons"])
        for name in names
        for side in ("reference", "other")
        if found[name][side]["outcome"] == "cut_off"
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A disk of 600 KB, which only root can make."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk wants root, and leave to mount: run this test as root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_full_of_screenshots(store: Path, small_disk: Path, tmp_path: Path) -> None:
    filler = small_disk / "others"
    filler.write_bytes(os.urandom(480_000))
    urls = tmp_path / "urls"
    names = ["plain", "high", "huge-image", "title", "no-text"]
    urls.write_text("".join(f"{SITE}/{name}\n" for name in names))
    asked = ("qa", "run", "bad", "--urls", str(urls), "-o", str(small_disk / "run"))
    done = call(store, *asked)
    assert done.returncode in (0, 1), done.stderr
    found = pairs_in(small_disk / "run")
    assert sorted(found) == sorted(names)
    views = [found[name][side] for name in names for side in ("reference", "other")]
    lost = [view for view in views if view["image"] is None]
    assert lost
    why = "image not saved: No space left on device"
    assert [v["reasons"] for v in lost if why not in v["reasons"]] == []
    assert "dissimilar" not in {entry["verdict"] for entry in found.values()}
