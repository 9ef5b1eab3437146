"""Rows of `captures` and `digests` that no file accounts for: both tables are read to the end.

A file that was read in full has an account of its rows.  Where the tables have others of it, they
are read once more, and so is the file; what neither it nor any sidecar accounts for is invented.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import TABLE as CAPTURES
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import FileEntry, read_entry, scan_entries
from pinakes.catalog.row_deletion import RowName, rows_of_records
from pinakes.counts import count_of
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_cells import CaptureFacts, ExternalLine, Pin
from pinakes.hbase_schema.digest_keys import decode_digest_key
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import Row, RowStore

from .accounts import Account, number_of
from .acts import DeadActs
from .compare import cell_class, decoded
from .findings import FsckFinding
from .mending import SIDECAR_ERRORS
from .quarantine import Quarantine
from .stored import StoredFileCheck

DIGESTS = "digests"
_MOST_KEPT = 100_000
_EXAMPLES = 3
_OUTLIVE = frozenset({Pin.COLUMN})
"""A pin stays when its capture is taken out (`delete_rows`)."""


@dataclass(slots=True)
class Strays:
    """Rows that may be of nothing; `outside` are those of files that have not landed.

    `is_cut`: there are more, which a later run finds.
    """

    outside: dict[str, list[RowName]] = field(default_factory=dict)
    odd: list[RowName] = field(default_factory=list)
    accounts: dict[str, Account] = field(default_factory=dict)
    is_cut: bool = False

    def keep(self, row: RowName) -> None:
        """Keep an odd row, unless there are very many."""
        if len(self.odd) < _MOST_KEPT:
            self.odd.append(row)
        else:
            self.is_cut = True


class _Named(NamedTuple):
    """A row, and the file that it says it is of; None: it does not say, or cannot be read."""

    table: str
    key: bytes
    archive_file: str | None


def scan_strays(store: RowStore, stored: Container[str], accounts: Iterable[Account]) -> Strays:
    """Compare both tables with the accounts of files.  `stored` are all files that have landed.

    Memory: rows of files that have not landed, and odd ones.
    """
    found = Strays()
    sums = {one.entry.archive_file: Account(one.entry) for one in accounts}
    found.accounts = sums
    for table, key, name in _scan_all(store):
        if name is None:
            found.keep(RowName(table, key, ""))
        elif name not in stored:
            found.outside.setdefault(name, []).append(RowName(table, key, name))
        elif name in sums:
            (sums[name].captures if table == CAPTURES else sums[name].digests).add([key])
    return found


def scan_odd(store: RowStore, expected: dict[str, set[int]], found: Strays) -> None:
    """Add the rows of files that are not among those expected, by number; reads both tables."""
    for table, key, name in _scan_all(store):
        if name in expected and number_of(key) not in expected[name]:
            found.keep(RowName(table, key, name or ""))


def _scan_all(store: RowStore) -> Iterator[_Named]:
    for row in store.scan(CAPTURES):
        if CaptureFacts.COLUMN in row.cells:
            facts = decoded(CaptureFacts, row.value(CaptureFacts.COLUMN))
            yield _Named(CAPTURES, row.key, facts.archive_file if facts is not None else None)
        elif not _may_stand(row):
            yield _Named(CAPTURES, row.key, None)
    for row in store.scan(DIGESTS):
        try:
            name = decode_digest_key(row.key).archive_file
        except MalformedRecord:
            yield _Named(DIGESTS, row.key, None)
        else:
            yield _Named(DIGESTS, row.key, name)


def _may_stand(row: Row) -> bool:
    """Whether a row without facts of a capture is a line of an archive elsewhere, or a pin."""
    if ExternalLine.COLUMN not in row.cells and not row.cells.keys() <= _OUTLIVE:
        return False
    return all(
        (cls := cell_class(CAPTURES, column)) is not None and decoded(cls, cell.value) is not None
        for column, cell in row.cells.items()
    )


def without_accounted(
    odd: Iterable[RowName], rows_of_files: Iterable[RowName]
) -> dict[str, list[RowName]]:
    """Those that no file accounts for, by the file that they name; "": none."""
    left = {(row.table, row.key): row for row in odd}
    for row in rows_of_files:
        left.pop((row.table, row.key), None)
    found: dict[str, list[RowName]] = {}
    for row in left.values():
        found.setdefault(row.archive_file, []).append(row)
    return found


def invented_message(names: list[RowName]) -> str:
    """How many there are, and the first."""
    shown = "; ".join(
        f"{name.table} {name.key.decode('ascii', 'backslashreplace')[:150]}"
        for name in names[:_EXAMPLES]
    )
    more = f"; and {len(names) - _EXAMPLES:,} more" if len(names) > _EXAMPLES else ""
    return f"of no record: {count_of(len(names), 'row')}: {shown}{more}"


class StrayCheck:
    """Finds rows of files that have not landed, and of no record, once all files are checked."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        acts: DeadActs,
        check_of: Callable[[FileEntry, FileFacts], StoredFileCheck],
        quarantine: Quarantine,
        *,
        accounts: Mapping[str, Account],
        left_out: Collection[str],
        lost: Container[str],
    ) -> None:
        """`accounts` are those of the files that were read; of those in `left_out` nothing is
        known.  Those in `lost` are in the archive, and their row is lost."""
        self._rows = rows
        self._archive = archive
        self._acts = acts
        self._check_of = check_of
        self._quarantine = quarantine
        self._accounts = accounts
        self._left_out = left_out
        self._lost = lost

    def findings(self, stored: set[str]) -> Iterator[FsckFinding]:
        """Rows of files that have not landed, and of no record; reads both tables to the end."""
        found = scan_strays(self._rows, stored, self._accounts.values())
        for name, rows in sorted(found.outside.items()):
            entry = self._acts.settled(read_entry(self._rows, name))
            if entry is None or entry.state is FileState.STORED:
                continue  # it lands, or has landed since the scan
            if name in self._lost:
                continue  # named already, and its rows are in use again once it has landed again
            yield FsckFinding(
                code="rows-alone",
                file=name,
                message=f"{count_of(len(rows), 'row')} of a file that has not landed",
                repair="delete the rows",
                mend=partial(self._delete_strays, entry, rows),
            )
        yield from self._check_invented(found)

    def _check_invented(self, found: Strays) -> Iterator[FsckFinding]:
        """Each row that no record of any file accounts for; files of such rows are read again."""
        again = {
            name: account.entry
            for name, account in self._accounts.items()
            if not account.is_as(found.accounts[name]) and not self._acts.has_changed(account.entry)
        }
        names = {name: set(self._rows_of(entry)) for name, entry in again.items()}
        if names:
            numbers = {name: {number_of(row.key) for row in rows} for name, rows in names.items()}
            scan_odd(self._rows, numbers, found)
        if not found.odd:
            return
        try:
            invented = without_accounted(found.odd, self._all_rows(names))
            is_proven = not self._left_out
        except (*SIDECAR_ERRORS, InputRefused):
            # Of a file whose sidecar cannot be read it is not known which rows it has.
            invented, is_proven = without_accounted(found.odd, ()), False
        for name, rows in sorted(invented.items()):
            yield FsckFinding(
                code="invented",
                file=name or "rows",
                message=invented_message(rows),
                repair="delete the rows" if is_proven else None,
                mend=partial(self._delete_invented, again.get(name), rows) if is_proven else None,
            )

    def _rows_of(self, entry: FileEntry) -> Iterator[RowName]:
        """The rows that a file has, by its bytes."""
        if entry.facts is None:
            return
        records = self._check_of(entry, entry.facts).full_check().rows_of_bytes()
        yield from rows_of_records(records, entry.archive_file, entry.facts.collection)

    def _all_rows(self, read: Mapping[str, set[RowName]]) -> Iterator[RowName]:
        """The rows that all stored files have: of those that were read, else by sidecars.

        Raises:
            MalformedRecord, SchemaError, OSError: a sidecar cannot be read.
        """
        for rows in read.values():
            yield from rows
        for entry in scan_entries(self._rows, leave_out=self._left_out):
            is_read = entry.archive_file in read
            if not is_read and entry.state is FileState.STORED and entry.facts is not None:
                records = iter_sidecar(self._archive, entry.stored_name)
                yield from rows_of_records(records, entry.archive_file, entry.facts.collection)

    def _delete_invented(self, entry: FileEntry | None, rows: list[RowName]) -> str | None:
        if entry is None:
            return self._delete("invented", rows, None)
        with self._acts.holding(entry):
            return self._delete("invented", rows, entry)

    def _delete_strays(self, entry: FileEntry, rows: list[RowName]) -> str | None:
        with self._acts.holding(entry):
            return self._delete("rows-alone", rows, entry)

    def _delete(self, code: str, rows: list[RowName], entry: FileEntry | None) -> str | None:
        return self._quarantine.delete_rows(
            rows,
            code=code,
            file=entry.archive_file if entry is not None else "rows",
            why=invented_message(rows),
            entry=entry,
        )
