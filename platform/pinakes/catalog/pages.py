"""The pages of a crawl: HTML with a 2xx status, each URL once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, sort_outside_memory
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .file_records import iter_sidecar
from .file_rows import FileEntry
from .sidecar import SidecarRow

_MEDIA_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_TYPES = frozenset(("response", "revisit"))


class PageCapture(NamedTuple):
    """A capture of a page, sorted by its fields."""

    urlkey: str
    second: str
    """Of its WARC-Date, as 14 digits."""
    url: str
    media_type: str
    row_key: bytes

    @property
    def site(self) -> str:
        """The host as in the urlkey: without `www.`, its labels reversed."""
        return self.urlkey.partition(")")[0]

    @property
    def is_home(self) -> bool:
        """Whether this is the root of a host, by its urlkey."""
        return self.urlkey.partition(")")[2] == "/"


def pages_of(
    archive: ArchiveReader, entries: Iterable[FileEntry], *, space: SortSpace = DEFAULT_SPACE
) -> Iterator[PageCapture]:
    """The pages of these files, by urlkey; the first capture of each urlkey.

    Reads sidecars only.  Memory: a few times `space`.
    """
    found = (
        page
        for entry in entries
        if entry.state is FileState.STORED
        for page in _pages_of_file(archive, entry)
    )
    return first_captures(found, space=space)


def first_captures(
    pages: Iterable[PageCapture], *, space: SortSpace = DEFAULT_SPACE
) -> Iterator[PageCapture]:
    """Pages by urlkey; the first capture of each urlkey."""
    ordered = sort_outside_memory(pages, space=space)
    for _, captures in groupby(ordered, key=attrgetter("urlkey")):
        yield next(captures)


def _pages_of_file(archive: ArchiveReader, entry: FileEntry) -> Iterator[PageCapture]:
    for row in iter_sidecar(archive, entry.stored_name):
        page = page_of(row)
        if page is not None:
            yield page


def page_of(row: SidecarRow) -> PageCapture | None:
    """The page that a record is a capture of; None if it is not a page."""
    second = second_of(row.date or "")
    if row.type not in _TYPES or row.target_uri is None or row.row_key is None or second is None:
        return None
    if row.media_type not in _MEDIA_TYPES or not 200 <= (row.status or 0) < 300:
        return None
    return PageCapture(urlkey(row.target_uri), second, row.target_uri, row.media_type, row.row_key)
