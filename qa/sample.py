"""A sample of a crawl's pages, drawn by a seed: the same pages and seed give the same sample.

Some pages are always in, and represent only themselves.  The others are sorted by site and media
type, and within these in an order given by the seed; every n-th is taken, from a random start
in the first n (systematic sampling, Cochran, "Sampling Techniques", chapter 8).  So all pages
are equally likely, and each site and media type has its share.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import FileEntry, scan_entries
from pinakes.catalog.page_lists import PageLists, package_of
from pinakes.catalog.pages import PageCapture, pages_of
from pinakes.errors import MalformedRecord
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore

_ORDER_BYTES = 8
_PAGE_BYTES = 600
_Ordered = tuple[str, str, bytes, PageCapture]
"""Site, media type, position by the seed, page."""


class SampledPage(NamedTuple):
    """A page of a sample, and the number of pages it represents, itself included."""

    page: PageCapture
    weight: float
    is_always: bool


def draw(
    pages: Iterable[PageCapture],
    *,
    size: int,
    seed: str,
    seeds: Collection[str] = (),
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[SampledPage]:
    """Draw `size` pages, besides those that are always in: home pages, and the URLs in `seeds`.

    If there are no more than `size`, all are drawn.  The weights add up to the number of pages.
    Memory: a few times `space`, and `seeds`.
    """
    always = frozenset(map(urlkey, seeds))
    count = 0
    with Spool[_Ordered](space=space, item_bytes=_item_bytes) as others:
        for page in pages:
            if page.is_home or page.urlkey in always:
                yield SampledPage(page, 1.0, is_always=True)
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
                yield SampledPage(page, step, is_always=False)


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


# Also for numbers of 400 digits, and for too deeply nested brackets.
_DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


def encode_drawn(drawn: SampledPage) -> str:
    """One line of ASCII, without its line end."""
    page = {**drawn.page._asdict(), "row_key": drawn.page.row_key.hex()}
    return json.dumps({**page, "weight": drawn.weight, "is_always": drawn.is_always})


def decode_drawn(line: str | bytes) -> SampledPage:
    """Undo `encode_drawn`.

    Raises:
        MalformedRecord: not a page of a sample.
    """
    try:
        entry = json.loads(line)
        weight, is_always = float(entry.pop("weight")), bool(entry.pop("is_always"))
        page = PageCapture(**{**entry, "row_key": bytes.fromhex(entry["row_key"])})
    except _DAMAGED as error:
        raise MalformedRecord(f"not a page of a sample: {error}") from error
    return SampledPage(page, weight, is_always)


class Population:
    """The pages of a crawl, by urlkey, by iteration.

    Of WACZ files that list pages, those that any of the lists names; of other files, all.
    Afterwards `unread` counts lines of lists that are no page, and `absent` listed pages that
    are no captured HTML.
    """

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        crawl: str | None,
        *,
        space: SortSpace = DEFAULT_SPACE,
    ) -> None:
        """Of all crawls where that is None; the rows of files are read three times."""
        self._rows = rows
        self._archive = archive
        self._crawl = crawl
        self._space = space
        self.unread = 0
        self.absent = 0

    def __iter__(self) -> Iterator[PageCapture]:
        """Memory: a few times `space`, and the names of the WACZ files."""
        lists = PageLists(self._archive, scan_entries(self._rows, self._crawl))
        packages = set()
        with Spool[str](space=self._space) as keys:
            for listed in lists:
                packages.add(listed.package)
                keys.append(urlkey(listed.url))
            self.unread = lists.unread

            def files(*, listing: bool) -> Iterator[FileEntry]:
                for entry in scan_entries(self._rows, self._crawl):
                    if (package_of(entry.archive_file) in packages) is listing:
                        yield entry

            inside = pages_of(self._archive, files(listing=True), space=self._space)
            others = pages_of(self._archive, files(listing=False), space=self._space)
            wanted = sort_outside_memory(keys, space=self._space)
            found = heapq.merge(self._among(inside, wanted), others)
            for _, captures in groupby(found, key=attrgetter("urlkey")):
                yield next(captures)

    def _among(self, pages: Iterator[PageCapture], wanted: Iterator[str]) -> Iterator[PageCapture]:
        """The pages with these urlkeys, both sorted."""
        page = next(pages, None)
        for key, _ in groupby(wanted):
            while page is not None and page.urlkey < key:
                page = next(pages, None)
            if page is not None and page.urlkey == key:
                yield page
            else:
                self.absent += 1
