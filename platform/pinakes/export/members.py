"""The members of a WACZ that are made of what it holds: its index, and its lists of pages.

`indexes/index.cdx`: the captures of the archive files that were written, sorted.  Of a file that
is as it is in the store its sidecar is asked; one whose revisits were made full is read.
`pages/`: the lists that came with the WACZ files of a crawl, else one made of its captures.
Lists of one name are one list.  Of several, each page stays the line that it is, after a header
of ours.  Source: WACZ 1.1.1 §5.2, §5.3.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.cdx_lines import iter_stored_cdx_lines
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.package_documents import Document, iter_documents, open_document
from pinakes.catalog.page_lists import is_page_list, page_object
from pinakes.catalog.pages import PageCapture, pages_of
from pinakes.errors import MalformedRecord, PinakesError
from pinakes.index.cdx_lines import iter_cdx_lines
from pinakes.index.cdxj import CdxLine, encode_no_utf8, format_cdxj
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.warc.file_names import base_name
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

from .contents import ExportedFile, plain_name
from .wacz_file import Member, WaczWriter

ARCHIVE = "archive/"
INDEX = "indexes/index.cdx"


def count_lines(archive: ArchiveReader, files: Iterable[ExportedFile]) -> int:
    """How many captures of files, as they are in the store, have a line.  Reads sidecars only."""
    return sum(
        1
        for file in files
        for _ in iter_stored_cdx_lines(archive, file.entry, on_unplaced=lambda *_: None)
    )


def write_index(
    out: WaczWriter,
    archive: ArchiveReader,
    files: Iterable[ExportedFile],
    filled: Mapping[str, Member],
    space: SortSpace,
    on_problem: Callable[[PinakesError], None],
) -> int:
    """Write the member; how many lines.  `filled` are the members whose revisits were made full,
    by the names of their files; `on_problem` gets the captures that have no line."""
    lines = (
        line._replace(filename=file.name)
        for file in files
        for line in _lines(out, archive, file, filled.get(file.name), on_problem)
    )
    return write_lines(out, lines, space)


def write_lines(out: WaczWriter, lines: Iterable[CdxLine], space: SortSpace) -> int:
    """Write the member of these lines, which come in any order; how many lines."""
    encoded = (f"{format_cdxj(line)}\n".encode("utf-8", "surrogateescape") for line in lines)
    in_order = sort_outside_memory(encoded, space=space)
    # All of them are read before the first comes, so nothing is read while this is written.
    first = list(islice(in_order, 1))
    count = 0
    with out.member(INDEX) as member:
        for line in chain(first, in_order):
            member.write(line)
            count += 1
    return count


def _lines(
    out: WaczWriter,
    archive: ArchiveReader,
    file: ExportedFile,
    filled: Member | None,
    on_problem: Callable[[PinakesError], None],
) -> Iterator[CdxLine]:
    path = f"{ARCHIVE}{file.name}"

    def on_unplaced(offset: int, why: str) -> None:
        on_problem(MalformedRecord(f"{why}: left out of the index", file=path, offset=offset))

    if filled is None:
        return iter_stored_cdx_lines(
            archive, file.entry, on_unplaced=lambda _, offset, why: on_unplaced(offset, why)
        )
    items = iter_records(out.read(filled), digests=())
    records = (item for item in items if isinstance(item, Record))
    return iter_cdx_lines(records, file.name, on_unplaced=on_unplaced)


FOLDER = "pages/"
MAIN = "pages.jsonl"
_LONGEST_HEADER = 1 << 24
_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}


def kept_lists(archive: ArchiveReader, entries: Iterable[FileEntry]) -> dict[str, list[Document]]:
    """The lists of these files, by their names: `pages.jsonl`, `extraPages.jsonl`."""
    lists: dict[str, list[Document]] = defaultdict(list)
    for document in iter_documents(archive, entries, is_page_list):
        lists[plain_name(base_name(document.path))].append(document)
    return dict(sorted(lists.items()))


def write_pages(
    out: WaczWriter, archive: ArchiveReader, entries: Sequence[FileEntry], space: SortSpace
) -> int:
    """Write the members below `pages/`; the number of pages that were listed for want of a list."""
    lists = kept_lists(archive, entries)
    made = 0
    if MAIN not in lists:
        made = write_made_pages(out, pages_of(archive, entries, space=space))
    for name, documents in lists.items():
        with out.member(f"{FOLDER}{name}") as file:
            for piece in _pieces(archive, documents, name):
                file.write(piece)
    return made


def write_made_pages(out: WaczWriter, pages: Iterable[PageCapture]) -> int:
    """Write `pages.jsonl` of these captures; how many."""
    made = 0
    with out.member(f"{FOLDER}{MAIN}") as file:
        file.write(_line(_HEADER))
        for page in pages:
            file.write(_line(_listed(page)))
            made += 1
    return made


def _pieces(archive: ArchiveReader, documents: list[Document], name: str) -> Iterator[bytes]:
    """One list as it is; of several the pages, in the order of their WACZ files."""
    if len(documents) == 1:
        with open_document(archive, documents[0]) as record:
            yield from map(bytes, record.payload())
        return
    stem = name.removesuffix(".jsonl")
    yield _line({**_HEADER, "id": stem, "title": stem})
    for document in documents:
        with open_document(archive, document) as record:
            yield from without_header(map(bytes, record.payload()))


def without_header(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A list of pages without the line that names its format, and with an end of its last line.

    Memory: the first line, of 16 MiB at most: no header is as long.
    """
    pieces = iter(pieces)
    first = b""
    for piece in pieces:
        first += piece
        if b"\n" in piece or len(first) > _LONGEST_HEADER:
            break
    line, _, rest = first.partition(b"\n")
    found = page_object(line)
    last = b""
    for piece in chain((rest if "format" in found and "url" not in found else first,), pieces):
        if piece:
            last = piece
            yield piece
    if last and not last.endswith(b"\n"):
        yield b"\n"


def _listed(page: PageCapture) -> dict[str, object]:
    second = page.second
    day = "-".join((second[:4], second[4:6], second[6:8]))
    return {
        "id": hashlib.sha256(page.row_key).hexdigest()[:32],
        "url": encode_no_utf8(page.url),
        "ts": f"{day}T{second[8:10]}:{second[10:12]}:{second[12:14]}Z",
    }


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"
