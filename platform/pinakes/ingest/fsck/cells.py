"""`fsck --full` of one stored file: its bytes are read, and everything that they say is compared.

    bytes ─▶ rows as they should be ─▶ sidecar
                                    ─▶ cells of `captures`, rows of `digests`, facts of the file

The bytes are those that were stored: the caller has compared their checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import TABLE
from pinakes.catalog.file_records import name_of
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.record_rows import digest_rows
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.counts import count_of
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark, DigestEntry, Location
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.ingest.landed import COMPRESSIONS, Landed, counted
from pinakes.row_store.port import Row, RowStore
from pinakes.warc.compression.members import compression_of
from pinakes.warc.reader import Item
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .accounts import Account
from .cell_findings import SidecarProblems, describe_differences, describe_rows, still_here
from .cell_writing import CellChange, CellWriter
from .compare import CellDifference, FileNow, compare_capture, decoded, expected_cells, shown
from .file_facts import FileFactsCheck, LandedAgain
from .findings import FsckFinding
from .mending import StoredFileMender
from .older import OlderPlaces
from .originals import OriginalCheck
from .quarantine import in_batches
from .records import OtherRecordsError, ReadRow, read_beside

DIGESTS = "digests"
References = Callable[[Sequence[SidecarRow]], Iterator[FsckFinding]]


class FullFileCheck:
    """Compares what the bytes of one stored file say with what stands.  Not for threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        generations: Mapping[int, GenerationFacts],
        mender: StoredFileMender,
        *,
        originals: OriginalCheck,
        references: References,
    ) -> None:
        """`originals` is of this file; `references` checks what the revisits of ours among some
        rows refer to."""
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._generations = generations
        self._mender = mender
        self._references = references
        self._originals = originals
        facts_now = generations.get(entry.generation)
        self._now = FileNow(
            current=entry.current,
            last=max((entry.generation, *generations)),
            run=facts_now.act if facts_now is not None else facts.act,
            withdrawing=entry.withdrawing,
            is_settled=entry.unfinished_act is None,
        )
        self.account: Account | None = None
        """Of the rows that it has; None until all records are read."""

    def findings(self) -> Iterator[FsckFinding]:
        """Yield everything that is wrong.  Memory: some thousand rows.

        Raises:
            MalformedRecord, SchemaError: the sidecar cannot be read.
        """
        account, problem = Account(self._entry), SidecarProblems()
        landed = LandedAgain(self._entry.archive_file)
        older = self._older()
        try:
            for read in in_batches(self._read(landed.result)):
                batch = self._originals.settled(read)
                problem.note(batch)
                landed.note(batch)
                olds = [_of_record(older, read.row) for read in batch]
                yield from self._check(batch, olds, account)
        except OtherRecordsError as error:
            yield self._sidecar_finding("sidecar-differs", error.message)
            return
        finally:
            for places in older.values():
                places.close()
        self.account = account
        if problem.count:
            yield self._sidecar_finding(problem.code, problem.message)
        landed.result.compression = self._compression()
        check = FileFactsCheck(
            self._rows, self._entry, self._facts, self._generations, landed, self._mender
        )
        yield from check.findings()

    def _compression(self) -> str:
        name = self._entry.stored_name
        with self._archive.open(name) as file:
            compression = compression_of(Source(file, name=name))
        return compression if compression in COMPRESSIONS else "none"

    def rows_of_bytes(self) -> Iterator[SidecarRow]:
        """The rows as the bytes say, read once more.  Raises as `findings`."""
        landed = Landed(archive_file=self._entry.archive_file)
        return (read.row for read in self._read(landed))

    def _read(self, landed: Landed) -> Iterator[ReadRow]:
        def counting(items: Iterator[Item]) -> Iterator[Record]:
            return counted(items, landed)

        act_time_ms = CellWriter(self._rows, self._entry).landed_ms()
        return read_beside(
            self._archive,
            self._entry,
            act_time_ms=act_time_ms,
            counting=counting,
            is_accepted=self._mender.is_accepted,
        )

    def _sidecar_finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(
            code=code,
            file=self._entry.stored_name,
            message=message,
            repair="rebuild the sidecar",
            mend=partial(self._mender.rebuild, code, message),
        )

    def _older(self) -> dict[int, OlderPlaces]:
        """The places in older generations that are still there as they were written."""
        found = {}
        for number in range(1, self._entry.generation):
            facts = self._generations.get(number)
            name = name_of(self._entry, self._generations, number)
            if facts is None or self._archive.size(name) != facts.size:
                continue
            if self._archive.checksum(name) == facts.sha256:
                found[number] = OlderPlaces(self._archive, name)
        return found

    # --- rows of captures and digests

    def _check(
        self, batch: Sequence[ReadRow], olds: Sequence[Mapping[int, Location]], account: Account
    ) -> Iterator[FsckFinding]:
        pairs = [
            (read, old)
            for read, old in zip(batch, olds, strict=True)
            if read.row.row_key is not None
        ]
        keys = [read.row.row_key or b"" for read, _ in pairs]
        captures = self._rows.get_rows(TABLE, keys) if keys else {}
        digests = self._digests_of(read.row for read, _ in pairs)
        there = self._rows.get_rows(DIGESTS, list(digests)) if digests else {}
        differences = list(self._capture_differences(pairs, captures))
        differences += _digest_differences(digests, there)
        lost = [
            read.row
            for read, _ in pairs
            if is_tombstone_row(read.row) and _lacks(captures.get(read.row.row_key or b""))
        ]
        if lost:
            yield self._lost_withdrawals(lost)
        found = self._findings_of(differences, digests)
        yield from found
        yield from self._still_here([read.row for read, _ in pairs], captures)
        yield from self._references([read.row for read, _ in pairs])
        if lost or found:  # they may have been mended
            captures = self._rows.get_rows(TABLE, keys, columns=[CaptureFacts.COLUMN])
            there = self._rows.get_rows(DIGESTS, list(digests))
        account.captures.add(key for key, row in captures.items() if self._names_it(row))
        account.digests.add(there)

    def _names_it(self, row: Row) -> bool:
        facts = decoded(CaptureFacts, row.value(CaptureFacts.COLUMN))
        return facts is not None and facts.archive_file == self._entry.archive_file

    def _digests_of(self, rows: Iterable[SidecarRow]) -> dict[bytes, bytes]:
        name, collection = self._entry.archive_file, self._facts.collection
        return {
            key: cells[DigestEntry.COLUMN]
            for row in rows
            for key, cells in digest_rows(row, name, collection)
        }

    def _capture_differences(
        self,
        pairs: Sequence[tuple[ReadRow, Mapping[int, Location]]],
        captures: Mapping[bytes, Row],
    ) -> Iterator[CellDifference]:
        for read, old in pairs:
            key = read.row.row_key or b""
            stands = captures.get(key)
            is_there = stands is not None and CaptureFacts.COLUMN in stands.cells
            if stands is not None and (is_there or is_tombstone_row(read.row)):
                yield from compare_capture(read.row, read.run, stands, old, self._now)
            elif not is_tombstone_row(read.row):
                run = read.run or self._now.run
                wanted = expected_cells(read.row, read.run, None, old, self._now)
                for column, value in wanted.items():
                    of = run if column == DedupeMark.COLUMN else None
                    yield CellDifference("rows-missing", key, column, "is missing", value, of)

    def _lost_withdrawals(self, rows: Sequence[SidecarRow]) -> FsckFinding:
        code, message = (
            "rows-missing",
            f"withdrawn, and not in their rows: {count_of(len(rows), 'capture')}",
        )
        return FsckFinding(
            code=code,
            file=self._entry.stored_name,
            message=message,
            repair="write the rows again from the sidecar",
            mend=partial(self._mender.write_again, rows, code, message),
        )

    def _still_here(
        self, rows: Sequence[SidecarRow], captures: Mapping[bytes, Row]
    ) -> Iterator[FsckFinding]:
        withdrawn = {key for key, row in captures.items() if Withdrawal.COLUMN in row.cells}
        left = len([row for row in rows if row.row_key in withdrawn and not is_tombstone_row(row)])
        if left:
            yield still_here(self._entry.stored_name, left)

    def _findings_of(
        self, differences: Sequence[CellDifference], digests: Mapping[bytes, bytes]
    ) -> list[FsckFinding]:
        """One for each code, and whether it can be mended: a count, and a few examples."""
        by_code: dict[tuple[str, bool], list[CellDifference]] = {}
        for one in differences:
            by_code.setdefault((one.code, one.is_known), []).append(one)
        return [
            self._finding_of(code, some, digests, is_known=is_known)
            for (code, is_known), some in sorted(by_code.items())
        ]

    def _finding_of(
        self,
        code: str,
        some: Sequence[CellDifference],
        digests: Mapping[bytes, bytes],
        *,
        is_known: bool,
    ) -> FsckFinding:
        message = (
            describe_rows(some) if code == "rows-missing" else describe_differences(code, some)
        )
        changes = [_change(one, digests) for one in some]
        return FsckFinding(
            code=code,
            file=self._entry.stored_name,
            message=message,
            repair=_repair(code) if is_known else None,
            mend=partial(self._mender.put_right, changes, code, message) if is_known else None,
        )


def _repair(code: str) -> str:
    return "delete them" if code == "invented" else "write them again as the file says"


def _change(one: CellDifference, digests: Mapping[bytes, bytes]) -> CellChange:
    table = DIGESTS if one.column == DigestEntry.COLUMN else TABLE
    return CellChange(table, one.key, one.column, one.value, one.run)


def _digest_differences(
    digests: Mapping[bytes, bytes], there: Mapping[bytes, Row]
) -> Iterator[CellDifference]:
    column = DigestEntry.COLUMN
    for key, value in digests.items():
        row = there.get(key)
        stands = row.value(column) if row is not None else None
        if stands == value:
            continue
        if stands is None:
            yield CellDifference("rows-missing", key, column, "is missing", value)
        elif decoded(DigestEntry, stands) != decoded(DigestEntry, value):
            what = f"is {shown(stands)}, the file says {shown(value)}"
            yield CellDifference("cell", key, column, what, value)


def _lacks(row: Row | None) -> bool:
    return row is None or not {CaptureFacts.COLUMN, Withdrawal.COLUMN} <= row.cells.keys()


def _of_record(older: Mapping[int, OlderPlaces], row: SidecarRow) -> dict[int, Location]:
    found = ((number, places.of_record(row)) for number, places in older.items())
    return {number: one for number, one in found if one is not None}
