"""Pages of made-up sites: much alike within a site, as a dictionary needs them."""

from __future__ import annotations

import random

from archive_builders import warc

HTML = b"HTTP/1.1 200 OK\r\nServer: made-up\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
IMAGE = b"HTTP/1.1 200 OK\r\nServer: made-up\r\nContent-Type: image/png\r\n\r\n"


def words(draw: random.Random, count: int) -> bytes:
    """So many words, of a thousand."""
    return b" ".join(b"word%03d" % draw.randrange(1000) for _ in range(count))


def page(number: int, *, draw: random.Random, template: bytes) -> bytes:
    """A response: what all pages of the site have, and words of its own."""
    return warc(HTML + template + b"<p>" + words(draw, 40) + b"</html>", number=number)


def pages(count: int, *, seed: int = 1) -> list[bytes]:
    """The pages of a site."""
    draw = random.Random(seed)
    template = b"<!doctype html><html><head><title>" + words(draw, 150) + b"</head>"
    return [page(number, draw=draw, template=template) for number in range(count)]


def images(count: int, *, size: int = 3000, seed: int = 2) -> list[bytes]:
    """Responses that no compression makes smaller, but for their heads."""
    draw = random.Random(seed)
    return [warc(IMAGE + draw.randbytes(size), number=10_000 + n) for n in range(count)]
