"""Every browser of the list, on pages of a proxy: what is seen, and what must not be."""

from __future__ import annotations

import json
import shutil
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loopback_proxy import Answer, Pages, page, serving

from bench.qa_training.kept_snapshots import read_snapshot, write_snapshot
from pinakes.config import user_folder
from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import BROWSERS, browser_named, installed
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.browsers.page_scripts import Limits, Pins
from pinakes.qa.browsers.processes import processes_of
from pinakes.qa.browsers.session import Session, starter
from pinakes.qa.browsers.tab import Viewport
from pinakes.qa.compare.elements import compare_elements
from pinakes.qa.snapshot import Outcome, Snapshot

for name in ("cryptography", "selenium"):
    pytest.importorskip(name, reason="the extra qa is not here: make dev-qa")

# Chromium is there for `make test`; the others need `make browsers`: `make test-browsers`.
NAMES = [
    pytest.param(browser.name, marks=() if browser.name == "chromium" else pytest.mark.browsers)
    for browser in BROWSERS
]

CLOCK = datetime(2009, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
PINS = Pins(clock=CLOCK, seed=7)
VIEWPORT = Viewport(width=800, height=600)
LIMITS = Limits(load_s=6, page_s=25, quiet_s=2)


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + crc

    rows = (b"\0" + b"\xc8\x1e\x1e" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


IMAGE = Answer(body=png(100, 80), headers={"Content-Type": "image/png"})
WHOLE = page(
    """<!doctype html><title>Πίνακες</title><link rel=stylesheet href=/s.css>
    <h1>Hello</h1><p id=now></p><p id=dice></p><img src=/a.png><img src=/gone.png>
    <iframe src="https://other.example/f"></iframe><iframe src="/own"></iframe>
    <video src=/v.mp4></video><div style="height:2500px">tall</div>
    <img loading=lazy src=/lazy.png width=100 height=80>
    <script>
      Array.prototype.toJSON = function () { return "broken by the page"; };
      now.textContent = new Date().getUTCFullYear() + " " + new Date(Date.now()).getUTCFullYear()
        + " " + new Date(0).getTime() + " " + (new Date() instanceof Date);
      dice.textContent = "dice " + Math.random();
      console.error("bad thing");
    </script>"""
)
ANSWERS: dict[str, Answer | Callable[[str], Answer]] = {
    "https://site.example/": WHOLE,
    "https://site.example/s.css": Answer(
        body=b"h1{color:red} @media all{p{color:blue}}", headers={"Content-Type": "text/css"}
    ),
    "https://site.example/a.png": IMAGE,
    "https://site.example/lazy.png": IMAGE,
    "https://site.example/own": page("<p>inner frame"),
    "https://other.example/f": page("<p>other"),
    "http://plain.example/": page("<title>plain</title><p>after all"),
    "http://overlay.example/": page(
        "<p>under<div id=wall style='position:fixed;inset:0;background:#000;z-index:5'>Accept"
    ),
    "http://store.example/": page(
        "<p id=p><script>p.textContent = 'kept: ' + localStorage.k + document.cookie;"
        "localStorage.k = 'leak'; document.cookie = 'c=leak'</script>"
    ),
    "http://alert.example/": page(
        "<script>alert('one'); confirm('two'); prompt('three'); print()</script><p>past"
    ),
    "http://restless.example/": page(
        "<title>restless</title><p>words<script>"
        "setInterval(() => fetch('/poll').catch(() => 0), 20);"
        "addEventListener('pagehide', () => navigator.sendBeacon('/left'))</script>"
    ),
    "http://unload.example/": page(
        "<script>onbeforeunload = (e) => { e.preventDefault(); return 'stay' }</script><p>stay"
    ),
    "http://close.example/": page("<script>window.close(); open('/pop')</script><p>open still"),
    "http://tabs.example/": page(
        "<p>many<form target=_blank action=/sent></form><script>setInterval(() => {"
        "const a = document.createElement('a'); a.href = '/opened'; a.target = '_blank'; a.click();"
        "document.forms[0].submit() }, 100)</script>"
    ),
    "http://endless.example/": Answer(body=b"<p>begun", drip=True),
    "http://download.example/": Answer(
        body=b"PK", headers={"Content-Type": "application/zip", "Content-Disposition": "attachment"}
    ),
    "http://pdf.example/": Answer(
        body=b"%PDF-1.4\n%%EOF", headers={"Content-Type": "application/pdf"}
    ),
    "http://nothing.example/": Answer(status=204, headers={}),
    "http://circle.example/": Answer(status=302, headers={"Location": "http://circle.example/"}),
    "http://scrolled.example/": page(
        "<style>body { height: 3000px; background: linear-gradient(red, blue) }</style>"
        "<script>setInterval(() => scrollTo(0, 700), 20)</script>"
    ),
    "http://tall.example/": page("<div style='height:50000px;background:#eee'>tall</div>"),
    "http://hang.example/": page("<p>hang<script>while (true) {}</script>"),
    "http://bare.example/": page(""),
    "http://named.example/": page(
        "<title>names</title><p class=ad>words<style>p{color:red}</style>"
        + "".join(
            f"<img name={name}>"
            for name in (
                *("images", "documentURI", "readyState", "scrollingElement", "documentElement"),
                *("getAnimations", "querySelectorAll", "styleSheets", "defaultView"),
                *("contentType", "elementFromPoint"),
            )
        )
        + "<iframe name=body></iframe><form name=title></form>"
        "<form class=ad style='position:fixed;inset:0;background:#000;z-index:5'>Accept"
        + "".join(
            f"<input type=hidden name={name}>"
            for name in (
                *("localName", "childNodes", "getBoundingClientRect", "parentElement"),
                *("ownerDocument", "previousElementSibling"),
                *("id", "classList", "style", "innerText"),
            )
        )
    ),
    "http://nonsense.example/": page(
        "<script>document.querySelectorAll = null; JSON.stringify = () => 'x';"
        "Element.prototype.getBoundingClientRect = () => { throw 1 }</script><p>here"
    ),
}


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with serving(ANSWERS) as server:
        yield server


def opened(name: str, pages: Pages, **options: Any) -> Session:
    """A browser that is installed; else the test is skipped, and says what is missing."""
    try:
        found = installed(browser_named(name), user_folder("cache") / "browsers")
    except ConfigError as error:
        pytest.skip(f"NOT TESTED: {error}")
    start = starter(found, pages.proxy, VIEWPORT)
    return Session(name, start, viewport=VIEWPORT, limits=LIMITS, **options)


@pytest.fixture(scope="module", params=NAMES)
def session(request: pytest.FixtureRequest, pages: Pages) -> Iterator[Session]:
    with opened(request.param, pages, masked=("h1", ".ad", "#nowhere")) as made:
        yield made


@pytest.fixture(scope="module", params=NAMES)
def without_strips(request: pytest.FixtureRequest, pages: Pages) -> Iterator[Session]:
    """It takes strips away that ask for consent."""
    with opened(request.param, pages, without_strips=True) as made:
        yield made


def look(session: Session, url: str, folder: Path) -> Snapshot:
    return session.capture(url, pins=PINS, folder=folder)


def test_of_a_known_page_the_image_is_its_first_screen(session: Session, tmp_path: Path) -> None:
    url = "https://site.example/"
    whole = look(session, url, tmp_path)
    seen = session.capture(url, pins=PINS, folder=tmp_path, is_known=lambda: True)
    assert whole.image is not None
    assert seen.image is not None
    assert (seen.image.height, whole.image.height) == (VIEWPORT.height, whole.page_height)
    assert (seen.title, seen.page_height) == (whole.title, whole.page_height)
    assert "inner frame" in seen.text
    assert (seen.goes_on_below_image, whole.goes_on_below_image) == (True, False)


def test_a_page_that_scrolls_itself_is_seen_from_its_top(session: Session, tmp_path: Path) -> None:
    cv2 = pytest.importorskip("cv2", reason="no OpenCV: make dev-qa")
    url, tops = "http://scrolled.example/", []
    for is_known in (None, lambda: True):
        seen = session.capture(url, pins=PINS, folder=tmp_path, is_known=is_known)
        assert seen.image is not None
        tops.append(cv2.imread(str(tmp_path / seen.image.name))[: VIEWPORT.height // 2])
    assert tops[0][0, 400, 2] > 250  # red
    if session.name != "webkitgtk":  # whose image is that of its window
        assert (tops[0] == tops[1]).all()


def pinned(session: Session) -> bool:
    return session.name != "webkitgtk"


def test_a_page_is_seen_as_a_whole(session: Session, pages: Pages, tmp_path: Path) -> None:
    seen = look(session, "https://site.example/", tmp_path)
    assert (seen.outcome, seen.title, seen.media_type) == (
        Outcome.COMPLETE,
        "Πίνακες",
        "text/html",
    )
    is_shell = session.name == "chromium" and shutil.which("chromium-headless-shell") is not None
    assert seen.browser_version.endswith(" headless shell") is is_shell
    assert "Hello" in seen.text
    assert "inner frame" in seen.text
    assert "https://site.example/lazy.png" in pages.asked
    assert seen.pictures is not None
    assert (seen.pictures.total, seen.pictures.broken) == (3, 1)
    assert seen.pictures.broken_urls == ("https://site.example/gone.png",)
    assert seen.styles is not None
    assert (seen.styles.sheets, seen.styles.rules) == (1, 3)
    assert {box.kind for box in seen.boxes} >= {"text", "image"}
    assert all(box.rect.width > 0 for box in seen.boxes)
    assert seen.masked == tuple(box.rect for box in seen.boxes if box.tag == "h1")
    assert len(seen.masked) == 1
    assert {frame.url: frame.readable for frame in seen.frames} == {
        "https://other.example/f": False,
        "https://site.example/own": True,
    }
    assert [(media.tag, media.ready_state) for media in seen.media] == [("video", 0)]
    asked = {resource.url for resource in seen.resources}
    assert {f"https://site.example/{name}" for name in ("s.css", "a.png", "gone.png")} <= asked
    if pinned(session):
        status = {resource.url: resource.status for resource in seen.resources}
        assert status["https://site.example/gone.png"] == 404
        assert status["https://site.example/a.png"] == 200
        assert any("bad thing" in line for line in seen.console)
    assert seen.page_height is not None
    assert 2500 < seen.page_height < 4000
    assert seen.image is not None
    assert (seen.image.width, seen.image.height) == (800, seen.page_height)
    assert read_image(tmp_path, seen.image).startswith(b"\x89PNG")
    write_snapshot(tmp_path / "one.json", seen)
    assert read_snapshot(tmp_path / "one.json") == seen
    assert json.loads((tmp_path / "one.json").read_text())["schema"] == 1


@pytest.mark.browsers
def test_clock_and_dice_are_the_captures(session: Session, tmp_path: Path) -> None:
    first = look(session, "https://site.example/", tmp_path)
    second = look(session, "https://site.example/", tmp_path)
    if pinned(session):
        assert "2009 2009 0 true" in first.text
        dice = [line for line in first.text.splitlines() if line.startswith("dice")]
        assert dice[0] in second.text
        assert (first.clock, first.seed) == (CLOCK, 7)
    else:
        assert (first.clock, first.seed) == (None, None)
    assert first.image is not None
    if pinned(session):
        assert first.image == second.image


def test_nothing_is_reached_but_the_proxy(session: Session, pages: Pages, tmp_path: Path) -> None:
    hits: list[str] = []

    class Outside(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Outside) as outside:
        threading.Thread(target=outside.serve_forever, daemon=True).start()
        port = outside.server_address[1]
        hosts = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
        images = "".join(f"<img src=http://{host}/img>" for host in hosts)
        script = (
            f"<script>new WebSocket('ws://127.0.0.1:{port}/ws');"
            f"fetch('http://localhost:{port}/fetch', {{mode: 'no-cors'}});"
            f"navigator.sendBeacon('http://127.0.0.1:{port}/beacon');</script>"
        )
        pages.answers["http://inward.example/"] = page(images + script)  # type: ignore[index]
        seen = look(session, "http://inward.example/", tmp_path)
        direct = look(session, f"http://127.0.0.1:{port}/direct", tmp_path)
        outside.shutdown()
    assert hits == []
    assert f"http://127.0.0.1:{port}/img" in pages.asked
    assert seen.pictures is not None
    assert seen.pictures.broken == 3
    assert "not in the archive" in direct.text


@pytest.mark.browsers
def test_an_overlay_is_noted_and_taken_away(session: Session, tmp_path: Path) -> None:
    seen = look(session, "http://overlay.example/", tmp_path)
    assert seen.overlay is not None
    assert (seen.overlay.identity, seen.overlay.text) == ("#wall", "Accept")
    assert seen.overlay.viewport_share > 0.9
    assert seen.image is not None
    assert seen.image_without_overlay is not None
    assert seen.image.sha256 != seen.image_without_overlay.sha256


STRIP = (
    "<div id=ask style='position:fixed;left:0;right:0;bottom:0;background:#222;color:#fff'>"
    "We use <b>Cookies</b> on this site. <button>Accept</button></div>"
)


@pytest.mark.parametrize(
    ("html", "strips"),
    [
        (STRIP, ("<div#ask> We use Cookies on this site. Accept",)),
        ("<header style='position:fixed;top:0;left:0'>News Sport</header>", ()),
        ("<div style='position:fixed;inset:0;background:#222'>Cookies!</div>", ()),
        ("<p>All about cookies, and how to bake them.</p>", ()),
        (STRIP.replace("Cookies", "файлы куки").replace("id=ask", ""),
         ("<div> We use файлы куки on this site. Accept",)),
    ],
    ids=["strip", "menu", "wall", "words", "Russian"],
)  # fmt: skip
def test_strips_that_ask_for_consent_are_taken_away_and_said(
    without_strips: Session, pages: Pages, tmp_path: Path, html: str, strips: tuple[str, ...]
) -> None:
    whole = "<meta charset=utf-8><h1>Pages</h1><p>" + "words " * 200
    pages.answers["http://strip.example/"] = page(whole + html)  # type: ignore[index]
    pages.answers["http://unharmed.example/"] = page(whole)  # type: ignore[index]
    seen = look(without_strips, "http://strip.example/", tmp_path)
    plain = look(without_strips, "http://unharmed.example/", tmp_path)
    assert (seen.strips, plain.strips) == (strips, ())
    assert seen.image is not None
    assert plain.image is not None
    assert (seen.image.sha256 == plain.image.sha256) == bool(strips)
    assert (seen.text == plain.text) == bool(strips)


STYLED = """<!doctype html><meta charset=utf-8><style>
    body { margin: 8px; min-height: 1400px; background: rgba(24, 119, 242, .123456) }
    .g { border: 1px solid green; box-shadow: 0 1px 2px #777 }
    table { border: 1px solid rgba(0, 0, 0, .175) } b::after { content: attr(title) }
    text { position: absolute; display: block }
    div { border: 1px solid #999; background: #eee; padding: 3px }
    i { display: inline-block } i::before { content: "+"; font-family: Icons }
    </style><h1>Styles</h1><p>Lead</p><ul><li>One<li>Two</ul>
    <table style="overflow:auto"><tr style="overflow:scroll"><td>Cell<td>Other</table>
    <div class=a><div class=b></div></div><div class=c><b title=Titled>Bold</b></div>
    <svg width=90 height=20><text y=15>Drawn</text></svg><i class=d></i>
    <p class=e>Text of its own.</p><div style="width:50%;margin:auto" class=f>Half</div>
    <button>Plain</button> <button class=g>Own</button> <input autofocus><textarea>x</textarea>
    <select><option>One</select>
    <input type=checkbox>"""


DRAWINGS = ("sound", "cut", "html", "gone")


HARMS = [
    (".a { margin-top: 9px }", 1, 0),
    (".a { width: 60% }", 1, 0),
    (".b { padding: 6px }", 1, 0),
    (".c { background: none }", 1, 0),
    (".c { background: none; border: 0 }", 1, 0),
    (".d::before { content: none }", 0, 1),
    ("@font-face { font-family: Icons; src: url(gone.woff2) }", 1, 0),
    (".e { position: relative; top: 4px; letter-spacing: 1px }", 1, 0),
    (".e { outline: 2px solid red }", 1, 0),
    (".g { border: 0 }", 1, 0),
    (".g { box-shadow: none }", 1, 0),
    (".e { line-height: 2 } .f { border-radius: 6px }", 2, 0),
    ("", 0, 0),
]


@pytest.mark.parametrize(
    ("style", "restyled", "lost"),
    [
        *(pytest.param(*harm, marks=pytest.mark.browsers) for harm in HARMS),
        pytest.param(" ".join(style for style, _, _ in HARMS), 6, 1, id="all"),
    ],
)
def test_what_a_rule_of_style_changes_is_seen(
    session: Session, pages: Pages, tmp_path: Path, style: str, restyled: int, lost: int
) -> None:
    plain, other = "http://unharmed.example/", "http://styled.example/"
    pages.answers[plain] = page(STYLED)  # type: ignore[index]
    pages.answers[other] = page(f"{STYLED}<style>{style}</style>")  # type: ignore[index]
    found = compare_elements(look(session, plain, tmp_path), look(session, other, tmp_path))
    assert (found.restyled, found.lost, found.added) == (restyled, lost, 0)


@pytest.mark.browsers
def test_elements_are_described_alike_in_every_browser(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    pages.answers["http://unharmed.example/"] = page(STYLED)  # type: ignore[index]
    with opened("chromium", pages) as chromium:
        first = look(chromium, "http://unharmed.example/", tmp_path)
    found = compare_elements(first, look(session, "http://unharmed.example/", tmp_path))
    assert (found.restyled, found.lost, found.added) == (0, 0, 0), found.changes


@pytest.mark.browsers
def test_scroll_bars_take_no_room_in_firefox(pages: Pages, tmp_path: Path) -> None:
    """Nor do they where a page draws its own, as Chromium's do not either."""
    bars = ":root { margin-left: calc(100vw - 100%) } ::-webkit-scrollbar { width: 1rem }"
    styled = STYLED.replace("<style>", f"<style>{bars}")
    pages.answers["http://bars.example/"] = page(styled)  # type: ignore[index]
    seen = []
    for name in ("chromium", "firefox"):
        with opened(name, pages) as session:
            seen.append(look(session, "http://bars.example/", tmp_path))
    assert compare_elements(*seen).changed == 0


@pytest.mark.browsers
def test_a_word_at_the_end_of_a_long_text_is_seen_and_a_number_is_not(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    text = "A text of some length, of which the beginning alone is kept, read by people at 9:05"
    found = []
    for name, words in (("first", text), ("number", text[:-4] + "10:17"), ("word", text + " h")):
        pages.answers[f"http://{name}.example/"] = page(f"<p>{words}")  # type: ignore[index]
        found.append(look(session, f"http://{name}.example/", tmp_path))
    first, number, word = found
    assert compare_elements(first, number).changed == 0
    assert compare_elements(first, word).changed == 2


@pytest.mark.browsers
def test_another_button_that_is_chosen_is_seen(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    buttons = "<p>Pay by<form><input type=radio name=a{}> card <input type=radio name=a{}> cash"
    found = []
    for name, chosen in (("card", (" checked", "")), ("cash", ("", " checked"))):
        pages.answers[f"http://{name}.example/"] = page(buttons.format(*chosen))  # type: ignore[index]
        found.append(look(session, f"http://{name}.example/", tmp_path))
    assert compare_elements(*found).restyled == 2
    assert compare_elements(found[0], found[0]).changed == 0


@pytest.mark.browsers
def test_drawings_that_failed_are_broken_and_those_without_a_size_are_not(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 4'><path d='M0 0h4'/></svg>"
    head = {"Content-Type": "image/svg+xml"}
    for name, body in (("sound", drawing), ("cut", drawing[:40]), ("html", b"<p>Sorry")):
        answer = Answer(body=body, headers=head)
        pages.answers[f"http://drawings.example/{name}.svg"] = answer  # type: ignore[index]
    images = "".join(f"<img src={name}.svg width=40 height=40>" for name in DRAWINGS)
    pages.answers["http://drawings.example/"] = page(images)  # type: ignore[index]
    seen = look(session, "http://drawings.example/", tmp_path)
    boxes = [box for box in seen.boxes if box.tag == "img"]
    broken = {name for name, box in zip(DRAWINGS, boxes, strict=True) if box.text}
    assert broken == {"cut", "html", "gone"}
    assert seen.pictures is not None
    assert (seen.pictures.total, seen.pictures.broken) == (4, 3)


@pytest.mark.browsers
def test_names_of_elements_hide_nothing_of_the_page(session: Session, tmp_path: Path) -> None:
    """HTML, named access on the Document object, and on forms: [LegacyOverrideBuiltIns]."""
    seen = look(session, "http://named.example/", tmp_path)
    assert (seen.outcome, seen.title) == (Outcome.COMPLETE, "names")
    assert not [reason for reason in seen.reasons if "refused" in reason]
    assert seen.text.startswith("words")
    assert seen.styles is not None
    assert seen.styles.sheets == 1
    assert {"p", "form"} <= {box.tag for box in seen.boxes}
    assert len(seen.masked) == 2
    assert seen.image is not None
    assert seen.overlay is not None
    assert (seen.overlay.tag, seen.overlay.identity, seen.overlay.text) == ("form", ".ad", "Accept")
    assert seen.image_without_overlay is not None
    assert seen.image.sha256 != seen.image_without_overlay.sha256


@pytest.mark.browsers
def test_a_page_leaves_nothing_to_the_next(session: Session, tmp_path: Path) -> None:
    for _ in range(2):
        assert "leak" not in look(session, "http://store.example/", tmp_path).text


@pytest.mark.browsers
def test_when_the_page_is_blank_the_one_before_is_left(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    first = len(pages.asked)
    look(session, "http://restless.example/", tmp_path)
    blank: list[int] = []
    session.capture(
        "http://plain.example/",
        pins=PINS,
        folder=tmp_path,
        on_blank=lambda: blank.append(len(pages.asked)),
    )
    [second] = blank
    before, behind = pages.asked[first:second], pages.asked[second:]
    assert "http://restless.example/poll" in before
    assert "http://plain.example/" not in before
    assert "http://plain.example/" in behind
    assert not any("restless" in url for url in behind)


@pytest.mark.browsers
def test_what_is_no_selector_is_named(session: Session, tmp_path: Path) -> None:
    """By the browser, before it asks for a page."""
    masked = ("h1", "p{", "#nowhere", "<b>")
    other = Session(session.name, session._start, viewport=VIEWPORT, masked=masked)
    with other, pytest.raises(ConfigError, match=rf"^{session.name}: .*: 'p{{', '<b>'$"):
        look(other, "http://plain.example/", tmp_path)


@pytest.mark.browsers
@pytest.mark.parametrize(
    ("host", "outcome", "reason"),
    [
        ("alert", Outcome.COMPLETE, "dialog:alert one"),
        ("unload", Outcome.COMPLETE, ""),
        ("close", Outcome.COMPLETE, "close:"),
        ("endless", Outcome.STILL_LOADING, "still loading after 6 s"),
        ("download", Outcome.NOT_A_PAGE, ""),
        ("pdf", Outcome.NOT_A_PAGE, ""),
        ("nothing", Outcome.NOT_A_PAGE, ""),
        ("circle", Outcome.FAILED, ""),
        ("tall", Outcome.COMPLETE, ""),
        ("bare", Outcome.COMPLETE, ""),
        ("nonsense", Outcome.COMPLETE, ""),
        ("hang", Outcome.CUT_OFF, "killed after 25 s"),
    ],
)
def test_a_hostile_page_gives_a_result_and_the_next_is_seen(
    session: Session, tmp_path: Path, host: str, outcome: Outcome, reason: str
) -> None:
    seen = look(session, f"http://{host}.example/", tmp_path)
    if pinned(session):
        assert seen.outcome is outcome, seen.reasons
        assert reason in "; ".join(seen.reasons)
    else:  # it tells nothing of why nothing came
        assert seen.outcome is outcome or seen.reasons
    if host == "tall":
        assert seen.page_height is not None
        assert seen.page_height >= 50_000
        assert seen.image is not None
        assert seen.image.height == LIMITS.height
    after = look(session, "http://plain.example/", tmp_path)
    assert (after.outcome, after.title) == (Outcome.COMPLETE, "plain")


@pytest.mark.browsers
def test_a_page_opens_no_tab_of_its_own_accord(
    session: Session, pages: Pages, tmp_path: Path
) -> None:
    """Nobody clicks: popups are blocked, also those of `a.click()` in a timer."""
    seen = look(session, "http://tabs.example/", tmp_path)
    assert (seen.outcome, seen.text) == (Outcome.COMPLETE, "many")
    opened = [url for url in pages.asked if url.startswith("http://tabs.example/")]
    assert set(opened) <= {"http://tabs.example/", "http://tabs.example/favicon.ico"}, len(opened)


def test_a_browser_that_died_is_replaced_and_nothing_is_left(
    session: Session, tmp_path: Path
) -> None:
    look(session, "http://plain.example/", tmp_path)
    tab = session._tab
    assert tab is not None
    before, started = tab.process_session, session.started
    session._tab.close()  # type: ignore[union-attr]
    assert processes_of(before) == []
    assert look(session, "http://plain.example/", tmp_path).outcome is Outcome.COMPLETE
    assert session.started == started + 1
    assert processes_of(before) == []
