"""Faults of the fixed list, put into the records of a page; those of the test are others.

Each takes a page and dice, and gives the page with the fault, or None where it has nothing
that could be harmed so.  Whether one is seen is not said here: looks tell (`pairs`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from bench.qa_training.benign import sentence
from bench.qa_training.html_edits import before_body_end, decoded, in_head, inside
from bench.qa_training.pictures import picture, resized, size_of
from bench.qa_training.recorded import Page, Recorded
from bench.qa_training.style_faults import layout, misplaced, style_halved, style_lost

Fault = Callable[[Page, random.Random], Page | None]

_BODY = re.compile(rb"<body\b", re.IGNORECASE)
_CHARSET = re.compile(r"(<meta[^>]+charset\s*=\s*[\"']?)[\w-]+", re.IGNORECASE)
_MAIN = re.compile(
    rb"(<(main|article|section)\b[^>]*>|<div[^>]+(?:id|class)=\"?(?:main|content|body|document)"
    rb"[^>]*>)",
    re.IGNORECASE,
)


def _large(page: Page) -> list[tuple[str, tuple[int, int]]]:
    """Pictures that a reader would miss, with their size."""
    found = []
    for url in page.of_type("image/"):
        record = page.records[url]
        size = size_of(record.body) if record else None
        if size and size[0] >= 96 and size[1] >= 64:
            found.append((url, size))
    return found


def missing_image(page: Page, dice: random.Random) -> Page | None:
    """One picture is not there."""
    large = _large(page)
    return page.other({dice.choice(large)[0]: None}) if large else None


def missing_images(page: Page, dice: random.Random) -> Page | None:
    """No picture is there."""
    del dice
    return page.other(dict.fromkeys(page.of_type("image/"))) if len(_large(page)) > 1 else None


def wrong_image(page: Page, dice: random.Random) -> Page | None:
    """A picture's record has the bytes of another."""
    large = _large(page)
    if not large:
        return None
    url, size = dice.choice(large)
    others = [page.records[one] for one, _ in large if one != url]
    body = picture(dice.randrange(1 << 30), *size)
    if others and dice.random() < 0.6:
        other = dice.choice(others)
        assert other is not None
        body = other.body
        if dice.random() < 0.5:
            body = resized(body, *size)
    return page.other({url: Recorded(body=body, media_type="image/png")})


def scripts_lost(page: Page, dice: random.Random) -> Page | None:
    """No script is there."""
    del dice
    scripts = page.of_type("text/javascript", "application/javascript", "application/x-javascript")
    return page.other(dict.fromkeys(scripts)) if scripts else None


def script_drawn(page: Page, dice: random.Random) -> Page | None:
    """A page whose contents a script writes, which stopped at an error."""
    body = page.html.body
    found = re.search(rb"<body\b[^>]*>", body, re.IGNORECASE)
    if not found:
        return None
    waiting = b'<div style="padding:40px">Loading...</div>' if dice.random() < 0.5 else b""
    failing = b"<script>undefinedFunction();</script>"
    return page.with_html(body[: found.end()] + waiting + failing + b"</body></html>")


def misread(page: Page, dice: random.Random) -> Page | None:
    """UTF-8 read as if it were of a code page; None where too few letters would show it.

    All of the page, or some words of it: those that were stored so before it was archived.
    """
    text = decoded(page.html.body)
    if sum(character > "\x7f" for character in re.sub(r"<[^>]*>", "", text)) < 25:
        return None
    code_page = dice.choice(["windows-1252"] * 3 + ["windows-1251", "windows-1254", "mac_roman"])
    share = 1.0 if dice.random() < 0.6 else dice.uniform(0.1, 0.6)

    def misread_run(run: re.Match[str]) -> str:
        return run[0].encode().decode(code_page, "replace") if dice.random() < share else run[0]

    wrong = re.sub(r"[^\x00-\x7f]+", misread_run, text)
    if wrong == text:
        return None
    return page.with_html(_CHARSET.sub(r"\1utf-8", wrong).encode(), "text/html; charset=utf-8")


def film_lost(page: Page, dice: random.Random) -> Page | None:
    """Films are not there."""
    del dice
    films = page.of_type("video/", "audio/")
    return page.other(dict.fromkeys(films)) if films else None


def covered(page: Page, dice: random.Random) -> Page | None:
    """Something lies over all of the page."""
    alpha = dice.choice(["0.6", "0.85", "1"])
    box = (
        f'<div style="position:fixed;inset:0;background:rgba(0,0,0,{alpha});z-index:99999">'
        '<div style="margin:15% auto;width:480px;background:#fff;color:#000;padding:40px">'
        f"<h2>{sentence(dice, 4)}</h2><p>{sentence(dice, 20)}</p><button>OK</button></div></div>"
    )
    return page.with_html(before_body_end(page.html.body, box.encode()))


def soft_404(page: Page, dice: random.Random) -> Page | None:
    """A page that says there is none, with status 200; within the site's own frame or not."""
    words = dice.choice(
        [
            "<h1>404 Not Found</h1><p>The requested page could not be found.</p>",
            "<h1>Page not found</h1><p>Sorry, the page you are looking for does not exist.</p>",
            "<h1>Oops!</h1><p>This page is no longer available.</p><a href=/>Home</a>",
        ]
    )
    return _replaced(page, words, dice)


def login_wall(page: Page, dice: random.Random) -> Page | None:
    """A form to log in with, in the page's place."""
    name = dice.choice(["E-mail", "Username", "Customer number"])
    words = (
        f"<h1>{dice.choice(['Log in', 'Sign in to continue', 'Please log in'])}</h1><form>"
        f"<p>{name} <input name=u></p><p>Password <input type=password></p>"
        "<p><button>Log in</button></p><a href=#>Forgot your password?</a></form>"
    )
    return _replaced(page, words, dice)


def _replaced(page: Page, words: str, dice: random.Random) -> Page:
    body = page.html.body
    found = _MAIN.search(body)
    if found and dice.random() < 0.5:
        head = body[: found.end()]
        return page.with_html(head + words.encode() + b"</body></html>")
    head = _BODY.split(body, maxsplit=1)[0]
    if dice.random() < 0.5 or len(head) == len(body):
        head = b"<html><head><title>-</title></head>"
    return page.with_html(head + b"<body>" + words.encode() + b"</body></html>")


def blank(page: Page, dice: random.Random) -> Page | None:
    """Nothing is shown."""
    if dice.random() < 0.5:
        return page.with_html(b"<html><head></head><body></body></html>")
    return page.with_html(in_head(page.html.body, b"<style>body{display:none!important}</style>"))


def truncated(page: Page, dice: random.Random) -> Page | None:
    """The page ends before its end."""
    body = page.html.body
    begin = re.search(rb"<body\b", body, re.IGNORECASE)
    start = begin.end() if begin else 0
    return page.with_html(body[: start + int((len(body) - start) * dice.uniform(0.1, 0.6))])


def image_truncated(page: Page, dice: random.Random) -> Page | None:
    """A picture ends before its end."""
    large = [url for url, _ in _large(page)]
    if not large:
        return None
    url = dice.choice(large)
    record = page.records[url]
    assert record is not None
    cut = record.body[: int(len(record.body) * dice.uniform(0.15, 0.5))]
    return page.other({url: replace(record, body=cut)})


FAULTS: Mapping[str, Fault] = {
    "missing_image": missing_image,
    "missing_images": missing_images,
    "wrong_image": wrong_image,
    "style_lost": style_lost,
    "style_halved": style_halved,
    "layout": layout,
    "misplaced": misplaced,
    "scripts_lost": scripts_lost,
    "script_drawn": script_drawn,
    "misread": misread,
    "film_lost": film_lost,
    "covered": covered,
    "soft_404": soft_404,
    "login_wall": login_wall,
    "blank": blank,
    "truncated": truncated,
    "image_truncated": image_truncated,
}
"""By kind; their own names, since the test's are made otherwise."""

ACCENTS = (
    "Après l'été, les élèves préfèrent où déjà la forêt paraît brûlée: ça, c'était très "
    "évident. Größe, Äpfel und Übermut; niño, año, mañana; żółć, gęś, jaźń; naïve café."
)


def accented(page: Page, dice: random.Random) -> Page:
    """The page in UTF-8, with a paragraph of letters beyond ASCII."""
    text = _CHARSET.sub(r"\1utf-8", decoded(page.html.body))
    html = inside(text.encode("utf-8"), f"<p>{ACCENTS}</p>".encode(), dice)
    return page.with_html(html, "text/html; charset=utf-8")
