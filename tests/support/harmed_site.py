"""A site crawled twice and deduplicated; and one of its revisits pointed elsewhere by hand."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from ingest_processes import call
from landed_stores import page

SITE = "http://example.org"
PAGES = 6
_HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_PNG = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
DATES = ("2020-01-02T03:04:05Z", "2021-01-02T03:04:05Z")


def picture(number: int) -> bytes:
    """Noise, of which each picture has its own."""
    dice = np.random.default_rng(number)
    encoded: bytes = cv2.imencode(".png", dice.integers(0, 255, (90, 120, 3), np.uint8))[
        1
    ].tobytes()
    return encoded


def write_crawl(folder: Path, date: str) -> None:
    """Pages with a picture each; the pictures are those of every crawl, the words are not."""
    folder.mkdir(parents=True)
    records = []
    for number in range(PAGES):
        html = f"<title>{number}</title><p>On {date}, page {number}<img src=/{number}.png>"
        records.append(page(f"{SITE}/{number}", html.encode(), date=date, head=_HTML))
        records.append(page(f"{SITE}/{number}.png", picture(number), date=date, head=_PNG))
    # Not compressed, so that a byte can be changed by hand.
    (folder / "site.warc").write_bytes(gzip.decompress(b"".join(records)))


def make_store(folder: Path) -> None:
    """Both crawls, deduplicated, in the store that `pinakes` finds in this folder."""
    for name, date in zip("ab", DATES, strict=True):
        write_crawl(folder / name, date)
    words = [["init"], *(["ingest", name, "--crawl", name] for name in "ab"), ["dedupe", "--all"]]
    for verb in words:
        done = call(folder, *verb)
        assert done.returncode == 0, done.stderr


def harm(folder: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the file that was deduplicated, by hand."""
    [file] = (folder / "pinakes-store").rglob("g2/site.warc")
    content = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(change(content))


def point_elsewhere(folder: Path) -> None:
    """The revisit of page 1's picture refers to that of page 2."""
    old, new = (f"Refers-To-Target-URI: {SITE}/{number}.png".encode() for number in (1, 2))

    def change(content: bytes) -> bytes:
        assert content.count(old) == 1
        return content.replace(old, new)

    harm(folder, change)
