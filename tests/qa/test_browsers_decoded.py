"""What two browsers know exactly of a page: numbers, decoded pictures, drawings, canvases."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from zlib import crc32

import comparing  # noqa: F401
import pytest
from loopback_proxy import Answer, Pages, page
from review_scene import png
from two_browsers import TwoBrowsers, two_browsers

from pinakes.qa.browsers.page_scripts import Limits, Pins
from pinakes.qa.browsers.session import Session, open_browser
from pinakes.qa.browsers.tab import Viewport
from pinakes.qa.compare.elements import compare_elements
from pinakes.qa.compare.texts import compare_texts
from pinakes.qa.snapshot import Outcome, Snapshot

for name in ("cryptography", "selenium"):
    pytest.importorskip(name, reason="the extra qa is not here: make dev-qa")

pytestmark = pytest.mark.browsers
PINS = Pins(clock=datetime(2009, 5, 6, 7, 8, 9, tzinfo=timezone.utc), seed=7)
LIMITS = Limits(load_s=6, page_s=25, quiet_s=2)
SVG = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 40 20'>"
    "<rect width='{}' height='20'/></svg>"
)
PNG = {"Content-Type": "image/png"}
RED, HALF = (
    Answer(body=png([b"\xc8\x1e\x1e" * 20] * 10 + [low * 20] * 10), headers=PNG)
    for low in (b"\xc8\x1e\x1e", b"\x1e\x1e\xc8")
)
DARK = png([b"\x19\x1a\x1b" * 20] * 20)


def of_gamma(gamma: float) -> Answer:
    """With a gAMA chunk behind the first (PNG, third edition, §11.3.2.2)."""
    chunk = b"gAMA" + round(gamma * 100_000).to_bytes(4, "big")
    more = (4).to_bytes(4, "big") + chunk + crc32(chunk).to_bytes(4, "big")
    return Answer(body=DARK[:33] + more + DARK[33:], headers=PNG)


WIDE, NARROW = (
    Answer(body=SVG.format(width).encode(), headers={"Content-Type": "image/svg+xml"})
    for width in (40, 20)
)
PLAIN = """<!doctype html><meta charset=utf-8><style>
    div { background: #eee url(/red.png); width: 30px; height: 30px }
    table { transform: perspective(500px) rotateX(.01deg); vertical-align: bottom }
    i { background-image: url(/red.png), url(/wide.svg); background-position: -4px 0 }
    i { width: 9px; height: 9px; display: inline-block }
    canvas { border: 1px solid }
    @font-face { font-family: Own; src: url(/own.ttf) } .own { font-family: Own }
    .dots button::before { content: "•"; color: red } li::marker { color: red }
    .mark::before { content: ""; display: inline-block; width: 9px; height: 9px; background: green }
    .icon::before { content: ""; padding: 4px; background: url(/red.png) -4px 0 }
    input { width: 50%; border: 1px solid #999 }
    .go { background: #337ab7; color: #fff; border: 1px solid #123 }</style>
    <p>Total 30.00 <p>A text so long that its end is kept as a few letters alone: it has cost 47.11
    <p>It took 0.013 s until 7:08:09 <p id=counting>0
    <p><img src=/gamma.png> <img src=/red.png width=24 height=24>
    <img src=/wide.svg width=40 height=20>
    <img src=http://other.example/red.png width=16 height=16> <i></i><div></div>
    <table><tr><td>Cell</table>
    <svg width=200 height=90><rect x=5 y=5 width=40 height=60 fill=green stroke=none />
    <line x1=60 y1=5 x2=190 y2=5 stroke=orange stroke-width=2 />
    <text x=60 y=60 fill=navy>Drawn</text>
    <defs><path d="M0 0h9v9z" id=d /></defs><use href=#d x=20 y=70 /></svg>
    <svg width=60 height=60><circle id=moving r=9 cx=9 cy=30 /></svg>
    <p class=own>Web font <p class=dots><button></button> <p class=mark>Mark <ul><li>Item</ul>
    <p class=icon>Icon <p><input> <button class=go>Go</button>
    <a href=#><img src=/red.png width=30 height=30></a>
    <svg width=20 height=20><use href="/icons.svg#star" /></svg>
    <canvas width=400 height=200 id=chart></canvas><canvas width=40 height=40 id=busy></canvas>
    <script>
      const pen = chart.getContext("2d"), other = busy.getContext("2d");
      pen.font = "14px sans-serif"; pen.strokeRect(20.5, 10.5, 360, 160);
      for (let n = 0; n < 6; n++) pen.fillText("Label " + n, 30 + 60 * n, 190);
      pen.fillStyle = "rgba(237, 194, 64, 0.4)"; pen.fillRect(60, 80, 40, 90); /* mark */
      let n = 0;
      setInterval(() => {
        counting.textContent = ++n; moving.setAttribute("cx", 9 + n % 40);
        other.fillStyle = `hsl(${29 * n} 90% 50%)`; other.fillRect(0, 0, 40, 40);
      }, 20);
    </script>"""


ICONS = Answer(
    body=b"<svg xmlns='http://www.w3.org/2000/svg'><symbol id='star'><rect width='9' height='9'/>"
    b"</symbol><symbol id='moon'><circle r='9'/></symbol></svg>",
    headers={"Content-Type": "image/svg+xml"},
)
LAID_OUT = {
    "centred": """<center><table border=1><tr><td>Centred<td>by letters</table></center>
        <table align=center><tr><td>Aligned</table>
        <h1 style="width:max-content;margin:auto">Auto</h1>
        <p style="display:flex"><b style="margin-left:auto">Pushed</b><p style="margin:0 5%">5%
        <fieldset><legend align=center>Legend</legend></fieldset>""",
    "chosen by letters": """<!doctype html><div id=axis style="position:relative;height:2em"></div>
        <svg width=900 height=60 id=chart></svg><script>
        for (const font of ["16px serif", "16px sans-serif"]) {
          let end = 0;
          for (let n = 0; n < 12; n++) {
            const x = 60 * n, isLeftOut = n === (navigator.userAgent.includes("Firefox") ? 5 : 7);
            if (isLeftOut) continue;
            const style = `position:absolute;left:${x}px;font:${font}`;
            axis.innerHTML += `<span style="${style}">${10 * n}</span>`;
            chart.innerHTML += `<text x=${x} y=20 style="font:${font}">Group ${n}</text>` +
              `<path d="M${x} 30v20" stroke=red fill=none />`;
          }
        }</script>""",
    "turned": """<!doctype html><p
        style="transform:rotate(30deg) translate(-50%);position:absolute;left:40%;top:40%">Turned by
        letters</p>
        <svg width=90 height=90><text
        transform="translate(20 60) rotate(-89.9)">Axis</text></svg>""",
    "frames": """<html><frameset cols="200,*"><frame src=/menu><frame src=/menu scrolling=no>
        </frameset></html>""",
    "not drawn": """<!doctype html><img src=/red.png usemap=#m width=50 height=50><map name=m><area
        shape=rect coords=0,0,9,9 href=x></map><iframe style="display:block"></iframe>
        <ruby>K<rt>r</rt></ruby><math><mi>m</mi></math>
        <canvas>not<div style="color: red">supported</div></canvas>
        <svg width=50 height=50><path d="M5 5h9v9z" transform="scale(1 0)" /><path d="M5 5h9v9z"
        stroke=red stroke-opacity=0 fill=none /></svg>
        <video src=/film.mp4 width=90 height=60></video>""",
    "controls": """<!doctype html><select><option>Chosen<option>Other</select>
        <input type=image src=/no.png>
        <select disabled><option>One</select><button disabled>Off</button><textarea disabled>
        </textarea><input autofocus style="border:1px solid #999">
        <style>:focus { border-color: red !important }</style>""",
    "put away": """<!doctype html><p>Seen<div style="overflow:hidden;position:relative;width:2px">
        <textarea style="position:absolute;width:1px" id=t></textarea><script>
        if (navigator.userAgent.includes("Firefox")) t.style.width = "900px"</script></div>""",
    "scaled": """<!doctype html><svg viewBox="0 0 500 500" width=500 height=500
        style="width:750px;height:300px">
        <rect x=10 y=20 width=300 height=90 /></svg><p style="transform:rotate3d(1,1,0,45deg)">
        <svg viewBox="0 0 40 40" width=100 height=100><circle cx=20 cy=20 r=9 /></svg>""",
    "generated": """<!doctype html><p title=Titled>Text
        <style>p::after { content: attr(title) " so" }""",
    "scaled pictures": """<!doctype html><canvas id=a width=200 height=150></canvas>
        <canvas id=b width=200 height=150></canvas><script>
        let pen = a.getContext("2d");
        for (let x = 0; x < 200; x += 7) for (let y = 0; y < 150; y += 7) pen.fillRect(x, y, 3, 4);
        pen = b.getContext("2d");
        pen.imageSmoothingEnabled = false;
        pen.drawImage(a, 0, 0, 40, 30, 10.5, 20.3, 170, 111);
        pen.scale(.37, .61);
        pen.drawImage(a, 0, 0);</script>""",
    "measured": """<!doctype html><canvas id=a width=400 height=150></canvas><div
        style="position:relative"><canvas id=b width=400 height=150></canvas><span id=s
        style="position:absolute;left:9px;top:9px">Label</span></div><script>
        const by = navigator.userAgent.includes("Firefox") ? 1 : 0;
        let pen = a.getContext("2d");
        pen.fillText("Label", 9, 20);
        pen.fillRect(pen.measureText("Label").width * 0 + 40 + by, 30, 50, 80);
        pen = b.getContext("2d");
        pen.fillRect(60 + by, 30, 50, 80);</script>""",
    "rules": """<!doctype html><hr><hr noshade><hr size=5><hr size=1 noshade width=50%><hr
        color=red><hr align=left width=90><hr style="height:1px;border:0;background:red">
        <font color=red><hr></font><table><tr><td>A<hr></table>""",
    "filtered": """<!doctype html><img width=240 height=240 src="data:image/svg+xml,<svg
        xmlns='http://www.w3.org/2000/svg' viewBox='0 0 240 240'><filter id='f'><feDiffuseLighting
        surfaceScale='9'><fePointLight x='60' y='60' z='50'/></feDiffuseLighting></filter><circle
        cx='120' cy='120' r='70' fill='%23fa0' filter='url(%23f)'/></svg>">""",
    "faded in": """<!doctype html><p id=late style="opacity:0">Late<script>
        let n = 0;
        const fade = () => { late.style.opacity = n / 20; if (n++ < 20) setTimeout(fade, 40); };
        fade();</script>""",
}  # fmt: skip
"""Pages of which a browser reports otherwise what layout, or the browser itself, makes of them."""
_A_LABEL = 0.1
"""The share of the words that one missing label may be."""


@pytest.fixture(scope="module")
def browsers() -> Iterator[TwoBrowsers]:
    answers = {
        "http://site.example/red.png": RED, "http://site.example/half.png": HALF,
        "http://site.example/wide.svg": WIDE, "http://site.example/narrow.svg": NARROW,
        "http://other.example/red.png": RED, "http://site.example/gamma.png": of_gamma(0.55),
        "http://site.example/linear.png": of_gamma(1),
        "http://site.example/own.ttf": Answer(body=font(), headers={"Content-Type": "font/ttf"}),
        "http://site.example/icons.svg": ICONS,
        "http://site.example/menu": page("<body bgcolor=#eee><p>Menu"),
    }  # fmt: skip
    with two_browsers(answers, LIMITS) as found:
        yield found


@pytest.fixture(scope="module")
def first(browsers: TwoBrowsers, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    pages, chromium, _ = browsers
    return look(pages, chromium, PLAIN, tmp_path_factory.mktemp("first"))


def font() -> bytes:
    """Any font of this machine."""
    listed = subprocess.run(
        ["fc-match", "-f", "%{file}", "DejaVu Sans"], capture_output=True, text=True, check=True
    )
    return Path(listed.stdout).read_bytes()


def look(pages: Pages, session: Session, html: str, folder: Path) -> Snapshot:
    pages.answers["http://site.example/"] = page(html)  # type: ignore[index]
    return session.capture("http://site.example/", pins=PINS, folder=folder)


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("", "", []),
        ("30.00", "36.00", ["<p> “Total 36.00” was “Total 30.00”"]),
        ("47.11", "47.71", ["<p> “A text so long"]),
        ("0.013 s until 7:08:09", "0.027 s until 7:08:11", []),
        ("img src=/red.png", "img src=/half.png", ["<img> “20x20” shows something else"]),
        ("src=/gamma.png", "src=/linear.png", ["<img> “20x20” shows something else"]),
        ("src=/wide.svg", "src=/narrow.svg", ["<img> shows something else"]),
        ("-4px 0", "-4px -10px",
         ["<i> has another background picture red.png at -4px 0px → red.png at -4px -10px"]),
        ("url(/red.png)", "url(/half.png)",
         ["<div> has another background picture red.png → half.png", "<div> shows something else"]),
        ("url(/red.png); width", "url(/gone/red.png); width", ["<div> shows something else"]),
        ("fill=green", "fill=olive", ["<rect> of a drawing is painted"]),
        ("height=60 fill", "height=40 fill", ["<rect> of a drawing is at 5 5 40 40"]),
        ("stroke=orange", "stroke=blue", ["<line> of a drawing is painted"]),
        ("fill=navy", "fill=red", ["<text> “Drawn” has another paint"]),
        ("<use", "<use fill=red", ["<use> of a drawing is painted"]),
        ("40, 90); /* mark */", "40, 60);", ["<canvas> shows something else"]),
        ("/own.ttf", "/gone.ttf", ["<p> “Web font” has another font own of the page → own"]),
        ("@font-face", "@font-lost", ["<p> “Web font” has another font own of the page → own"]),
        ("color: red } li", "color: blue } li", ["<button> has another ::before"]),
        ("li::marker { color: red", "li::marker { color: blue", ["<li> “Item” has another marker"]),
        ("background: green", "background: olive", ["<p> “Mark” has another ::before"]),
        ("4px; background: url(/red.png) -4px", "4px; background: url(/red.png) -8px",
         ["<p> “Icon” has another ::before"]),
        ("input { width: 50%", "input { width: 40%", ["<input> has another width 50% → 40%"]),
        ("#337ab7", "#c33", ["<button> has another background"]),
        ("<a href", "<a style='opacity:.5' href", ["<img> “20x20” has another opacity 1 → 0.5"]),
        ("<a href", "<a style='filter:grayscale(1)' href", ["<img> “20x20” has another layout"]),
        ("#star", "#moon", ["<use> of a drawing is painted"]),
        ("/* mark */", "pen.fillStyle = 'black'; pen.fillRect(200, 40, 9, 9);",
         ["<canvas> shows something else"]),
    ],
    ids=["unaltered", "number", "late number", "time", "picture", "gamma", "drawing as a picture",
         "icon", "background", "lost background", "fill", "height", "stroke", "text",
         "use", "bar", "lost font", "lost rule of a font", "dot of a button", "marker",
         "mark of a rule", "icon of a rule", "narrower field", "button", "fainter", "filtered",
         "icon of a file", "mark"],
)  # fmt: skip
def test_a_small_fault_is_found_across_browsers_and_nothing_else(
    browsers: TwoBrowsers, first: Snapshot, tmp_path: Path,
    was: str, now: str, said: list[str],
) -> None:  # fmt: skip
    pages, _, firefox = browsers
    seen = look(pages, firefox, PLAIN.replace(was, now, 1), tmp_path)
    found = compare_elements(first, seen)
    whats = [change.what for change in found.changes if " px " not in change.what]
    assert len(whats) == len(said) == found.changed, whats
    assert all(what.startswith(start) for what, start in zip(whats, said, strict=True)), whats


@pytest.mark.parametrize("html", LAID_OUT.values(), ids=LAID_OUT)
def test_what_browsers_make_of_a_page_is_no_difference(
    browsers: TwoBrowsers, tmp_path: Path, html: str
) -> None:
    pages, *sessions = browsers
    seen = [look(pages, session, html, tmp_path) for session in sessions]
    assert all(one.boxes for one in seen)
    assert compare_elements(*seen).changed == 0, compare_elements(*seen).changes
    assert compare_texts(*(one.text for one in seen)).gone < _A_LABEL


def test_a_drawing_that_is_the_page_and_a_page_in_xml_are_seen(
    browsers: TwoBrowsers, tmp_path: Path
) -> None:
    pages, *sessions = browsers
    pages.answers["http://drawing.example/"] = WIDE  # type: ignore[index]
    xml = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{SVG.format(40)}</body></html>'
    pages.answers["http://xml.example/"] = Answer(  # type: ignore[index]
        body=xml.encode(), headers={"Content-Type": "application/xhtml+xml"}
    )
    for host in ("drawing", "xml"):
        url = f"http://{host}.example/"
        seen = [one.capture(url, pins=PINS, folder=tmp_path) for one in sessions]
        assert [one.outcome for one in seen] == [Outcome.COMPLETE] * 2
        assert [one.shapes_total for one in seen] == [1, 1], [one.reasons for one in seen]
        assert compare_elements(*seen).changed == 0


def test_one_browser_is_spared_what_only_two_are_compared_by(
    browsers: TwoBrowsers, tmp_path: Path
) -> None:
    pages, *_ = browsers
    own = "/native code/.test(CanvasRenderingContext2D.prototype.fillText)"
    low = (
        f"<script>document.title = {own} ? 'its own' : 'wrapped'</script>{PLAIN}"
        "<p style='height:5000px'><p><img src=/red.png>"
    )
    pages.answers["http://site.example/"] = page(low)  # type: ignore[index]
    with open_browser("chromium", pages.proxy, Viewport(), limits=Limits(across=False)) as one:
        seen = one.capture("http://site.example/", pins=PINS, folder=tmp_path)
    assert seen.shapes == ()
    assert seen.title == "its own"
    is_decoded = {box.rect.y > 4000 for box in seen.boxes if box.decoded is not None}
    assert is_decoded == {True}  # only what is below the image
