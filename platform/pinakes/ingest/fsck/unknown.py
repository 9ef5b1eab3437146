"""Files of the archive that the catalogue does not know: strangers, and files whose row is lost.

A stranger may be moved away.  Of a file whose row in `files` is lost, other rows still show:
captures are in it, and revisits in other files may refer to these.  It can be landed again.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore, PublishedFile
from pinakes.catalog.captures import TABLE as CAPTURES
from pinakes.catalog.file_records import (
    iter_known_rows,
    possible_names,
    read_generations,
    read_rows_anew,
)
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.counts import count_of
from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import CaptureFacts, Pin
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import Generation, generation_of
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .compare import decoded
from .findings import FsckFinding
from .mending import SIDECAR_ERRORS

_BATCH_ROWS = 500


class _Left(NamedTuple):
    """What rows still show of a file: whether it landed here, its captures, and how many of them
    are originals of revisits of ours."""

    has_landed: bool
    captures: int = 0
    originals: int = 0


_STRANGER = _Left(has_landed=False)


class UnknownFiles:
    """Judges files of no generation that the rows have."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, *, quick: bool) -> None:
        """`quick` reads no bytes of archive files."""
        self._rows = rows
        self._archive = archive
        self._quick = quick
        self.lost: set[str] = set()
        """Archive files whose row is lost, of those that were judged."""

    def judge(self, stored: PublishedFile) -> FsckFinding:
        """What to do with it."""
        place = generation_of(stored.name)
        entry = read_entry(self._rows, place.archive_file)
        size = count_of(stored.size, "byte")
        what = f"{size}: copy it elsewhere and ingest it, or "
        if entry.state is not None and entry.state.is_gone:
            message = f"was taken out, and is there again; {what}delete it"
        elif entry.state is FileState.STORED and place.number > entry.generation:
            message = (
                f"{size}: a later generation than the catalogue knows: an act that died has left "
                "it; or the rows are older than the files: put newer ones back, or withdraw again "
                "what was withdrawn since"
            )
        elif entry.state is None and self._has_rotted(stored):
            message = (
                f"{size}: its row has lost its state, and its SHA-256 is not the one that was "
                "stored: put it back from a copy, or the rows from a backup; do not move it away"
            )
        else:
            left = self._left_of(place) if entry.state is None else _STRANGER
            if left is None:
                message = (
                    f"{size}: copy it elsewhere and ingest it; do not move it away: whether "
                    "captures in it are in the catalogue was not read"
                )
            elif left.has_landed:
                self.lost.add(place.archive_file)
                message = f"{size}: {_describe(left)}; do not move it away: {self._way_back(place)}"
            else:
                message = f"{what}move it away"
        return FsckFinding(code="unknown-file", file=stored.name, message=message)

    def _has_rotted(self, stored: PublishedFile) -> bool:
        """Whether its row says what it was, and it is not."""
        place = generation_of(stored.name)
        facts = read_generations(self._rows, place.archive_file).get(place.number)
        if facts is None or facts.file != stored.name:
            return False
        return how_bytes_differ(self._archive, stored.name, facts, quick=self._quick) is not None

    def _left_of(self, place: Generation) -> _Left | None:
        """By its sidecar; where it has none, by its records, if it has the name that it landed
        with.  None: neither was read."""
        try:
            rows = iter_known_rows(self._archive, [place.name])
            if rows is not None:
                return _Left(True, *self._count(rows, place.archive_file))
        except SIDECAR_ERRORS:
            pass  # its records say the same
        if place.number > 1 or self._quick:
            return None
        try:
            records = read_rows_anew(self._archive, place.archive_file, act_time_ms=0)
            captures, originals = self._count(records, place.archive_file)
        except (*SIDECAR_ERRORS, InputRefused):
            return None
        return _Left(captures > 0, captures, originals)

    def _count(self, rows: Iterable[SidecarRow], archive_file: str) -> tuple[int, int]:
        captures = originals = 0
        keys = (row.row_key for row in rows if row.row_key is not None)
        while batch := list(islice(keys, _BATCH_ROWS)):
            columns = (CaptureFacts.COLUMN, Pin.COLUMN)
            for row in self._rows.get_rows(CAPTURES, batch, columns=columns).values():
                facts = decoded(CaptureFacts, row.value(CaptureFacts.COLUMN))
                captures += facts is not None and facts.archive_file == archive_file
                originals += Pin.COLUMN in row.cells
        return captures, originals

    def _way_back(self, place: Generation) -> str:
        """How to land the file again: its oldest generation, which has most of its records full."""
        archive_file = place.archive_file
        names = (
            name
            for number in range(1, place.number + 1)
            for name in possible_names(archive_file, number)
        )
        first = next((name for name in names if self._archive.size(name) is not None), place.name)
        if first != place.name:
            return f"leave it until {first} has landed again; then it can go"
        if place.ending is not None:
            return "put the rows back from a backup"
        crawl = crawl_of(archive_file)
        inside = PurePosixPath(archive_file).relative_to(crawl)
        folder = f"into the folder FOLDER, as {inside}"
        again = f"copy it {folder}, and land it again: `pinakes ingest FOLDER --crawl {crawl}`"
        then = "`pinakes fsck --full --repair`"
        if place.number == 1:
            return f"{again}, {then}, `pinakes dedupe {crawl}`"
        return f"{again}, {then}; then {archive_file} has its bytes, and it can go"


def _describe(left: _Left) -> str:
    words = "its row in the catalogue is lost"
    if left.captures:
        words += f", but not those of {count_of(left.captures, 'capture')} in it"
    if left.originals:
        words += f"; revisits in other files refer to {count_of(left.originals, 'capture')} in it"
    return words
