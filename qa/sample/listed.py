"""The pages of a crawl, by the lists that its WACZ files brought along, where they have any."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.page_lists import PageLists, package_of
from pinakes.catalog.pages import Page, pages_of
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.urlkey import urlkey

Entries = Callable[[], Iterable[FileEntry]]


class Population:
    """The pages, by urlkey, by iteration.

    Of WACZ files that list pages, those that any of the lists names; of other files, all.
    Afterwards `unread` counts lines of lists that are no page, and `absent` listed pages that
    are no captured HTML.
    """

    def __init__(
        self, archive: ArchiveReader, entries: Entries, *, space: SortSpace = DEFAULT_SPACE
    ) -> None:
        """`entries` gives the crawl's files, and is called three times."""
        self._archive = archive
        self._entries = entries
        self._space = space
        self.unread = 0
        self.absent = 0

    def __iter__(self) -> Iterator[Page]:
        """Memory: a few times `space`, and the names of the WACZ files."""
        lists = PageLists(self._archive, self._entries())
        packages = set()
        with Spool[str](space=self._space) as keys:
            for listed in lists:
                packages.add(listed.package)
                keys.append(urlkey(listed.url))
            self.unread = lists.unread

            def files(*, listing: bool) -> Iterator[FileEntry]:
                for entry in self._entries():
                    if (package_of(entry.archive_file) in packages) is listing:
                        yield entry

            inside = pages_of(self._archive, files(listing=True), space=self._space)
            others = pages_of(self._archive, files(listing=False), space=self._space)
            wanted = sort_outside_memory(keys, space=self._space)
            found = heapq.merge(self._among(inside, wanted), others)
            for _, captures in groupby(found, key=attrgetter("urlkey")):
                yield next(captures)

    def _among(self, pages: Iterator[Page], wanted: Iterator[str]) -> Iterator[Page]:
        """The pages with these urlkeys, both sorted."""
        page = next(pages, None)
        for key, _ in groupby(wanted):
            while page is not None and page.urlkey < key:
                page = next(pages, None)
            if page is not None and page.urlkey == key:
                yield page
            else:
                self.absent += 1
