"""Captures as readers see them: cells read back, hidden ones left out, files found.

Readers scan rows, then read the few rows of `inflight`, then leave those files' captures out:
captures of files that are landing or leaving are never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from pinakes.errors import InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import (
    FIRST_GENERATION,
    CaptureFacts,
    DedupeMark,
    Location,
    Pin,
)
from pinakes.hbase_schema.capture_keys import captures_of, decode_capture_key
from pinakes.hbase_schema.cells import C
from pinakes.hbase_schema.columns import column_suffix
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.cells import decode_stored, read_cell
from pinakes.row_store.port import Row, RowStore

from .file_rows import FileEntry, hidden_among, read_entries

TABLE = "captures"
COLUMNS = (b"m", b"d")
_BATCH_ROWS = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRow:
    """A row of `captures`; `landed_ms` is the time of the act that wrote it.

    One with a `withdrawal` has no place any more: nothing reads its record or its body.
    """

    key: bytes
    facts: CaptureFacts
    landed_ms: int
    locations: Mapping[int, Location]
    dedupe: DedupeMark | None
    pinned: bool
    withdrawal: Withdrawal | None = None

    @property
    def time(self) -> str:
        """The capture time, 17 digits."""
        return decode_capture_key(self.key).time

    @property
    def is_duplicate(self) -> bool:
        """Whether dedupe found an earlier copy of its content."""
        return self.dedupe is not None and self.dedupe.copy_number > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A capture and its place now: the file of the current generation, and location in it."""

    capture: CaptureRow
    entry: FileEntry
    file: str
    location: Location

    @property
    def place(self) -> tuple[str, int, int]:
        """The stored file, and the offsets of its member and in that."""
        return self.file, self.location.offset, self.location.inner_offset

    @property
    def collection(self) -> str | None:
        """The collection that the file landed in."""
        return self.entry.facts.collection if self.entry.facts is not None else None


def decode_capture(row: Row) -> CaptureRow | None:
    """The capture of a row; None if the row has no facts, as a leftover."""
    landed = read_cell(CaptureFacts, TABLE, row)
    if landed is None:
        return None

    def read(cls: type[C]) -> C | None:
        return read_cell(cls, TABLE, row)

    pin = read(Pin)
    locations = {
        int(column_suffix(column)): decode_stored(Location, TABLE, row.key, column, cell.value)
        for column, cell in row.cells.items()
        if column.startswith(Location.COLUMN)
    }
    if landed.offset is not None and landed.length is not None:
        locations[FIRST_GENERATION] = Location(
            offset=landed.offset, length=landed.length, inner_offset=landed.inner_offset
        )
    return CaptureRow(
        key=row.key,
        facts=landed,
        landed_ms=row.cells[CaptureFacts.COLUMN].timestamp_ms,
        locations=locations,
        dedupe=read(DedupeMark),
        pinned=pin is not None and pin.pinned,
        withdrawal=read(Withdrawal),
    )


def get_captures(store: RowStore, keys: Sequence[bytes]) -> dict[bytes, CaptureRow]:
    """The existing captures with these keys, also hidden ones.  One round trip."""
    rows = store.get_rows(TABLE, keys, columns=COLUMNS)
    return {c.key: c for c in map(decode_capture, rows.values()) if c is not None}


def readable_captures(store: RowStore, keys: Sequence[bytes]) -> dict[bytes, CaptureRow]:
    """`get_captures`, but for those of which a cell cannot be decoded."""
    rows = store.get_rows(TABLE, keys, columns=COLUMNS) if keys else {}
    return {c.key: c for c in map(readable_capture, rows.values()) if c is not None}


def readable_capture(row: Row) -> CaptureRow | None:
    """`decode_capture`; None, too, where a cell cannot be decoded."""
    try:
        return decode_capture(row)
    except (MalformedRecord, SchemaError, ValueError):
        return None


def scan_captures_of(
    store: RowStore,
    urlkey: str,
    *,
    start_time: str = "",
    stop_time: str = "",
    limit_rows: int | None = None,
) -> Iterator[CaptureRow]:
    """The captures of a urlkey that readers may see, in order of time; lazy."""
    key_range = captures_of(urlkey, start_time=start_time, stop_time=stop_time)
    rows = store.scan(TABLE, key_range, columns=COLUMNS)
    found = (c for c in map(decode_capture, rows) if c is not None)
    seen = iter_visible(store, found, lambda capture: capture.facts.archive_file)
    return islice(seen, limit_rows)


def iter_visible(store: RowStore, found: Iterable[T], file_of: Callable[[T], str]) -> Iterator[T]:
    """Leave out rows of files in flight; keeps the order.

    Reads `inflight` after each batch of rows, never before: otherwise half the rows of a file
    that began to land in between would be shown.
    """
    iterator = iter(found)
    while batch := list(islice(iterator, _BATCH_ROWS)):
        hidden = hidden_among(store, {file_of(item) for item in batch})
        yield from (item for item in batch if file_of(item) not in hidden)


def place_captures(store: RowStore, captures: Iterable[CaptureRow]) -> Iterator[Placed]:
    """Captures with their current places, in the order given; skips those of unknown files, and
    those that were withdrawn.

    One round trip per batch of some hundred captures.
    """
    return (placed for _, placed in place_each(store, captures) if placed is not None)


def place_each(
    store: RowStore, captures: Iterable[CaptureRow]
) -> Iterator[tuple[CaptureRow, Placed | None]]:
    """All of these captures, each with its place, if it has one; otherwise as `place_captures`."""
    iterator = iter(captures)
    while batch := list(islice(iterator, _BATCH_ROWS)):
        files = {capture.facts.archive_file for capture in batch}
        entries = read_entries(store, sorted(files))
        for capture in batch:
            yield capture, placed_by(capture, entries[capture.facts.archive_file])


def placed_by(capture: CaptureRow, entry: FileEntry) -> Placed | None:
    """The capture in its file's current generation; None if it has no location there, or was
    withdrawn."""
    location = capture.locations.get(entry.generation)
    if location is None or capture.withdrawal is not None or entry.state is None:
        return None
    return Placed(
        capture=capture,
        entry=entry,
        file=generation_file(entry.archive_file, entry.generation, location.ending),
        location=location,
    )


def require_visible(store: RowStore, archive_file: str) -> None:
    """Raise InputRefused while the file lands or leaves."""
    if hidden_among(store, [archive_file]):
        raise InputRefused("is landing or being removed, and cannot be read now", file=archive_file)
