"""Files of a store in another compression: a new generation of each, proven before it is current.

    lease ─▶ of each file: claimed ─▶ written aside in the other form ─▶ read back, compared with
             the old one, all content and record by record ─▶ published ─▶ current ─▶ lease released

By tasks, a wave of files is written and compared elsewhere, before each is claimed.

Nothing but compression and places changes.  Killed anywhere, the same command, in either direction,
completes it: a file that is in the form already is left, and what was published and never became
current is taken back.  Written again, for another level or dictionary, a file is left that would
have the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.acts.generations import (
    Check,
    Contents,
    InAnotherForm,
)
from pinakes.archive_store.names import check_file_name
from pinakes.archive_store.port import ASIDE, ArchiveStore
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
from pinakes.rewrite.convert_file import UNCHANGED, WRITTEN
from pinakes.rewrite.file_parts import Bytes
from pinakes.rewrite.recompress import require_same
from pinakes.rewrite.recompress_file import (
    PLANNED,
    TOO_LITTLE,
    Recompression,
    SavesTooLittleError,
    forecast,
    member_pieces,
)
from pinakes.row_store.port import RowStore
from pinakes.warc.damage import holds_members
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.members import compression_of
from pinakes.warc.source import Source

from .forms import StoredForm
from .tasks import NotWritten, Outcome, Tasks, each_once, size_of, waves

VERB = "zstd"
LEFT = "left"
"""The outcome of a file that is in this compression already."""
Result = Recompression | PinakesError
"""Of a file; or why it stays as it is."""
_PASSES = 5
"""Over a file: proven to be what was stored, written, compared twice, listed."""


class _AsItIsError(Exception):
    """The new file has the bytes of the old one."""


class StoredRecompressor:
    """Writes files of one pair of stores in another compression.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        *,
        again: bool = False,
        min_saving: float = 0,
        threads: int = 1,
        tasks: Tasks | None = None,
        advance: Advance = no_advance,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`again`: write files, too, that are in this compression already, unless they would be as
        they are.  `min_saving`: leave files of which less than this part would be saved; 0: none.
        `threads` compress, or `tasks` do; `at` is called after each step, with its name.
        """
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._again = again
        self._min_saving = min_saving
        self._threads = threads
        self._tasks = tasks
        self._advance = advance
        self._at = at

    def plan(
        self, crawls: Iterable[str], form: StoredForm, *, of_all: bool = False
    ) -> Iterator[Result]:
        """What each file would take, of large ones by a sample unless `of_all`; changes nothing,
        and takes no lease."""
        crawls = list(crawls)
        yield from name_unknown_files(self._rows, self._archive, crawls)
        for entry in self._entries(crawls):
            with FileProgress(self._advance, size_of(entry)) as done:
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
        act = Act.begin(self._rows, self._archive, self._actor, VERB, collection, at=self._at)
        with act:
            if act.is_resumed:
                if self._tasks is not None:
                    self._tasks.end_orphans(act.name)  # they may still write
                yield from self._take_back_left(act)
            crawls = list(crawls)
            yield from name_unknown_files(self._rows, self._archive, crawls)
            if self._tasks is None:
                yield from self._one_by_one(act, crawls, form)
            else:
                yield from self._in_waves(act, crawls, form, self._tasks)

    def _one_by_one(self, act: Act, crawls: Iterable[str], form: StoredForm) -> Iterator[Result]:
        for entry in self._entries(crawls):
            with FileProgress(self._advance, size_of(entry), passes=_PASSES) as done:
                try:
                    yield self._recompress(act, entry, form, done)
                except ONE_FILE_ONLY as problem:
                    yield problem
            self._at("file done")

    def _in_waves(
        self, act: Act, crawls: Iterable[str], form: StoredForm, tasks: Tasks
    ) -> Iterator[Result]:
        for wave in waves(self._entries(crawls)):
            chosen = {}
            for entry in wave:
                try:
                    target = self._target(entry, form)
                except ONE_FILE_ONLY as problem:
                    yield problem
                    continue
                if target is None:
                    yield _left(entry)
                else:
                    chosen[entry.archive_file] = entry
            if chosen:
                name = f"wave-{self._actor.new_token()[:8]}"
                outcomes = tasks.write(act, name, list(chosen.values()), form)
                self._at("wave written")
                for outcome in each_once(outcomes, chosen):
                    try:
                        yield self._commit(act, outcome, form)
                    except ONE_FILE_ONLY as problem:
                        yield problem
                    self._at("file done")
                self._archive.delete(f"{ASIDE}/{act.name}")

    def _commit(self, act: Act, outcome: Outcome, form: StoredForm) -> Recompression:
        """Make current what a task has written."""
        entry = read_entry(self._rows, outcome.archive_file)
        if isinstance(outcome, NotWritten):
            if outcome.old_sha256 is not None:
                self._require_as_stored(entry, outcome.old_sha256)
            raise outcome.problem
        with act.claimed(entry.archive_file) as held:
            entry = read_entry(self._rows, held.archive_file)
            target = self._target(entry, form)
            if target is None or (target.name, entry.stored_name) != (
                outcome.written.name,
                outcome.written.old_name,
            ):
                raise Conflict("another act has moved this file's records", file=entry.archive_file)
            self._require_as_stored(entry, outcome.written.old_sha256)
            if outcome.written.sha256 == outcome.written.old_sha256:
                return outcome.result.left_as_it_is(UNCHANGED)
            if outcome.result.saves_too_little(self._min_saving):
                return outcome.result.left_as_it_is(TOO_LITTLE)
            with _left_if_lost(act):
                act.take(
                    held,
                    outcome.written,
                    folder=outcome.folder,
                    sidecar_sha256=outcome.sidecar_sha256,
                )
        return outcome.result

    def _take_back_left(self, act: Act) -> Iterator[PinakesError]:
        """Take back what an act that died had published, in whatever form, and not made current;
        delete what its tasks have written."""
        self._archive.delete(f"{ASIDE}/{act.name}")
        for entry in scan_entries(self._rows):
            facts = entry.facts
            if facts is None or facts.collection != act.collection or not _is_stored(entry):
                continue
            if not (entry.is_claimed_by(VERB) or self._has_next(entry)):
                continue
            try:
                held = act.claim(entry.archive_file)
                act.take_back(held)
            except ONE_FILE_ONLY as problem:
                yield problem
                continue
            release_claim(self._rows, held)
            self._at("taken back")

    def _has_next(self, entry: FileEntry) -> bool:
        names = possible_names(entry.archive_file, entry.generation + 1)
        return any(self._archive.size(sidecar_name(name)) is not None for name in names)

    def _entries(self, crawls: Iterable[str]) -> Iterator[FileEntry]:
        """The files that were not removed or refused."""
        for crawl in crawls:
            for entry in scan_entries(self._rows, crawl):
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
            result = _result(entry, target, PLANNED)
            result.bytes_before = source.size
            forecast(source, form.form, result, threads=self._threads, of_all=of_all)
        too_little = result.saves_too_little(self._min_saving)
        return result.left_as_it_is(TOO_LITTLE) if too_little else result

    def _recompress(
        self, act: Act, entry: FileEntry, form: StoredForm, done: FileProgress
    ) -> Recompression:
        # Asked before the claim is taken: that of a landing that died says so to `fsck`.
        _require_stored(entry)
        with act.claimed(entry.archive_file) as held:
            return self._recompress_held(act, held, form, done)

    def _recompress_held(
        self, act: Act, held: Held, form: StoredForm, done: FileProgress
    ) -> Recompression:
        entry = read_entry(self._rows, held.archive_file)
        target = self._target(entry, form)
        if target is None:
            return _left(entry)
        result = _result(entry, target, WRITTEN)

        def parts() -> tuple[Contents, Check]:
            nonlocal result
            result = _result(entry, target, WRITTEN)
            return InAnotherForm(form.ending, pieces), check

        def pieces(old: Source) -> Iterator[Bytes]:
            old.watch(done.reached)
            result.bytes_before = old.size
            return member_pieces(old, form.form, result, threads=self._threads)

        def check(old: Source, new: Source) -> None:
            if _has_same_bytes(old, new):
                raise _AsItIsError
            if result.saves_too_little(self._min_saving):
                raise SavesTooLittleError
            result.content = require_same(old, new)

        try:
            with _left_if_lost(act):
                act.rewrite(held, parts)
        except _AsItIsError:
            return result.left_as_it_is(UNCHANGED)
        except SavesTooLittleError:
            return result.left_as_it_is(TOO_LITTLE)
        return result

    def _target(self, entry: FileEntry, form: StoredForm) -> Generation | None:
        """What a file would become; None where it is in this compression already, unless all are
        to be written again.

        Raises:
            Conflict: it is landing or leaving, or holds what is to be taken down.
            InputRefused: no name could say what it is then.
            MalformedRecord: what it is cannot be told.
        """
        _require_stored(entry)
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
        if compression == form.compression and not self._again:
            return None
        if ending_of(entry.archive_file) is None:
            raise InputRefused(
                "stays as it is: its name does not end in .warc or .arc, perhaps with .gz, .zst or "
                ".bz2, so none could tell its compression",
                file=entry.archive_file,
            )
        ending = ending_in(entry.archive_file, form.ending)
        target = Generation(entry.archive_file, entry.generation + 1, ending)
        check_file_name(sidecar_name(target.name))
        return target

    @contextmanager
    def _opened(self, entry: FileEntry) -> Iterator[Source]:
        with self._archive.open(entry.stored_name) as file:
            yield Source(file, name=entry.stored_name)

    def _require_as_stored(self, entry: FileEntry, sha256: str) -> None:
        require_as_stored(entry.stored_name, sha256, read_current(self._rows, entry).sha256)


@contextmanager
def _left_if_lost(act: Act) -> Iterator[None]:
    """Leave the act where another process takes a file over while it is written: run again, it
    takes back what it had published."""
    try:
        yield
    except Conflict:
        act.leave()
        raise


def _is_stored(entry: FileEntry) -> bool:
    return entry.state is FileState.STORED


def _require_stored(entry: FileEntry) -> None:
    if not _is_stored(entry):
        raise Conflict(f"is {entry.state}: run it again later", file=entry.archive_file)


def _has_same_bytes(old: Source, new: Source) -> bool:
    if old.size != new.size:
        return False
    both = zip(old.pieces(0, old.size), new.pieces(0, new.size), strict=True)
    return all(before == after for before, after in both)


def _left(entry: FileEntry) -> Recompression:
    name = entry.stored_name
    return Recompression(file=name, target=name, outcome=LEFT)


def _result(entry: FileEntry, target: Generation, outcome: str) -> Recompression:
    return Recompression(file=entry.stored_name, target=target.name, outcome=outcome)
