"""Captures that a reader may see: the one place where pages ask visibility and access rules.

Captures of files that land or leave are hidden from everybody (`catalog.captures`), those that a
rule does not admit from readers of the pages.  Where nothing is in flight and no rule restricts,
rows are passed on without decoding them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import (
    COLUMNS,
    TABLE,
    CaptureRow,
    Placed,
    decode_capture,
    get_captures,
    placed_by,
)
from pinakes.catalog.file_rows import INFLIGHT, FileEntry, hidden_among, read_entries
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import Row, RowStore
from pinakes.warc.dates import format_14

from .archive_bytes import ArchiveBytes
from .rules import OPEN, AccessRules

KEY_ONLY = (CaptureFacts.COLUMN,)
"""The columns of a scan that counts: captures in it have neither places nor marks."""

_FIRST_BATCH, _LAST_BATCH = 16, 1024


@dataclass(slots=True, kw_only=True)
class ReadBudget:
    """How many rows may still be read, and the last one that was."""

    rows: int
    last_key: bytes | None = None

    @property
    def is_spent(self) -> bool:
        return self.rows <= 0


class Sighting:
    """A row of `captures` that may be shown; decoded when it is asked for more than its key."""

    __slots__ = ("_row",)

    def __init__(self, row: Row) -> None:
        self._row = row

    @property
    def key(self) -> bytes:
        return self._row.key

    @property
    def urlkey(self) -> bytes:
        return self._row.key.partition(b" ")[0]

    @property
    def time(self) -> str:
        """17 digits."""
        return self._row.key.split(b" ", 2)[1].decode("ascii")

    @property
    def capture(self) -> CaptureRow:
        found = decode_capture(self._row)
        assert found is not None  # rows without facts are no sightings
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A capture that may be shown, and its place now; None where its record is not read: it was
    withdrawn, or the catalogue has lost it."""

    capture: CaptureRow
    entry: FileEntry
    placed: Placed | None

    @property
    def collection(self) -> str | None:
        """The collection that its file landed in."""
        return self.entry.facts.collection if self.entry.facts is not None else None


class ReadableCaptures:
    """Reads captures for pages.  Safe for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        *,
        rules: AccessRules = OPEN,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self.rows = rows
        self.archive = archive
        self.files = ArchiveBytes(rows, archive, rules=rules, now=now)
        self._rules = rules
        self._now = now

    def scan(
        self,
        key_range: KeyRange,
        budget: ReadBudget,
        *,
        columns: Sequence[bytes] = COLUMNS,
        reverse: bool = False,
    ) -> Iterator[Sighting]:
        """The captures of a range that may be shown, within the budget; lazy."""
        if budget.is_spent:
            return
        found = self.rows.scan(
            TABLE, key_range, columns=columns, reverse=reverse, limit_rows=budget.rows
        )
        size = _FIRST_BATCH
        while batch := list(islice(found, min(size, budget.rows))):
            budget.rows -= len(batch)
            budget.last_key = batch[-1].key
            yield from self._shown([Sighting(row) for row in batch if KEY_ONLY[0] in row.cells])
            size = min(2 * size, _LAST_BATCH)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Shown]:
        """Those of these captures that may be shown.  A few round trips."""
        found = list(get_captures(self.rows, keys).values())
        hidden = hidden_among(self.rows, {capture.facts.archive_file for capture in found})
        visible = (c for c in found if c.facts.archive_file not in hidden)
        return {shown.capture.key: shown for shown in self.place(visible)}

    def place(self, captures: Iterable[CaptureRow]) -> Iterator[Shown]:
        """Captures with their places, without those that a rule does not admit.

        One round trip for some hundred captures.
        """
        iterator = iter(captures)
        while batch := list(islice(iterator, _LAST_BATCH)):
            files = {capture.facts.archive_file for capture in batch}
            entries = read_entries(self.rows, sorted(files))
            for capture in batch:
                entry = entries[capture.facts.archive_file]
                shown = Shown(capture=capture, entry=entry, placed=placed_by(capture, entry))
                if self._admits(capture, shown.collection):
                    yield shown

    def shows_crawl(self, crawl: str, collection: str) -> bool:
        """Whether captures of a crawl may be shown, independent of their URL and time."""
        return self.shows("", UNREADABLE_TIME, crawl, collection)

    def shows(self, urlkey: str, time: str, crawl: str, collection: str) -> bool:
        """Whether a capture of this URL and time may be shown; `time` has 14 digits or more."""
        now = format_14(self._now())
        return self._rules.is_open or self._rules.admits(
            urlkey=urlkey, time=time, collection=collection, crawl=crawl, now=now
        )

    def _shown(self, batch: list[Sighting]) -> Iterable[Sighting]:
        # After the rows, never before: see `captures.iter_visible`.
        is_quiet = next(self.rows.scan(INFLIGHT, limit_rows=1), None) is None
        if is_quiet and self._rules.is_open:
            return batch
        captures = {sighting.key: sighting.capture for sighting in batch}
        files = {capture.facts.archive_file for capture in captures.values()}
        hidden = set() if is_quiet else hidden_among(self.rows, files)
        collections = {} if self._rules.is_open else self._collections(files)
        return [
            sighting
            for sighting in batch
            if (file := captures[sighting.key].facts.archive_file) not in hidden
            and self._admits(captures[sighting.key], collections.get(file))
        ]

    def _collections(self, files: Iterable[str]) -> dict[str, str | None]:
        entries = read_entries(self.rows, sorted(files))
        return {
            name: entry.facts.collection if entry.facts is not None else None
            for name, entry in entries.items()
        }

    def _admits(self, capture: CaptureRow, collection: str | None) -> bool:
        if self._rules.is_open:
            return True
        urlkey, time, _ = capture.key.decode("ascii").split(" ")
        return self._rules.admits(
            urlkey=urlkey,
            time=time,
            collection=collection or "",
            crawl=crawl_of(capture.facts.archive_file),
            now=format_14(self._now()),
        )
