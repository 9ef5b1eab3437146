"""A small site of our own, in two editions: what the demo crawls.

Everything is made from fixed seeds: pages, styles and images are the same on every machine.
Between the editions every seventh scroll is corrected, the front page names a new scroll, and
that scroll is added.  Some pictures lie under two URLs, as pictures do.
"""

from __future__ import annotations

import random
import struct
import zlib

SHELVES, SCROLLS, PICTURES = 6, 36, 12
HOST = "http://library.example.org"
WORDS = (
    "author bears book by catalogue copy corrected first found from hand in ink is it lies lines "
    "lost known margin name of on papyrus read roll scribe second shelf that the their third "
    "title to two under verse was were which whose with work written"
)
STYLE = (
    "body{font:18px/1.5 serif;max-width:44em;margin:2em auto}img{float:right;margin:0 0 1em 1em}"
)


def edition(number: int) -> dict[str, bytes]:
    """Return the site's files by path, as first (1) or second (2) published."""
    scrolls = range(1, SCROLLS + number)
    files = {"/": front(number), "/robots.txt": b"User-agent: *\nAllow: /\n"}
    files["/style.css"] = "".join(
        f".s{n}{{color:#{n:02x}3355}}{STYLE}\n" for n in range(40)
    ).encode()
    for shelf in range(1, SHELVES + 1):
        inside = [n for n in scrolls if n % SHELVES == shelf % SHELVES]
        files[f"/shelf/{shelf}.html"] = page(f"Shelf {shelf}", links("scroll", inside))
    for n in scrolls:
        files[f"/scroll/{n}.html"] = scroll(n, corrected=number > 1 and n % 7 == 0)
        files[f"/picture/{n}.png"] = picture(n % PICTURES)
    return files


def front(number: int) -> bytes:
    """Return the front page."""
    news = "" if number == 1 else f'<p>New: <a href="/scroll/{SCROLLS + 1}.html">one more</a></p>'
    return page("The catalogue", news + links("shelf", range(1, SHELVES + 1)))


def scroll(n: int, *, corrected: bool) -> bytes:
    """Return the page about scroll `n`, with some kilobytes of text that only it has."""
    draw = random.Random(n)  # noqa: S311
    text = "".join(f"<p>{' '.join(draw.choices(WORDS.split(), k=120))}.</p>\n" for _ in range(8))
    note = "<p>Corrected: the fourth line was the fifth.</p>\n" if corrected else ""
    return page(f"Scroll {n}", f'<img src="/picture/{n}.png" alt="">\n{text}{note}')


def links(kind: str, numbers: range | list[int]) -> str:
    """Return a list of links to pages of a kind."""
    items = (f'<li><a href="/{kind}/{n}.html">{kind} {n}</a></li>\n' for n in numbers)
    return f"<ul>\n{''.join(items)}</ul>\n"


def page(title: str, body: str) -> bytes:
    """Return an HTML page."""
    head = f'<title>{title}</title>\n<link rel="stylesheet" href="/style.css">'
    return f"<!DOCTYPE html>\n{head}\n<h1>{title}</h1>\n{body}".encode()


def picture(seed: int, side: int = 96) -> bytes:
    """Return a PNG of coloured noise, `side` pixels square."""
    draw = random.Random(seed)  # noqa: S311
    rows = b"".join(b"\0" + draw.randbytes(side * 3) for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(kind, data) for kind, data in chunks)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG: length, kind, data, CRC."""
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
