"""fsck of the small tables: rows of files, crawls, runs, and what is in flight.

Each cell is decoded.  What another cell, or the files, still say of one that is lost is written
again; the rest of fsck leaves out files whose row cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from pinakes.catalog.crawl_rows import OPEN
from pinakes.catalog.file_counts import LANDED_VERB, counts_of_landing
from pinakes.hbase_schema.cells import Cell, encode_cell
from pinakes.hbase_schema.columns import CELLS, named_column, numbered_column
from pinakes.hbase_schema.file_cells import (
    ActCounts,
    Claim,
    CurrentGeneration,
    FileErrors,
    FileFacts,
    FileStateCell,
    GenerationFacts,
    ReferencesKept,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import (
    ALL_CRAWLS,
    crawl_of,
    decode_file_key,
    encode_collection_key,
    encode_crawl_key,
    files_of,
)
from pinakes.hbase_schema.run_cells import CrawlFacts, CrawlState
from pinakes.row_store.port import Delete, Put, Row, RowStore, get_row

from .compare import cell_class, decoded, shown
from .findings import FsckFinding

_TABLES = ("files", "crawls", "runs", "inflight")
_MADE_ANEW = (
    FileErrors.COLUMN,
    ReferencesKept.COLUMN,
    FileStateCell.COLUMN,
    CurrentGeneration.COLUMN,
)
"""Of a file: without them the check of its bytes writes them again (`state-lost` the last two)."""


class TablesCheck:
    """Checks the small tables of one store."""

    def __init__(self, rows: RowStore, is_alive: Callable[[Claim | None], bool]) -> None:
        """`is_alive` says whether a process holds a claim."""
        self._rows = rows
        self._is_alive = is_alive
        self.files: set[str] = set()
        """Files that are left out, after `findings`: their rows cannot be read, or their crawl's,
        or the lease of their collection."""
        self.crawls: set[str] = set()
        """Crawls that are, for the same reason."""

    def findings(self) -> Iterator[FsckFinding]:
        """Yield what cannot be read, and what is missing.  Memory: a collection for each crawl."""
        collections: dict[str, str] = {}
        landings: dict[str, int] = {}
        for row in self._rows.scan("files"):
            yield from self._check_file(row)
            now = get_row(self._rows, "files", row.key)
            if now is None:
                continue
            name = decode_file_key(row.key)
            if any(_unreadable("files", now)):
                self.files.add(name)
            facts, state = _file_of(now)
            if facts is not None and state is FileState.STORED:
                crawl = crawl_of(name)
                collections.setdefault(crawl, facts.collection)
                landed = now.cells[FileFacts.COLUMN].timestamp_ms
                landings[crawl] = min(landed, landings.get(crawl, landed))
        for table in _TABLES[1:]:
            yield from self._check_table(table)
        yield from self._check_crawls(collections, landings)
        self._leave_out()

    def _leave_out(self) -> None:
        for row in self._rows.scan("crawls", ALL_CRAWLS):
            facts = decoded(CrawlFacts, row.value(CrawlFacts.COLUMN))
            lease = None
            if facts is not None:
                lease = get_row(self._rows, "crawls", encode_collection_key(facts.collection))
            rows = [row, lease] if lease is not None else [row]
            if any(any(_unreadable("crawls", one)) for one in rows):
                self.crawls.add(row.key.decode("ascii"))
        for crawl in self.crawls:
            names = self._rows.scan("files", files_of(crawl))
            self.files.update(decode_file_key(row.key) for row in names)

    def _check_table(self, table: str) -> Iterator[FsckFinding]:
        for row in self._rows.scan(table):
            for column, value in _unreadable(table, row):
                if table == "crawls" and column in (CrawlFacts.COLUMN, CrawlState.COLUMN):
                    continue
                yield _finding(table, row.key, column, value)

    # --- files

    def _check_file(self, row: Row) -> Iterator[FsckFinding]:
        facts, state = _file_of(row)
        wrong = dict(_unreadable("files", row))
        first = numbered_column(GenerationFacts, 1)
        if state is FileState.STORED:
            wrong |= {one: b"" for one in (FileFacts.COLUMN, first) if one not in row.cells}
        for column, value in sorted(wrong.items()):
            if self._is_alive(decoded(Claim, row.value(Claim.COLUMN))):
                return
            cell = self._file_cell(row, column, facts)
            mend, how = None, "write it again as its other cells say"
            if cell is not None:
                mend = partial(self._put, "files", row, column, cell)
            elif column in row.cells and column in _MADE_ANEW:
                mend = partial(self._delete, "files", row, column)
                how = "delete it: what it said is found again from the file"
            yield _finding("files", row.key, column, value, mend, how)

    def _file_cell(self, row: Row, column: bytes, facts: FileFacts | None) -> Cell | None:
        """The cell as others of the row give it; None where they do not."""
        column_1 = numbered_column(GenerationFacts, 1)
        name = decode_file_key(row.key)
        if column == column_1 and facts is not None:
            return GenerationFacts(
                file=name,
                size=facts.size,
                sha256=facts.sha256,
                why="landed",
                act=facts.act,
                dropped="" if _generation_of(row) == 1 else None,
            )
        if facts is not None and column == named_column(ActCounts, facts.act):
            return ActCounts(verb=LANDED_VERB, counts=counts_of_landing(facts))
        first = decoded(GenerationFacts, row.value(column_1))
        crawl = get_row(self._rows, "crawls", encode_crawl_key(crawl_of(name)))
        of_crawl = decoded(CrawlFacts, crawl.value(CrawlFacts.COLUMN)) if crawl else None
        if column != FileFacts.COLUMN or first is None or of_crawl is None:
            return None
        # What is counted here the check of its bytes counts.
        return FileFacts(
            size=first.size,
            sha256=first.sha256,
            collection=of_crawl.collection,
            format="none",
            compression="none",
            act=first.act,
        )

    # --- crawls

    def _check_crawls(
        self, collections: dict[str, str], landings: dict[str, int]
    ) -> Iterator[FsckFinding]:
        for crawl, collection in sorted(collections.items()):
            row = get_row(self._rows, "crawls", encode_crawl_key(crawl))
            facts = decoded(CrawlFacts, row.value(CrawlFacts.COLUMN)) if row is not None else None
            state = decoded(CrawlState, row.value(CrawlState.COLUMN)) if row is not None else None
            if facts is None or state is None:
                parts = [
                    name for name, cell in (("facts", facts), ("state", state)) if cell is None
                ]
                what = " and no ".join(parts)
                yield FsckFinding(
                    code="crawl-missing",
                    file=crawl,
                    message=f"its files have landed, and the catalogue has no {what} of it",
                    repair="rebuild it from its files, open: commit it where it was committed",
                    mend=partial(self._make_crawl, crawl, collection, landings[crawl]),
                )
            elif facts.collection != collection:
                yield FsckFinding(
                    code="crawl-differs",
                    file=crawl,
                    message=f"is of the collection {facts.collection}, and its files are of "
                    f"{collection}",
                    repair=f"note that it is of {collection}",
                    mend=partial(self._make_crawl, crawl, collection, landings[crawl]),
                )
        for row in self._rows.scan("crawls", ALL_CRAWLS):
            if row.key.decode("ascii") in collections:
                continue
            for column, value in _unreadable("crawls", row):
                if column in (CrawlFacts.COLUMN, CrawlState.COLUMN):
                    yield _finding("crawls", row.key, column, value)

    def _make_crawl(self, crawl: str, collection: str, landed_ms: int) -> None:
        key = encode_crawl_key(crawl)
        row = get_row(self._rows, "crawls", key)
        cell = row.cells.get(CrawlFacts.COLUMN) if row is not None else None
        facts = decoded(CrawlFacts, cell.value if cell is not None else None)
        if facts is None or facts.collection != collection:
            new = CrawlFacts(collection=collection)
            if facts is not None:
                new = replace(facts, collection=collection)
            time_ms = cell.timestamp_ms if cell is not None else landed_ms
            put = Put(key, {CrawlFacts.COLUMN: encode_cell(new)}, time_ms)
            self._rows.mutate("crawls", [put])
        if decoded(CrawlState, row.value(CrawlState.COLUMN) if row is not None else None) is None:
            state = encode_cell(CrawlState(state=OPEN, act=""))
            self._rows.mutate("crawls", [Put(key, {CrawlState.COLUMN: state}, None)])

    # --- mending

    def _put(self, table: str, row: Row, column: bytes, cell: Cell) -> None:
        stands = row.cells.get(column)
        times = [one.timestamp_ms for name, one in row.cells.items() if name[:2] == b"f:"]
        time_ms = stands.timestamp_ms if stands is not None else min(times, default=1)
        self._rows.mutate(table, [Put(row.key, {column: encode_cell(cell)}, time_ms)])

    def _delete(self, table: str, row: Row, column: bytes) -> None:
        time_ms = row.cells[column].timestamp_ms if column[:2] == b"f:" else None
        self._rows.mutate(table, [Delete(row.key, time_ms, columns=(column,))])


def _file_of(row: Row) -> tuple[FileFacts | None, FileState | None]:
    facts = decoded(FileFacts, row.value(FileFacts.COLUMN))
    state = decoded(FileStateCell, row.value(FileStateCell.COLUMN))
    return facts, FileState(state.state) if state is not None else None


def _generation_of(row: Row) -> int:
    current = decoded(CurrentGeneration, row.value(CurrentGeneration.COLUMN))
    return current.generation if current is not None else 1


def _unreadable(table: str, row: Row) -> Iterator[tuple[bytes, bytes]]:
    """Column and value of each cell that cannot be decoded, or that nothing writes."""
    for column, cell in row.cells.items():
        cls = cell_class(table, column)
        if cls is None or not any(
            decoded(one, cell.value) is not None for one in CELLS[table] if one.COLUMN == cls.COLUMN
        ):
            yield column, cell.value


def _finding(
    table: str,
    key: bytes,
    column: bytes,
    value: bytes,
    mend: Callable[[], None] | None = None,
    how: str = "",
) -> FsckFinding:
    name = (
        decode_file_key(key) if table in ("files", "inflight") else key.decode("ascii", "replace")
    )
    what = f"cannot be read: {shown(value)}" if value else "is missing"
    return FsckFinding(
        code="unreadable-row",
        file=name,
        message=f"{table} {column.decode('ascii', 'replace')} {what}",
        repair=how if mend is not None else None,
        mend=mend,
    )
