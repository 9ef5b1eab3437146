"""Lists of pages that WACZ files brought along: `pages/pages.jsonl`, `pages/extraPages.jsonl`.

Source: WACZ 1.1.1 §5.3 (a line of JSON a page, after one that names the format).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.warc.record import Record

from .file_rows import FileEntry
from .package_documents import iter_documents, open_document

_LIST = re.compile(r"(?:.+/)?pages/[^/]+\.jsonl\Z")
_LONGEST_LINE = 1 << 24


class ListedPage(NamedTuple):
    """A page that the crawler says it has; `package` is its WACZ file, `spring/item.wacz`.

    `date` is as the list has it.
    """

    package: str
    url: str
    title: str | None
    date: str | None = None


def is_page_list(path: str) -> bool:
    """Whether a document is a list of pages, by its path in its WACZ file."""
    return _LIST.match(path) is not None


def package_of(archive_file: str) -> str | None:
    """The WACZ file that an archive file landed with; of one in another, the outermost."""
    parts = archive_file.split("/")
    for count, part in enumerate(parts[:-1], start=1):
        if part.lower().endswith(".wacz"):
            return "/".join(parts[:count])
    return None


class PageLists:
    """The listed pages of files, by iteration.  `unread` counts lines that are no page."""

    def __init__(self, archive: ArchiveReader, entries: Iterable[FileEntry]) -> None:
        self._archive = archive
        self._entries = entries
        self.unread = 0

    def __iter__(self) -> Iterator[ListedPage]:
        """Yield every page, as often as it is listed.  Memory: a line, of 16 MiB at most."""
        for document in iter_documents(self._archive, self._entries, is_page_list):
            package = package_of(f"{document.package}/{document.path}") or ""
            with open_document(self._archive, document) as record:
                yield from self._of_record(record, package)

    def _of_record(self, record: Record, package: str) -> Iterator[ListedPage]:
        for line in filter(bytes.strip, _lines(record.payload())):
            found = page_object(line)
            url, title, date = (_text(found, name) for name in ("url", "title", "ts"))
            if url is not None:
                yield ListedPage(package, url, title, date)
            elif "format" not in found:  # as the first line has
                self.unread += 1


def _lines(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Every line; of one that is too long, its beginning."""
    kept = bytearray()
    for piece in pieces:
        for part in io.BytesIO(piece):
            if len(kept) <= _LONGEST_LINE:
                kept += part
            if part.endswith(b"\n"):
                yield bytes(kept)
                kept.clear()
    if kept:
        yield bytes(kept)


def _text(found: dict[str, object], name: str) -> str | None:
    value = found.get(name)
    return value if isinstance(value, str) else None


def page_object(line: bytes) -> dict[str, object]:
    """The object on a line; an empty one where there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
