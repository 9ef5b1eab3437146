"""A sample of pages, drawn by a seed: the same pages and seed give the same sample.

Some pages are always in, and represent only themselves.  The others are sorted by site and media
type, and within these in an order given by the seed; every n-th is taken, from a random start
in the first n (systematic sampling, Cochran, "Sampling Techniques", chapter 8).  So all pages
are equally likely, and each site and media type has its share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from pinakes.catalog.pages import Page
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.urlkey import urlkey

_ORDER_BYTES = 8
_PAGE_BYTES = 600
_Ordered = tuple[str, str, bytes, Page]
"""Site, media type, position by the seed, page."""


class Drawn(NamedTuple):
    """A page of a sample, and the number of pages it represents, itself included."""

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
    """Draw `size` pages, besides those that are always in: home pages, and the URLs in `seeds`.

    If there are no more than `size`, all are drawn.  The weights add up to the number of pages.
    Memory: a few times `space`, and `seeds`.
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
    """A pseudorandom position."""
    encoded = text.encode("utf-8", "surrogateescape")
    return blake2b(
        encoded,
        key=blake2b(seed.encode("utf-8", "surrogateescape")).digest(),
        digest_size=_ORDER_BYTES,
    ).digest()


def _item_bytes(item: _Ordered) -> int:
    return _PAGE_BYTES + len(item[3].url)
