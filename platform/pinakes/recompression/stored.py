"""Files of a store in another compression: a new generation of each, proven before it is current.

    lease ─▶ of each file: claimed ─▶ written aside in the other form ─▶ read back, compared with
             the old one, all content and record by record ─▶ published ─▶ current ─▶ lease released

Nothing but compression and places changes.  Killed anywhere, the same command, in either direction,
completes it: a file that is in the form already is left, and what was published and never became
current is taken back.  Written again, for another level or dictionary, a file is left that would
have the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.acts.dead_writers import clear_task_folder
from pinakes.acts.generations import At, Check, Contents, InAnotherForm, unwatched
from pinakes.acts.many_files import AsItIs, FileResult, iter_batches, rewrite_file
from pinakes.acts.waves import Tasks, Waves, WrittenFile, take_file
from pinakes.archive_store.names import check_file_name
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import possible_names, read_current, require_as_stored
from pinakes.catalog.file_rows import FileEntry, Held, read_entry, release_claim, scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.unknown_files import name_unknown_files
from pinakes.errors import (
    ONE_FILE_ONLY,
    Conflict,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import (
    Generation,
    ending_in,
    ending_of,
)
from pinakes.rewrite.file_parts import Bytes, equal_streams
from pinakes.rewrite.new_file import UNCHANGED, WRITTEN
from pinakes.rewrite.recompress import require_same
from pinakes.rewrite.recompress_file import (
    PLANNED,
    TOO_LITTLE,
    Recompression,
    forecast,
    member_pieces,
)
from pinakes.row_store.port import RowStore
from pinakes.warc.compression.members import compression_of
from pinakes.warc.damage import holds_members
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .forms import StoredForm

VERB = "zstd"
LEFT = "left"
"""The outcome of a file that is in this compression already."""
Result = Recompression | PinakesError
"""Of a file; or why it stays as it is."""
_WAVE_BYTES = 1 << 38
"""At most so much is written by tasks before it is made current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToRecompress:
    """A file that is to become `target`, its next generation."""

    entry: FileEntry
    target: Generation

    @property
    def archive_file(self) -> str:
        return self.entry.archive_file

    @property
    def size(self) -> int:
        """As it landed."""
        return _size_of(self.entry)

    @property
    def takes_bytes(self) -> int:
        return self.size


TasksOf = Callable[[Act, StoredForm], Tasks[ToRecompress, Recompression]]
"""The tasks by which an act has files written in a form."""


@dataclass(frozen=True, slots=True)
class StoredRecompressor:
    """Writes files of one pair of stores in another compression.  Not for several threads."""

    rows: RowStore
    archive: ArchiveStore
    actor: Actor
    again: bool = False
    """Write files, too, that are in this compression already, unless they would be as they are."""
    min_saving: float = 0
    """Leave files of which less than this part would be saved; 0: none."""
    threads: int = 1
    """How many compress, where no tasks do."""
    tasks_of: TasksOf | None = None
    advance: Advance = no_advance
    at: At = unwatched

    def plan(
        self, crawls: Iterable[str], form: StoredForm, *, of_all: bool = False
    ) -> Iterator[Result]:
        """What each file would take, of large ones by a sample unless `of_all`; changes nothing,
        and takes no lease."""
        crawls = list(crawls)
        yield from name_unknown_files(self.rows, self.archive, crawls)
        for entry in self._entries(crawls):
            with FileProgress(self.advance, _size_of(entry)) as done:
                try:
                    yield self._planned(entry, form, done, of_all=of_all)
                except ONE_FILE_ONLY as problem:
                    yield problem

    def recompress(
        self, collection: str, crawls: Iterable[str], form: StoredForm
    ) -> Iterator[Result]:
        """Write the files of these crawls of a collection in another form; draw all results.

        Raises:
            Conflict: another act works on the collection, or did not finish.
            StoreUnavailable: as the stores; run again, it goes on.
        """
        act = Act.begin(self.rows, self.archive, self.actor, VERB, collection, at=self.at)
        with act:
            tasks = self.tasks_of(act, form) if self.tasks_of is not None else None
            if act.is_resumed:
                yield from self._take_back_left(act)
            crawls = list(crawls)
            yield from name_unknown_files(self.rows, self.archive, crawls)
            left: list[Result] = []
            files = self._chosen(crawls, form, left)
            for changed in self._changed(act, files, form, tasks):
                if changed.is_lost:
                    act.leave()
                yield from left
                left.clear()
                yield changed.report
                self.at("file done")
            yield from left
            if tasks is not None:
                yield from clear_task_folder(self.rows, self.archive, act.name)

    def _changed(
        self,
        act: Act,
        files: Iterable[ToRecompress],
        form: StoredForm,
        tasks: Tasks[ToRecompress, Recompression] | None,
    ) -> Iterator[FileResult[Recompression]]:
        if tasks is None:
            work = partial(self._recompress, act, form)
            return (rewrite_file(act, file, work, self.advance) for file in files)
        take = partial(map, partial(take_file, act, work=partial(self._take, act, form)))
        batches = iter_batches(files, lambda size: size <= _WAVE_BYTES)
        return Waves(act=act, tasks=tasks, take=take).change(batches)

    def _chosen(
        self, crawls: Iterable[str], form: StoredForm, left: list[Result]
    ) -> Iterator[ToRecompress]:
        """The files that are to be written; `left` gets the results of the others."""
        for entry in self._entries(crawls):
            why_not: Result = _left(entry)
            try:
                target = self._target(entry, form)
            except ONE_FILE_ONLY as problem:
                target, why_not = None, problem
            if target is not None:
                yield ToRecompress(entry=entry, target=target)
            else:
                left.append(why_not)
                self.advance(_size_of(entry))

    def _take_back_left(self, act: Act) -> Iterator[PinakesError]:
        """Take back what an act that died had published, in any form, and not made current;
        delete what its tasks have written."""
        yield from clear_task_folder(self.rows, self.archive, act.name)
        for entry in scan_entries(self.rows):
            facts = entry.facts
            if facts is None or facts.collection != act.collection:
                continue
            if entry.state is not FileState.STORED:
                continue
            if not (entry.is_claimed_by(VERB) or self._has_next(entry)):
                continue
            try:
                held = act.claim(entry.archive_file)
                act.take_back(held)
            except ONE_FILE_ONLY as problem:
                yield problem
                continue
            release_claim(self.rows, held)
            self.at("taken back")

    def _has_next(self, entry: FileEntry) -> bool:
        names = possible_names(entry.archive_file, entry.generation + 1)
        return any(self.archive.size(sidecar_name(name)) is not None for name in names)

    def _entries(self, crawls: Iterable[str]) -> Iterator[FileEntry]:
        """The files that were not removed or refused."""
        for crawl in crawls:
            for entry in scan_entries(self.rows, crawl):
                state = entry.state
                if state is not None and not (state.is_gone or state is FileState.REFUSED):
                    yield entry

    def _planned(
        self, entry: FileEntry, form: StoredForm, done: FileProgress, *, of_all: bool
    ) -> Recompression:
        target = self._target(entry, form)
        if target is None:
            return _left(entry)
        with self._opened(entry) as source:
            source.watch(done.reached)
            result = _result(ToRecompress(entry=entry, target=target), PLANNED)
            result.bytes_before = source.size
            forecast(source, form.form, result, threads=self.threads, of_all=of_all)
        too_little = result.saves_too_little(self.min_saving)
        return result.left_as_it_is(TOO_LITTLE) if too_little else result

    def _recompress(
        self, act: Act, form: StoredForm, held: Held, file: ToRecompress, done: FileProgress
    ) -> Recompression:
        self._require_unmoved(held, form, file.target.name)
        result = _result(file, WRITTEN)

        def parts() -> tuple[Contents, Check]:
            nonlocal result
            result = _result(file, WRITTEN)
            return InAnotherForm(form.ending, pieces), check

        def pieces(old: Source) -> Iterator[Bytes]:
            old.watch(done.reached)
            result.bytes_before = old.size
            return member_pieces(old, form.form, result, threads=self.threads)

        def check(old: Source, new: Source) -> None:
            is_same = old.size == new.size and equal_streams(
                old.pieces(0, old.size), new.pieces(0, new.size)
            )
            self._require_worthwhile(result, is_same=is_same)
            result.content = require_same(old, new)

        act.rewrite(held, parts)
        return result

    def _take(
        self, act: Act, form: StoredForm, held: Held, outcome: WrittenFile[Recompression]
    ) -> Recompression:
        """Make current what a task has written."""
        written, result = outcome.written, outcome.made
        entry = self._require_unmoved(held, form, written.name)
        stored = read_current(self.rows, entry).sha256
        require_as_stored(entry.stored_name, written.old_sha256, stored)
        self._require_worthwhile(result, is_same=written.sha256 == written.old_sha256)
        act.take(held, written, folder=outcome.folder, sidecar_sha256=outcome.sidecar_sha256)
        return result

    def _require_unmoved(self, held: Held, form: StoredForm, name: str) -> FileEntry:
        """The file as it is now; Raises Conflict unless it is still to become `name`."""
        entry = read_entry(self.rows, held.archive_file)
        target = self._target(entry, form)
        if target is None or target.name != name:
            raise Conflict("another act has moved this file's records", file=held.archive_file)
        return entry

    def _require_worthwhile(self, result: Recompression, *, is_same: bool) -> None:
        """Raise AsItIs for a new file that is the old one, or saves too little."""
        if is_same:
            raise AsItIs(result.left_as_it_is(UNCHANGED))
        if result.saves_too_little(self.min_saving):
            raise AsItIs(result.left_as_it_is(TOO_LITTLE))

    def _target(self, entry: FileEntry, form: StoredForm) -> Generation | None:
        """What a file would become; None where it is in this compression already, unless all are
        to be written again.

        Raises:
            Conflict: it is landing or leaving, or holds what is to be taken down.
            InputRefused: no name could say what it is then.
            MalformedRecord: what it is cannot be determined.
        """
        if entry.state is not FileState.STORED:
            raise Conflict(f"is {entry.state}: run it again later", file=entry.archive_file)
        if entry.withdrawing:
            raise Conflict(
                "holds records that are withdrawn: complete that with `pinakes withdraw`",
                file=entry.stored_name,
            )
        with self._opened(entry) as source:
            compression = compression_of(source)
            if compression is None and holds_members(source, 0):
                raise MalformedRecord(
                    "damaged: it begins with bytes that are no compressed member",
                    file=source.name,
                    offset=0,
                )
        if compression == form.compression and not self.again:
            return None
        if ending_of(entry.archive_file) is None:
            raise InputRefused(
                "stays as it is: its name does not end in .warc or .arc, perhaps with .gz, .zst or "
                ".bz2, so its compression could not be known",
                file=entry.archive_file,
            )
        ending = ending_in(entry.archive_file, form.ending)
        target = Generation(entry.archive_file, entry.generation + 1, ending)
        check_file_name(sidecar_name(target.name))
        return target

    @contextmanager
    def _opened(self, entry: FileEntry) -> Iterator[Source]:
        with self.archive.open(entry.stored_name) as file:
            yield Source(file, name=entry.stored_name)


def _left(entry: FileEntry) -> Recompression:
    name = entry.stored_name
    return Recompression(file=name, target=name, outcome=LEFT)


def _result(file: ToRecompress, outcome: str) -> Recompression:
    return Recompression(file=file.entry.stored_name, target=file.target.name, outcome=outcome)


def _size_of(entry: FileEntry) -> int:
    """The bytes that a file had when it landed."""
    return entry.facts.size if entry.facts is not None else 0
