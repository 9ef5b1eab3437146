"""Memento TimeMaps: the captures of a URL as links (RFC 7089, section 5; RFC 6690)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from email.utils import format_datetime
from urllib.parse import quote

from pinakes.warc.dates import parse_digits_date

from .lines import Line

CONTENT_TYPE = "application/link-format"
PAGE_MEMENTOS = 10_000
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_SAFE = "!#$%&'()*+,/:;=?@[]~"


def iter_timemap(
    url: str,
    batches: Iterable[list[Line]],
    *,
    self_url: str,
    memento_url: Callable[[Line], str],
    next_url: Callable[[], str | None],
) -> Iterator[bytes]:
    """The TimeMap of a URL, in pieces; empty without mementos.

    `next_url` is asked at the end: where the next TimeMap is, if this one has not all.
    """
    has_begun = False
    for batch in batches:
        piece = []
        for line in batch:
            moment = parse_digits_date(line.timestamp.decode("ascii"))
            if moment is None:
                continue
            if not has_begun:
                original = url if _SCHEME.match(url) else f"http://{url}"
                piece.append(_link(original, 'rel="original"'))
                piece.append(",\n" + _link(self_url, f'rel="self"; type="{CONTENT_TYPE}"'))
                has_begun = True
            date = format_datetime(moment, usegmt=True)
            piece.append(",\n" + _link(memento_url(line), f'rel="memento"; datetime="{date}"'))
        yield "".join(piece).encode("ascii")
    if has_begun:
        behind = next_url()
        more = _link(behind, f'rel="timemap"; type="{CONTENT_TYPE}"') if behind is not None else ""
        yield (f",\n{more}\n" if more else "\n").encode("ascii")


def _link(target: str, parameters: str) -> str:
    encoded = quote(target, safe=_SAFE, errors="surrogateescape")
    return f"<{encoded}>; {parameters}"
