"""The test's benign changes, made otherwise than the training's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO

from bench.qa_training.recorded import Page, Recorded
from pinakes.qa.compare.arrays_extra import cv2, np

Moving = Callable[[Page, int, random.Random], Page]
Once = Callable[[Page, random.Random], Page | None]

PHRASES = (
    "Tickets for the concert are sold out",
    "Volunteers wanted for the harbour festival",
    "The reading room closes early on Friday",
    "Save up to a third on winter boots",
    "New opening hours from next month",
    "Fresh coffee, delivered to your door",
    "Learn a language in twelve weeks",
)


def stripes(seed: int, width: int, height: int) -> bytes:
    """A drawing of coloured stripes with some letters on it, as PNG."""
    grid = np.random.default_rng(seed)
    bands = grid.integers(30, 230, (1, grid.integers(3, 9), 3)).astype(np.uint8)
    drawn = cv2.resize(bands, (width, height), interpolation=cv2.INTER_NEAREST)
    text = f"No {seed % 1000}"
    cv2.putText(drawn, text, (8, height // 2), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (255, 255, 255), 2)
    out = BytesIO(cv2.imencode(".png", drawn)[1].tobytes())
    return out.getvalue()


def after_paragraph(html: bytes, more: bytes, number: int) -> bytes:
    """With something more behind the paragraph of that number, or at the end."""
    ends = [found.end() for found in re.finditer(rb"</(?:p|div|h1|table)>", html)]
    if not ends:
        return html + more
    at = ends[min(number, len(ends) - 1)]
    return html[:at] + more + html[at:]


def before_end(html: bytes, more: bytes) -> bytes:
    """With something more at the end."""
    at = html.rfind(b"</body")
    return html + more if at < 0 else html[:at] + more + html[at:]


def last_changed(page: Page, state: int, dice: random.Random) -> Page:
    """A line at the foot of the page that says when it was made, and for whom."""
    hour, load = dice.randrange(24), dice.randint(10, 90)
    line = (
        f"<hr><address>Last changed 2024-0{3 + state}-{11 + 5 * state} at {hour:02}:{10 + state}"
        f" &middot; served in {load + 13 * state} ms &middot; visitor {7919 * (state + 3)}"
        "</address>"
    )
    return page.with_html(before_end(page.html.body, line.encode()))


def sponsored(page: Page, state: int, dice: random.Random) -> Page:
    """An advertisement of one of the usual sizes, mostly in a frame."""
    width, height = dice.choice([(320, 100), (300, 600), (970, 90), (336, 280)])
    seed = dice.randrange(1 << 20) * 5 + state
    place, number = "http://sponsor.example/", dice.randint(0, 6)
    records: dict[str, Recorded | None] = {
        place + "art.png": Recorded(body=stripes(seed, width, height), media_type="image/png"),
        place + "unit": Recorded(
            body=f"<body style='margin:0;background:#eee'><img src=/art.png width={width}>"
            f"<p>{PHRASES[seed % 7]}</body>".encode(),
            media_type="text/html",
        ),
    }
    shown = f'<iframe src="{place}unit" width={width} height={height} style="border:0"></iframe>'
    if dice.random() < 0.25:
        shown = f'<img src="{place}art.png" width={width} height={height} alt="advertisement">'
    box = f"<aside style='padding:6px'>{shown}</aside>".encode()
    return page.with_html(after_paragraph(page.html.body, box, number)).other(records)


def rotating(page: Page, state: int, dice: random.Random) -> Page:
    """A large picture that is another at each visit."""
    seed = dice.randrange(1 << 20) * 3 + state
    url = page.url.rsplit("/", 1)[0] + "/rotating-hero.png"
    box = (
        f"<figure style='margin:0'><img src='{url}' style='width:100%;height:280px;"
        f"object-fit:cover' alt=''><figcaption>{PHRASES[seed % 7]}</figcaption></figure>"
    )
    page = page.with_html(after_paragraph(page.html.body, box.encode(), dice.randint(0, 3)))
    return page.other({url: Recorded(body=stripes(seed, 960, 280), media_type="image/png")})


MOVING: Mapping[str, Moving] = {
    "last_changed": last_changed,
    "sponsored": sponsored,
    "rotating": rotating,
}


def fonts_gone(page: Page, dice: random.Random) -> Page | None:
    """Style sheets that name no fonts to be fetched."""
    del dice
    changed: dict[str, Recorded | None] = {}
    for url in page.of_type("text/css"):
        record = page.records[url]
        if record is not None and b"@font-face" in record.body:
            body = re.sub(rb"@font-face\s*\{[^}]*\}", b"", record.body)
            # Icons that are letters of a font would be boxes: that is more than a font.
            if b"icon" not in body.lower() and b"awesome" not in body.lower():
                changed[url] = replace(record, body=body)
    return page.other(changed) if changed else None


def tracker_gone(page: Page, dice: random.Random) -> Page:
    """A picture of one pixel, and a script, of somebody who counts; neither is there."""
    host = f"http://count{dice.randint(1, 9)}.example"
    tags = f'<script src="{host}/t.js" async></script><img src="{host}/p.gif" width=1 height=1>'
    gone: dict[str, Recorded | None] = {host + "/t.js": None, host + "/p.gif": None}
    return page.with_html(before_end(page.html.body, tags.encode())).other(gone)


ONCE: Mapping[str, Once] = {
    "fonts_gone": fonts_gone,
    "tracker_gone": tracker_gone,
}
