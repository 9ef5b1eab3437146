"""A site of ordinary weight, crawled twice, for the bench of rendering QA.

Each page has some 40 KB of HTML, a style sheet of 60 KB that all share, a script, and ten
pictures of 30 to 150 KB, four of which all pages share.  The second crawl has the same bytes,
as most of a crawl has, and other words on each page.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from bench.cases import pinakes
from bench.measure import run_step

SITE = "http://www.pages.example"
DATES = ("2024-03-01T12:00:00Z", "2025-03-01T12:00:00Z")
CRAWLS = ("first", "second")
_SHARED = 4
_OWN = 6
_WORDS = (
    *("archive", "library", "page", "crawl", "record", "digest", "index", "capture", "reader"),
    *("harvest", "link", "image", "style", "collection", "catalogue", "preserve", "render"),
    *("revisit", "payload", "shelf", "window", "reading", "room", "history", "a", "of", "the"),
)


def make_store(folder: Path, pages: int) -> None:
    """Both crawls, landed and deduplicated, in the store that `pinakes` finds in this folder.

    Raises CommandFailed.
    """
    for name, date in zip(CRAWLS, DATES, strict=True):
        (folder / name).mkdir(parents=True)
        with (folder / name / "site.warc.gz").open("wb") as file:
            for member in _members(pages, date):
                file.write(member)
    verbs = [["init"], *(["ingest", name, "--crawl", name] for name in CRAWLS), ["dedupe", "--all"]]
    for verb in verbs:
        run_step(pinakes(*verb), folder)


def _members(pages: int, date: str) -> Iterator[bytes]:
    yield _record(f"{SITE}/style.css", "text/css", _sheet(), date)
    yield _record(f"{SITE}/script.js", "text/javascript", b"document.title += '.';", date)
    for number in range(_SHARED):
        yield _record(f"{SITE}/shared-{number}.jpg", "image/jpeg", _picture(number), date)
    for page in range(pages):
        yield _record(f"{SITE}/{page}", "text/html; charset=utf-8", _html(page, date), date)
        for number in range(_OWN):
            picture = _picture(1_000 + page * _OWN + number)
            yield _record(f"{SITE}/{page}-{number}.jpg", "image/jpeg", picture, date)


def _html(page: int, date: str) -> bytes:
    dice = random.Random(f"{page} {date}")
    pictures = [f"shared-{number}.jpg" for number in range(_SHARED)]
    pictures += [f"{page}-{number}.jpg" for number in range(_OWN)]
    parts = [
        "<!doctype html><html lang=en><head>",
        f"<title>Page {page}</title><link rel=stylesheet href=/style.css>",
        "<script src=/script.js></script></head><body><header class=c1><h1>Pages</h1></header>",
    ]
    for number, picture in enumerate(pictures):
        words = " ".join(dice.choices(_WORDS, k=520))
        parts.append(f"<section class=c{number + 2}><h2>Part {number}</h2>")
        parts.append(f"<img src=/{picture} width=400 height=300 alt=picture><p>{words}</section>")
    return "\n".join((*parts, "</body></html>")).encode()


def _sheet() -> bytes:
    dice = random.Random("sheet")
    rules = ["body { font: 16px sans-serif; max-width: 60em; margin: 0 auto } img { float: left }"]
    while sum(map(len, rules)) < 60_000:
        colour = f"#{dice.randrange(1 << 24):06x}"
        rules.append(
            f".c{len(rules)} {{ border-top: 2px solid {colour}; padding: 4px; clear: both }}"
        )
    return "\n".join(rules).encode()


def _picture(seed: int) -> bytes:
    """Shapes and grain, as photographs compress."""
    import cv2
    import numpy as np

    dice = np.random.default_rng(seed)
    coarse = dice.integers(0, 255, (8, 12, 3), np.uint8)
    image = cv2.resize(coarse, (800, 600), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    image += dice.integers(-12, 12, image.shape, np.int16)
    quality = [cv2.IMWRITE_JPEG_QUALITY, 60 + seed % 25]
    return bytes(
        cv2.imencode(".jpg", np.clip(image, 0, 255).astype(np.uint8), quality)[1].tobytes()
    )


def _record(uri: str, media_type: str, body: bytes, date: str) -> bytes:
    from pinakes.warc.write import compress_member, format_header, name_record, record_pieces

    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    block = head.encode() + body
    fields = [
        ("WARC-Type", "response"),
        ("WARC-Record-ID", name_record(uri, date)),
        ("WARC-Target-URI", uri),
        ("WARC-Date", date),
        ("Content-Type", "application/http; msgtype=response"),
        ("Content-Length", str(len(block))),
    ]
    return compress_member(b"".join(record_pieces(format_header(fields), (block,))), level=1)
