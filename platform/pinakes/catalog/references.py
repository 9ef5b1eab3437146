"""References to the records of a crawl, which prevent its removal.

Three kinds of reference: revisits that `dedupe` wrote, known by the mark in the row and by the
sidecar of their generation; and revisits that a crawler wrote, known by their sidecar, which name
a URI and a second.  Pins show which originals must be checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.capture_cells import Pin
from pinakes.hbase_schema.capture_keys import captures_of
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import Digest

from .captures import TABLE, Capture, decode_capture, get_captures
from .file_records import iter_known_rows, read_generations, stored_names
from .file_rows import FileEntry, scan_entries, scan_inflight
from .lookup import FoundDigest, scan_digest
from .sidecar import SidecarRow

_BATCH_ROWS = 500
Second = tuple[str, str]


class Reference(NamedTuple):
    """A capture of another crawl that is a revisit of a capture of this one."""

    capture: str
    archive_file: str
    original: str


class _Owned(NamedTuple):
    """Hashes of the crawl's row keys, and of (URI, second) of its full records.

    Some 100 bytes per capture; hits are verified in the rows.
    """

    keys: set[int]
    seconds: set[int]


def scan_references(
    store: RowStore, archive: ArchiveReader, crawl: str, collection: str
) -> Iterator[Reference]:
    """Yield captures of other crawls of the collection that refer to captures of this one.

    A reference that also resolves to a full record outside the crawl does not count.
    Reads the crawl's sidecars, and those of all other crawls of the collection.
    """
    seen: set[str] = set()
    owned = _Owned(set(), set())
    entries = [entry for entry in scan_entries(store, crawl) if entry.facts is not None]
    for entry in entries:
        rows = _rows_of(store, archive, entry)
        while batch := list(islice(rows, _BATCH_ROWS)):
            _own(batch, owned)
            for reference in _references_to_pinned(store, batch, crawl, collection):
                if reference.capture not in seen:
                    seen.add(reference.capture)
                    yield reference
    for entry in scan_entries(store):
        if (
            crawl_of(entry.archive_file) == crawl
            or entry.state is not FileState.STORED
            or entry.facts is None
            or entry.facts.collection != collection
        ):
            continue
        for row in _rows_of(store, archive, entry):
            original = _original_of(store, row, crawl, owned)
            if original is not None and row.row_key is not None:
                name = row.row_key.decode("ascii")
                if name not in seen:
                    yield Reference(name, entry.archive_file, original)


def _rows_of(store: RowStore, archive: ArchiveReader, entry: FileEntry) -> Iterator[SidecarRow]:
    names = stored_names(entry, read_generations(store, entry.archive_file))
    return iter_known_rows(archive, names) or iter(())


def _own(rows: Sequence[SidecarRow], owned: _Owned) -> None:
    for row in rows:
        if row.row_key is not None and row.type in ("response", "resource"):
            owned.keys.add(hash(row.row_key))
            second = _second(row.target_uri, row.date)
            if second is not None:
                owned.seconds.add(hash(second))


def _second(uri: str | None, date: str | None) -> Second | None:
    moment = parse_date(date or "")
    return (uri, format_14(moment)) if uri and moment is not None else None


def _references_to_pinned(
    store: RowStore, rows: Sequence[SidecarRow], crawl: str, collection: str
) -> Iterator[Reference]:
    """The marks of other crawls that name one of these captures, if it is pinned."""
    keys = {row.row_key: row for row in rows if row.row_key is not None}
    pins = store.get_rows(TABLE, list(keys), columns=[Pin.COLUMN])
    for key, found in sorted(pins.items()):
        if not decode_cell(Pin, found.value(Pin.COLUMN) or b"").pinned:
            continue
        row = keys[key]
        if row.sha256 is None or row.payload_size is None:
            continue
        copies = (
            copy
            for copy in scan_digest(store, collection, Digest("sha256", row.sha256))
            if crawl_of(copy.key.archive_file) != crawl
        )
        while batch := list(islice(copies, _BATCH_ROWS)):
            yield from _marked(store, batch, key)


def _marked(store: RowStore, copies: Sequence[FoundDigest], original: bytes) -> Iterator[Reference]:
    keys = [copy.entry.capture_key.encode("ascii") for copy in copies]
    name = original.decode("ascii")
    for capture in get_captures(store, keys).values():
        if capture.dedupe is not None and capture.dedupe.refers_to_key == name:
            yield Reference(capture.key.decode("ascii"), capture.facts.archive_file, name)


def _original_of(store: RowStore, row: SidecarRow, crawl: str, owned: _Owned) -> str | None:
    """The capture of this crawl that a revisit needs; None if it needs none of them."""
    if row.original_key is not None and row.is_replaced:
        if hash(row.original_key) not in owned.keys:
            return None
        found = get_captures(store, [row.original_key]).values()
        return next((_name(c) for c in found if crawl_of(c.facts.archive_file) == crawl), None)
    if row.type != "revisit":
        return None
    second = _second(row.refers_uri, row.refers_date)
    if second is None or hash(second) not in owned.seconds:
        return None
    return _only_here(store, second, crawl)


def _only_here(store: RowStore, second: Second, crawl: str) -> str | None:
    """The record of this crawl with that URI and second, if no other crawl has one."""
    uri, time = second
    hidden = scan_inflight(store)
    own = None
    key_range = captures_of(urlkey(uri), start_time=time, stop_time=f"{int(time) + 1:014d}")
    for row in store.scan(TABLE, key_range, columns=[b"m", b"d"]):
        capture = decode_capture(row)
        if capture is None or capture.facts.target_uri != uri:
            continue
        if capture.facts.type not in ("response", "resource") or capture.is_duplicate:
            continue
        if crawl_of(capture.facts.archive_file) == crawl:
            own = own or _name(capture)
        elif capture.facts.archive_file not in hidden:
            return None
    return own


def _name(capture: Capture) -> str:
    return capture.key.decode("ascii")
