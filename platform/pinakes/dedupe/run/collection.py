"""The files of a collection, as dedupe reads them: what is decided on, and what is pinned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from pinakes.acts.act import Act
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import FileEntry, read_entry, scan_entries
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.decide.clusters import KNOWN, LATE, SETTLED
from pinakes.dedupe.decide.flags import FlagsInOrder
from pinakes.dedupe.decide.policy import NO_POLICIES, DedupePolicies, format_marks
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.file_progress import Advance, no_advance

from .survey import DuplicateSurvey, stored_line, survey_captures

_NOW = 1 << 62


class Collection:
    """The stored files of one collection, each in its current generation."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        collection: str,
        *,
        run: str | None = None,
        policies: DedupePolicies = NO_POLICIES,
    ) -> None:
        """`run` is the one that decides now: what it has decided on first is new to it."""
        self.name = collection
        self._policies = policies
        self.archive = archive
        self._run = run
        self._survey: DuplicateSurvey | None = None
        self._surveyed: set[str] = set()
        self.entries: dict[str, FileEntry] = {
            entry.archive_file: entry
            for entry in scan_entries(rows)
            if entry.state is FileState.STORED
            and entry.facts is not None
            and entry.facts.collection == collection
        }

    def generations(self) -> dict[str, str]:
        """The stored file of each file's current generation, for `as_of`."""
        return {name: entry.stored_name for name, entry in self.entries.items()}

    def as_of(self, generations: Mapping[str, str]) -> None:
        """Read the files in these generations: those that decisions were made on."""
        self.entries = {
            name: replace(entry, generation=then.number, ending=then.ending)
            for name, entry in self.entries.items()
            if name in generations
            for then in [generation_of(generations[name])]
        }

    def read_again(self, rows: RowStore, name: str) -> None:
        """Look where a file is now that it was moved."""
        self.entries[name] = read_entry(rows, name)

    def open_files(self) -> StoredFiles:
        """The archive files, by identity; a context manager."""
        names = {name: entry.stored_name for name, entry in self.entries.items()}
        return StoredFiles(self.archive, names)

    def sidecar_rows(self, archive_file: str) -> Iterator[SidecarRow]:
        """The records of a file, in order."""
        return iter_sidecar(self.archive, self.entries[archive_file].stored_name)

    def given_rows(self, archive_file: str) -> Iterator[SidecarRow]:
        """Those of them that are given out: not what is withdrawn, and still there."""
        withdrawing = self.entries[archive_file].withdrawing
        return (row for row in self.sidecar_rows(archive_file) if row.ordinal not in withdrawing)

    @property
    def landed_bytes(self) -> int:
        """The size of its files, as they landed."""
        return sum(map(self.size_of, self.entries))

    def size_of(self, archive_file: str) -> int:
        """The size of a file as it landed; 0 where it is not of the collection."""
        entry = self.entries.get(archive_file)
        return entry.facts.size if entry is not None and entry.facts is not None else 0

    def survey(self, advance: Advance = no_advance) -> DuplicateSurvey:
        """What one pass over the sidecars shows; made when it is first asked for.

        `advance` is called for each file: half of its size, as `lines` reads it again.
        """
        if self._survey is None:
            rewritten = [name for name in sorted(self.entries) if self._is_rewritten(name)]
            landings = {self._landing_of(entry) for entry in self.entries.values()}
            # Of what landed with the captures of one run, that run has seen it all.
            needs_all = len(landings) > 1
            names = sorted(self.entries) if needs_all else rewritten
            rows = (
                (name, self._landing_of(self.entries[name]), row)
                for name in self._half_noted(names, advance)
                for row in self.given_rows(name)
            )
            look_around = needs_all and bool(rewritten)
            self._survey = survey_captures(rows, look_around=look_around)
            for name in rewritten:
                self._survey.want_unaddressable(name, self.given_rows(name))
        return self._survey

    def _half_noted(self, names: Iterable[str], advance: Advance) -> Iterator[str]:
        for name in names:
            yield name
            self._surveyed.add(name)
            advance(self.size_of(name) // 2)

    def _is_rewritten(self, name: str) -> bool:
        return self.entries[name].generation > 1

    def _landing_of(self, entry: FileEntry) -> int:
        """When the file came to dedupe, as the time of a run; the latest where it is new."""
        decided = entry.decided
        if decided is None:
            # One that was rewritten before runs were noted came before all others.
            return 0 if entry.generation > 1 else _NOW
        return decided.run_time_ms if decided.run != self._run else _NOW

    def lines(self, advance: Advance = no_advance) -> Iterator[ManifestLine]:
        """A manifest line for each capture of each file, with what the store knows of it.

        `advance` is called for each file: with `survey` it comes to the size of all.
        `known`: there before this run; `settled` and `late`: see `survey`; what policies want.
        """
        survey = self.survey(advance)
        late = FlagsInOrder((number, LATE) for number in survey.late)
        number = 0
        for name in sorted(self.entries):
            known = KNOWN if self._landing_of(self.entries[name]) != _NOW else 0
            policy = self._policies.of(self.name, crawl_of(name))
            scope = policy.scope
            for row in self.given_rows(name):
                line = stored_line(row, name)
                if line is None:
                    continue
                flags = known | late.take(number)
                number += 1
                if line.type is None:
                    if survey.is_settled(line):
                        flags |= SETTLED
                    flags |= policy.exemption(
                        size=row.payload_size or 0, media_type=row.media_type, status=row.status
                    )
                    line = line._replace(marks=format_marks(flags, scope))
                yield line
            size = self.size_of(name)
            advance(size - size // 2 if name in self._surveyed else size)


def pinned_originals(
    act: Act, collection: Collection, decided: Iterable[ManifestLine], advance: Advance
) -> Iterator[tuple[int, bytes]]:
    """Pin each original that decided lines name; (number of a line, row key of its original).

    By the originals' files: `advance` is called for each.
    """
    wanted = sort_outside_memory(
        (
            (line.original_file or "", line.original_offset or 0,
             line.original_inner_offset, number)
            for number, line in enumerate(decided)
        )
    )  # fmt: skip
    cell = {Pin.COLUMN: encode_cell(Pin(run=act.name))}
    for name, group in groupby(wanted, key=itemgetter(0)):
        rows = collection.sidecar_rows(name)
        row: SidecarRow | None = None
        puts: list[Put] = []
        for _, offset, inner, number in group:
            while row is None or (row.offset, row.inner_offset) < (offset, inner):
                row = next(rows, None)
                if row is None:
                    raise _not_in_sidecar(name)
            if (row.offset, row.inner_offset) != (offset, inner) or row.row_key is None:
                raise _not_in_sidecar(name)
            if not puts or puts[-1].row != row.row_key:
                puts.append(Put(row.row_key, cell, act.time_ms))
            yield number, row.row_key
        act.rows.mutate("captures", puts)
        advance(collection.size_of(name))


def _not_in_sidecar(name: str) -> PinakesError:
    return PinakesError("an original is not in its sidecar: run fsck", file=name)
