"""Drawn captures: the same ones wherever they are drawn.  Pure.

Many hosts with sixty URLs each, in one section, of one to seven captures; one URL of each of the
first hosts has 300.  One capture in seven repeats the body of its URL's previous one.
"""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import NamedTuple

SEED = 20
HOST_URLS = 60
CROWDED_URLS = 200
CROWD = 300
MOST_CAPTURES = 7
REPEATS = 0.14
FILE_CAPTURES = 10_000
RECORD_BYTES = 1100
CRAWL = "drawn"
CDX_11 = " CDX N b a m s k r M S V g"
_FIRST = datetime(2009, 3, 1, tzinfo=timezone.utc)
_MEDIA_TYPES = ("text/html", "text/html", "text/html", "image/png", "application/pdf")


class DrawnCapture(NamedTuple):
    """A capture; `number` counts them in the order of their keys."""

    number: int
    urlkey: str
    url: str
    time: datetime
    media_type: str
    content: bytes

    @property
    def archive_file(self) -> str:
        return f"{CRAWL}/{self.number // FILE_CAPTURES:05d}.warc.gz"

    @property
    def ordinal(self) -> int:
        return self.number % FILE_CAPTURES

    @property
    def offset(self) -> int:
        return self.ordinal * RECORD_BYTES

    @property
    def time_14(self) -> str:
        return f"{self.time:%Y%m%d%H%M%S}"

    @property
    def digest(self) -> str:
        return base64.b32encode(hashlib.sha1(self.content).digest()).decode()

    @property
    def cdx_11(self) -> str:
        return (
            f"{self.urlkey} {self.time_14} {self.url} {self.media_type} 200 {self.digest} - - "
            f"{RECORD_BYTES} {self.offset} {self.archive_file}"
        )


def captures(count: int) -> Iterator[DrawnCapture]:
    """Yield so many captures, sorted by urlkey and time; of few captures, fewer URLs have 300."""
    return islice(_captures(min(CROWDED_URLS, count // (5 * CROWD))), count)


def _captures(crowded_hosts: int) -> Iterator[DrawnCapture]:
    chance = random.Random(SEED)
    number = host = 0
    while True:
        name, site = f"h{host:05d}", f"www-{host % 7}"
        for page in range(HOST_URLS):
            is_crowded = host < crowded_hosts and page == HOST_URLS // 2
            versions = CROWD if is_crowded else chance.randint(1, MOST_CAPTURES)
            path = f"/section/page-{page:02d}.html"
            urlkey, url = f"example,{name},{site}){path}", f"http://{site}.{name}.example{path}"
            media_type = _MEDIA_TYPES[page % len(_MEDIA_TYPES)]
            time = _FIRST + timedelta(seconds=chance.randrange(100_000_000))
            content = b""
            for version in range(versions):
                if not content or chance.random() >= REPEATS:
                    content = b"%d %d %d" % (host, page, version)
                yield DrawnCapture(number, urlkey, url, time, media_type, content)
                time += timedelta(seconds=chance.randrange(60, 1_200_000))
                number += 1
        host += 1
