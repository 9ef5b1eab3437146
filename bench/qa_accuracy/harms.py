"""The test's faults: the kinds of qa.md's list, each done otherwise than the training does it.

So are words and strips that were not there: whose they are, no look tells.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from bench.qa_training.recorded import Page, Recorded
from pinakes.qa.compare.arrays_extra import cv2, np

from .changes import PHRASES, after_paragraph, before_end, stripes

Harm = Callable[[Page, random.Random], Page | None]

_NOT_HERE = b"<html><body><h1>410 Gone</h1></body></html>"
LETTERS = (
    "Żółw i jeż; příliš žluťoučký kůň; smørrebrød på ø; Straße über Köln; où êtes-vous, garçon? "
    "El pingüino jugó mañana. Ångström, œuvre, naïveté."
)


def _size(record: Recorded | None) -> tuple[int, int]:
    """Width and height of a picture; nothing for what is none."""
    if record is None:
        return 0, 0
    try:
        decoded = cv2.imdecode(np.frombuffer(record.body, np.uint8), cv2.IMREAD_GRAYSCALE)
    except cv2.error:
        decoded = None
    return (0, 0) if decoded is None else (decoded.shape[1], decoded.shape[0])


def _pictures(page: Page) -> list[str]:
    """Pictures of some size, the largest first."""
    sizes = {url: _size(page.records[url]) for url in page.of_type("image/")}
    large = [url for url, (width, height) in sizes.items() if width >= 90 and height >= 60]
    return sorted(large, key=lambda url: -sizes[url][0] * sizes[url][1])


def embed_missing(page: Page, dice: random.Random) -> Page | None:
    """The archive has an error in the place of one of the largest pictures."""
    pictures = _pictures(page)[:3]
    if not pictures:
        return None
    gone = Recorded(body=_NOT_HERE, media_type="text/html", status=410)
    return page.other({dice.choice(pictures): gone})


def images_missing(page: Page, dice: random.Random) -> Page | None:
    """All pictures are pages that say so, with status 200."""
    del dice
    if len(_pictures(page)) < 2:
        return None
    said = Recorded(body=_NOT_HERE, media_type="text/html")
    return page.other(dict.fromkeys(page.of_type("image/"), said))


def wrong_image(page: Page, dice: random.Random) -> Page | None:
    """Two pictures are in each other's place; a page with one gets one from elsewhere."""
    pictures = _pictures(page)
    if not pictures:
        return None
    if len(pictures) == 1:
        width, height = _size(page.records[pictures[0]])
        drawn = stripes(dice.randrange(1 << 20), width, height)
        return page.other({pictures[0]: Recorded(body=drawn, media_type="image/png")})
    one, other = dice.sample(pictures, 2)
    if dice.random() < 0.5:
        return page.other({one: page.records[other]})
    return page.other({one: page.records[other], other: page.records[one]})


def style_lost(page: Page, dice: random.Random) -> Page | None:
    """Style sheets are there, and empty."""
    del dice
    sheets = page.of_type("text/css")
    nothing = Recorded(body=b"", media_type="text/css")
    return page.other(dict.fromkeys(sheets, nothing)) if sheets else None


def style_half(page: Page, dice: random.Random) -> Page | None:
    """Of the style sheets' rules every second is gone, or the first half."""
    changed: dict[str, Recorded | None] = {}
    for url in page.of_type("text/css"):
        record = page.records[url]
        if record is None:
            continue
        rules = record.body.split(b"}")
        if len(rules) < 12:
            continue
        kept = rules[::2] if dice.random() < 0.5 else rules[len(rules) // 2 :]
        changed[url] = replace(record, body=b"}".join(kept))
    return page.other(changed) if changed else None


def layout(page: Page, dice: random.Random) -> Page | None:
    """A last style sheet that puts things where they do not belong."""
    rules = dice.choice(
        [
            "div,ul,nav,section{display:block!important;float:none!important}li{margin:30px 0}",
            "body{direction:rtl;width:700px}h1,h2,p{position:relative;left:-180px}",
            "p,li,h1,h2,h3,td{line-height:.5!important;margin:0!important}",
            "body>*{max-width:240px!important;overflow:hidden}",
            "p,pre,ul,table{margin-left:45%!important;margin-top:-20px!important}",
        ]
    )
    return page.with_html(before_end(page.html.body, f"<style>{rules}</style>".encode()))


def script_broken(page: Page, dice: random.Random) -> Page | None:
    """Scripts that do not parse."""
    del dice
    scripts = page.of_type("text/javascript", "application/javascript", "application/x-javascript")
    broken = Recorded(body=b"function (", media_type="text/javascript")
    return page.other(dict.fromkeys(scripts, broken)) if scripts else None


def never_revealed(page: Page, dice: random.Random) -> Page | None:
    """What a script should have shown once it had loaded."""
    part = dice.choice(["body>*", "main,article,section,table,p", "body>div"])
    return page.with_html(
        before_end(page.html.body, f"<style>{part}{{visibility:hidden}}</style>".encode())
    )


def encoding(page: Page, dice: random.Random) -> Page | None:
    """Bytes of one encoding that the archive says are of another."""
    html = page.html.body
    try:
        text = html.decode("utf-8")
    except UnicodeDecodeError:
        text = html.decode("latin-1")
    if sum(letter > "\x7f" for letter in re.sub(r"<[^>]*>", "", text)) < 25:
        return None
    plain = re.sub(r"<meta[^>]+charset[^>]*>", "", text)
    if dice.random() < 0.35:
        return page.with_html(
            plain.encode("iso-8859-1", "xmlcharrefreplace"), "text/html; charset=utf-8"
        )
    said = dice.choice(["iso-8859-1", "iso-8859-1", "windows-1250"])
    return page.with_html(plain.encode("utf-8"), f"text/html; charset={said}")


def video(page: Page, dice: random.Random) -> Page | None:
    """A film of which the archive has the first bytes."""
    del dice
    cut = {
        url: Recorded(body=record.body[:60], media_type=record.media_type)
        for url, record in page.records.items()
        if record is not None and record.media_type.startswith("video/")
    }
    return page.other(cut) if cut else None


def overlay(page: Page, dice: random.Random) -> Page | None:
    """A box over more than half of the window that waits for a subscription."""
    height = dice.randint(60, 95)
    box = (
        f"<div style='position:fixed;left:4%;top:2%;width:92%;height:{height}%;background:#fdfdfd;"
        "border:3px solid #a00;z-index:2147483600;font:20px serif;padding:2em'>"
        "<h2>Subscribe to read on</h2><p>You have read three articles this month.</p>"
        "<button>Subscribe</button></div>"
    )
    return page.with_html(before_end(page.html.body, box.encode()))


def consent_strip(page: Page, dice: random.Random) -> Page | None:
    """A strip that asks for consent, at the foot of the window."""
    strip = (
        f"<section role=dialog style='position:fixed;bottom:0;width:100%;height:"
        f"{dice.randint(60, 240)}px;background:{dice.choice(['#fafafa', '#143d2b', '#ffe9a8'])};"
        "border-top:2px solid #777;z-index:2147483000;text-align:center'>"
        "Your privacy matters. <a href='#'>Settings</a> <button>Agree</button></section>"
    )
    return page.with_html(before_end(page.html.body, strip.encode()))


def item_more(page: Page, dice: random.Random) -> Page | None:
    """A few lines more somewhere in the page."""
    lines = "".join(f"<li>{dice.choice(PHRASES)}</li>" for _ in range(dice.randint(1, 5)))
    return page.with_html(
        after_paragraph(page.html.body, f"<ul>{lines}</ul>".encode(), dice.randint(0, 8))
    )


def notice_on_top(page: Page, dice: random.Random) -> Page | None:
    """A notice above all else."""
    notice = (
        f"<div style='padding:{dice.randint(6, 30)}px;background:#d9edf7;color:#123'>"
        f"{dice.choice(PHRASES)}.</div>"
    )
    html = page.html.body
    found = re.search(rb"<body[^>]*>", html, re.IGNORECASE)
    at = found.end() if found else 0
    return page.with_html(html[:at] + notice.encode() + html[at:])


def soft_404(page: Page, dice: random.Random) -> Page | None:
    """A page that regrets, and is answered with status 200."""
    said = dice.choice(
        [
            "<h2>Error 404</h2><p>We could not find the document you asked for.",
            "<h1>Nothing found</h1><p>It seems that there is nothing at this address.",
            "<title>Not Found</title><h1>Not Found</h1><p>The URL was not found on this server.",
        ]
    )
    return _instead(page, said, dice)


def login_wall(page: Page, dice: random.Random) -> Page | None:
    """A members' page."""
    said = (
        "<h2>Members only</h2><p>Please sign in to see this page.</p><form><label>Login <input>"
        "</label><br><label>Password <input type=password></label><br><input type=submit "
        "value='Sign in'></form><p><a href=#>Create an account</a></p>"
    )
    return _instead(page, said, dice)


def _instead(page: Page, said: str, dice: random.Random) -> Page:
    html = page.html.body
    nav = re.search(rb"</(?:nav|header)>", html, re.IGNORECASE)
    if nav and dice.random() < 0.6:
        return page.with_html(html[: nav.end()] + said.encode())
    return page.with_html(b"<!doctype html><body style='margin:3em'>" + said.encode())


def blank(page: Page, dice: random.Random) -> Page | None:
    """A page without anything to be seen."""
    if dice.random() < 0.5:
        return page.with_html(b"<!doctype html><html><body><div id=app></div></body></html>")
    return page.with_html(
        before_end(page.html.body, b"<style>html,body{visibility:hidden!important}</style>")
    )


def truncated(page: Page, dice: random.Random) -> Page | None:
    """The page's record ends early."""
    body = page.html.body
    start = max(0, body.lower().find(b"<body"))
    return page.with_html(body[: start + int((len(body) - start) * dice.uniform(0.15, 0.5))])


HARMS: Mapping[str, Harm] = {
    name.__name__: name
    for name in (
        embed_missing, images_missing, wrong_image, style_lost, style_half, layout, script_broken,
        never_revealed, encoding, video, overlay,
        consent_strip, item_more, notice_on_top, soft_404, login_wall, blank, truncated,
    )
}  # fmt: skip


def lettered(page: Page) -> Page:
    """The page in UTF-8, with a paragraph of letters beyond ASCII."""
    html = page.html.body
    try:
        text = html.decode("utf-8")
    except UnicodeDecodeError:
        text = html.decode("latin-1")
    plain = re.sub(r"<meta[^>]+charset[^>]*>", "", text)
    return page.with_html(
        before_end(plain.encode(), f"<p>{LETTERS}</p>".encode()), "text/html; charset=utf-8"
    )
