"""A sample of pages, drawn by a seed: the same pages and the same seed, the same sample.

Some are always in and stand for themselves alone.  The others are put in order of site and
media type, and within these as the seed has them, and every n-th is taken, beginning somewhere
in the first n (systematic sampling, Cochran, "Sampling Techniques", chapter 8).  So each page
is as likely as another, and each site and type has its share, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.urlkey import urlkey

from .pages import Page

_ORDER_BYTES = 8
_PAGE_BYTES = 600
_Ordered = tuple[str, str, bytes, Page]
"""Site, media type, place by the seed, page."""


class Drawn(NamedTuple):
    """A page of a sample, and how many pages it stands for: itself is one of them."""

    page: Page
    weight: float
    is_always: bool


def draw(
    pages: Iterable[Page],
    *,
    size: int,
    seed: str,
    seeds: Collection[str] = (),
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[Drawn]:
    """Draw so many pages beside those that are always in: home pages, and the URLs in `seeds`.

    Where there are no more than `size`, all are drawn.  The sum of all weights is the number
    of pages.  Memory: a few times `space`, and `seeds`.
    """
    always = frozenset(map(urlkey, seeds))
    count = 0
    with Spool[_Ordered](space=space, item_bytes=_item_bytes) as others:
        for page in pages:
            if page.is_home or page.urlkey in always:
                yield Drawn(page, 1.0, is_always=True)
            else:
                others.append((page.site, page.media_type, _place(page.urlkey, seed), page))
                count += 1
        taken = min(max(size, 0), count)
        if not taken:
            return
        ordered = sort_outside_memory(others, space=space, item_bytes=_item_bytes)
        step = count / taken
        start = int.from_bytes(_place("", seed), "big") / (1 << 8 * _ORDER_BYTES) * step
        chosen = 0
        for number, (*_, page) in enumerate(ordered):
            if number == min(count - 1, int(start + chosen * step)) and chosen < taken:
                chosen += 1
                yield Drawn(page, step, is_always=False)


def _place(text: str, seed: str) -> bytes:
    """Somewhere, as if by chance."""
    encoded = text.encode("utf-8", "surrogateescape")
    return blake2b(
        encoded,
        key=blake2b(seed.encode("utf-8", "surrogateescape")).digest(),
        digest_size=_ORDER_BYTES,
    ).digest()


def _item_bytes(item: _Ordered) -> int:
    return _PAGE_BYTES + len(item[3].url)
