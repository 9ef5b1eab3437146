"""fsck of one landed file: bytes, sidecar, rows, locations, references."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import COLUMNS, TABLE, CaptureRow, readable_capture
from pinakes.catalog.dropped import drop_old_words
from pinakes.catalog.file_records import iter_sidecar, name_of, sidecar_of
from pinakes.catalog.file_rows import FileEntry, read_entries
from pinakes.catalog.record_rows import digest_rows, location_of
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.counts import count_of
from pinakes.dedupe.run.remaining import Remaining
from pinakes.errors import ONE_FILE_ONLY
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.file_cells import FileFacts, GenerationFacts
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .accepting import is_whole
from .accounts import Account
from .cell_findings import rows_missing, still_here
from .cells import FullFileCheck
from .findings import FsckFinding
from .mending import SIDECAR_ERRORS, Claiming, StoredFileMender
from .older import location_problem, message_of
from .originals import OriginalCheck
from .proofs import place_of, whose_else
from .quarantine import Quarantine, in_batches

_SAMPLE = 0.01


class StoredFileCheck:
    """Checks one stored file: its current generation, and earlier ones that are kept."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        entry: FileEntry,
        facts: FileFacts,
        claim: Claiming,
        quarantine: Quarantine,
    ) -> None:
        """`claim` holds the file while it is mended, `quarantine` keeps what that replaces."""
        self._rows = rows
        self._archive = archive
        self._entry = entry
        self._facts = facts
        self._mender = StoredFileMender(rows, archive, entry, facts, claim, quarantine)
        self._name = entry.stored_name
        self._originals = OriginalCheck(rows, archive, self._name)
        self.account: Account | None = None
        """Of its rows; of a full check that has read all records."""

    def findings(self, *, quick: bool, full: bool, seed: int) -> Iterator[FsckFinding]:
        """Yield everything that is wrong with the file; `quick` reads no bytes, `full` all."""
        if self._archive.size(self._name) is None:
            yield self._finding("file-missing", "put it back from a copy")
            return
        if not self._mender.is_noted:
            yield self._not_noted_finding(quick=quick)
            return
        problem = self._mender.size_problem if quick else self._mender.how_bytes_differ
        if problem is None:
            yield from self._described_findings(quick=quick, full=full, seed=seed)
            return
        yield self._finding("checksum", f"{problem}: {self._choices(quick=quick)}")
        # Nothing is derived from bytes that are not those on record, nor for them.
        for finding in self._described_findings(quick=True, full=False, seed=seed):
            yield replace(finding, repair=None, mend=None)

    def _not_noted_finding(self, *, quick: bool) -> FsckFinding:
        """Of a file of which the rows have lost what it was stored with.

        Its sidecar may say so; but a sidecar can be old, and nothing is noted on its word alone.
        """
        lost = "the rows do not say with which bytes it was stored"
        accept = "`pinakes fsck --accept` notes those that it has"
        try:
            of = None if quick else sidecar_of(self._archive, self._name)
        except SIDECAR_ERRORS:
            of = None
        if of is None or (of.file, of.generation) != (self._name, self._entry.generation):
            choices = f"put the rows back from a backup, or {accept}"
            return self._finding("facts", f"{lost}: {choices}")
        if self._archive.checksum(self._name) == of.sha256:
            return self._finding("facts", f"{lost}; by its sidecar it is whole: {accept}")
        problem = f"{lost}, and by its sidecar it had others"
        return self._finding("checksum", f"{problem}: {self._choices(quick=quick)}")

    def _choices(self, *, quick: bool) -> str:
        """What people can do where the bytes are not those on record; a quick look says no more
        of older generations than their sizes."""
        how = "may have" if quick else "still has"
        mending = f"{drop_old_words(self._facts.collection)} mends the file from it"
        whole = [
            f"generation {number} ({name})"
            for number in range(1, self._entry.generation)
            for name in [name_of(self._entry, self._generations, number)]
            for facts in [self._generations.get(number)]
            if how_bytes_differ(self._archive, name, facts, quick=quick) is None
            and (quick or self._lacks_some_of(name))
        ]
        from_older = [f"{name} {how} the records whole: {mending}" for name in whole]
        accept = "if there is none, `pinakes fsck --accept` goes on with what can be read"
        return "; ".join(["put it back from a copy", *from_older, accept])

    def _lacks_some_of(self, older: str) -> bool:
        """Whether this older generation has a record that is not in the current one any more."""
        try:
            lost = Remaining(self._rows, self._archive).lost_without(
                older, self._name, is_rotten=False
            )
            return next(lost, None) is not None
        except ONE_FILE_ONLY:
            return True

    def _described_findings(self, *, quick: bool, full: bool, seed: int) -> Iterator[FsckFinding]:
        """What is wrong with sidecar and rows; once more in full, after the sidecar was made
        again."""
        finding = self._sidecar_problem()
        if finding is not None:
            yield finding
            if not full or not self._mender.has_rebuilt:
                return
        if full:
            yield from self._check_fully()
        else:
            yield from self._check_by_sidecar(quick=quick, seed=seed)

    def _sidecar_problem(self) -> FsckFinding | None:
        if self._archive.size(sidecar_name(self._name)) is None:
            return self._sidecar_finding("sidecar-missing", "has no sidecar")
        try:
            other = whose_else(self._archive, self._name, self._mender.of)
        except SIDECAR_ERRORS as error:
            return self._sidecar_finding("sidecar-unreadable", message_of(error))
        if other is not None:
            return self._sidecar_finding("sidecar-other", f"its sidecar {other}")
        return None

    def _check_fully(self) -> Iterator[FsckFinding]:
        """Once more, if the sidecar was made again before all was compared."""
        is_new = True
        while is_new and self.account is None:
            self._mender.has_rebuilt = False
            check = self.full_check()
            try:
                yield from check.findings()
            except SIDECAR_ERRORS as error:
                if self._has_readable_sidecar():
                    raise  # it is a cell of another file's row
                yield self._sidecar_finding("sidecar-unreadable", message_of(error))
            self.account, is_new = check.account, self._mender.has_rebuilt
        if self._entry.holds_unkept_revisits:
            yield self._references_finding()

    def _has_readable_sidecar(self) -> bool:
        try:
            for _ in iter_sidecar(self._archive, self._name):
                pass
        except SIDECAR_ERRORS:
            return False
        return True

    def full_check(self) -> FullFileCheck:
        """Of all that the bytes of the current generation say."""
        return FullFileCheck(
            self._rows,
            self._archive,
            self._entry,
            self._facts,
            self._generations,
            self._mender,
            originals=self._originals,
            references=partial(self._check_references, quick=False),
        )

    def _check_by_sidecar(self, *, quick: bool, seed: int) -> Iterator[FsckFinding]:
        batches = in_batches(iter_sidecar(self._archive, self._name))
        chosen = random.Random(_seed_of(seed, self._name))  # noqa: S311
        while True:
            try:
                batch = next(batches, None)
            except SIDECAR_ERRORS as error:
                yield self._sidecar_finding("sidecar-unreadable", message_of(error))
                return
            if batch is None:
                break
            for finding in self._check_rows(batch, quick=quick):
                yield finding
                if self._mender.has_rebuilt:
                    return
            if not quick:
                sample = [row for row in batch if chosen.random() < _SAMPLE]
                for finding in self._check_locations(sample):
                    yield finding
                    if self._mender.has_rebuilt:
                        return
        if self._entry.holds_unkept_revisits:
            yield self._references_finding()

    def _finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(code=code, file=self._name, message=message)

    @property
    def _generations(self) -> dict[int, GenerationFacts]:
        return self._mender.generations

    # --- sidecar

    def _sidecar_finding(self, code: str, message: str) -> FsckFinding:
        return FsckFinding(
            code=code,
            file=self._name,
            message=message,
            repair="rebuild the sidecar and the rows from the archive file"
            if self._entry.generation == 1
            else "rebuild the sidecar from the archive file and the rows",
            mend=partial(self._mender.rebuild, code, message),
        )

    # --- rows

    def _check_rows(self, batch: Sequence[SidecarRow], *, quick: bool) -> Iterator[FsckFinding]:
        captures = [row for row in batch if row.row_key is not None]
        generation = self._entry.generation
        found = self._rows.get_rows(
            "captures",
            [row.row_key for row in captures if row.row_key is not None],
            columns=[b"m"],
        )
        missing, wrong, unreadable, left = [], [], [], 0
        for row in captures:
            stored = found.get(row.row_key or b"")
            capture = readable_capture(stored) if stored is not None else None
            if stored is None or CaptureFacts.COLUMN not in stored.cells:
                missing.append(row)
            elif capture is None:
                unreadable.append(row)
            elif capture.locations.get(generation) != location_of(row, self._entry.ending):
                wrong.append(row)
            if capture is not None and capture.withdrawal is not None and not is_tombstone_row(row):
                left += 1
        digests = dict(pair for row in captures for pair in self._digest_rows(row))
        there = self._rows.get_rows("digests", list(digests))
        if missing or len(there) < len(digests):
            lost = len(digests) - len(there)
            finding = self._rows_finding("rows-missing", rows_missing(len(missing), lost), batch)
            yield replace(finding, repair=f"{finding.repair}{self._rest()}") if missing else finding
        if wrong:
            what = f"wrong places: {count_of(len(wrong), 'row')}, first {wrong[0].offset}"
            yield self._rows_finding("location", what, batch)
        if unreadable:
            rows = count_of(len(unreadable), "row")
            what = f"a cell cannot be read of {rows}: see --full"
            yield self._finding("cell", what)
        if left:
            yield still_here(self._name, left)
        yield from self._check_references(captures, quick=quick)

    def _digest_rows(self, row: SidecarRow) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
        return digest_rows(row, self._entry.archive_file, self._facts.collection)

    def _rows_finding(self, code: str, message: str, batch: Sequence[SidecarRow]) -> FsckFinding:
        return FsckFinding(
            code=code,
            file=self._name,
            message=message,
            repair="write the rows again from the sidecar",
            mend=partial(self._mender.write_again, batch, code, message),
        )

    def _rest(self) -> str:
        """What rows of captures lack that are written from the current sidecar."""
        older = self._mender.generations.items()
        if any(number < self._entry.generation and not facts.dropped for number, facts in older):
            return "; then --full --repair adds their places in older generations"
        return ""

    def _references_finding(self) -> FsckFinding:
        """Drawn when the rows are checked, and what is missing was written."""
        return FsckFinding(
            code="references",
            file=self._name,
            message="what its revisits by crawlers refer to is known from its sidecar only",
            repair="note that it is known from rows",
            mend=self._mender.keep_references,
        )

    # --- locations and references

    def _check_locations(self, rows: Iterable[SidecarRow]) -> Iterator[FsckFinding]:
        with self._archive.open(self._name) as file:
            source = Source(file, name=self._name)
            for row in rows:
                record = read_record(source, row.offset, inner_offset=row.inner_offset, digests=())
                if not isinstance(record, Record) or place_of(record) != place_of(row):
                    yield self._location_finding(row)
                    return

    def _location_finding(self, row: SidecarRow | None) -> FsckFinding:
        return self._sidecar_finding("location", location_problem(row))

    def _is_away(self, original: CaptureRow, files: Mapping[str, FileEntry]) -> bool:
        """Whether the catalogue does not have its file, and the archive no generation of it; one
        that is there is named for itself."""
        file = files[original.facts.archive_file]
        if file.state is not None or file.is_in_flight:
            return False
        places = original.locations.items()
        names = (generation_file(file.archive_file, n, place.ending) for n, place in places)
        return all(self._archive.size(name) is None for name in names)

    def _check_references(
        self, rows: Iterable[SidecarRow], *, quick: bool
    ) -> Iterator[FsckFinding]:
        """`quick`: without the bodies of originals."""
        ours = [row for row in rows if row.is_replaced and row.original_key]
        keys = [row.original_key for row in ours if row.original_key]
        there = self._rows.get_rows(TABLE, keys, columns=COLUMNS) if keys else {}
        # The check of its own file reports what cannot be read.
        unread = {key for key, row in there.items() if readable_capture(row) is None}
        unread = {key for key in unread if CaptureFacts.COLUMN in there[key].cells}
        originals = {
            key: capture
            for key, row in there.items()
            if (capture := readable_capture(row)) is not None
        }
        names = {capture.facts.archive_file for capture in originals.values()}
        away = Counter[str]()
        files = read_entries(self._rows, sorted(names))
        for row in ours:
            original = originals.get(row.original_key or b"")
            if row.original_key in unread:
                continue
            if original is not None and self._is_away(original, files):
                away[original.facts.archive_file] += 1
                continue
            what = _original_problem(original)
            if what is None and original is not None and not quick:
                is_other = self._originals.has_other_body(row, original)
                what = "has another body" if is_other else None
            if what is not None:
                yield self._finding(
                    "reference", f"the original of the revisit at offset {row.offset} {what}"
                )
        for name, count in sorted(away.items()):
            where = f"{name}, which is neither in the catalogue nor in the archive"
            yield self._finding("reference", f"{count_of(count, 'revisit')} to records in {where}")
        bare = sorted(key for key, original in originals.items() if not original.pinned)
        if bare:
            yield FsckFinding(
                code="pin-missing",
                file=self._name,
                message=f"not pinned: {count_of(len(bare), 'original')} that it refers to",
                repair="pin them",
                mend=partial(self._mender.pin, bare),
            )


def _original_problem(original: CaptureRow | None) -> str | None:
    if original is None:
        return "does not exist"
    if original.is_duplicate:
        return "is a revisit itself"
    return None if is_whole(original.facts.findings) else "is damaged"


def _seed_of(seed: object, name: str) -> bytes:
    """A seed from a name, which may hold any bytes; seeds from text must be UTF-8."""
    return f"{seed} {name}".encode("utf-8", "surrogateescape")
