"""Which files a run rewrites, in which order and batches, and what is noted of each.

Batches are bounded by `--max-extra-bytes`: a file's old generations stay next to its current one
until they are dropped.  What that takes is counted as it is in the archive, whichever run wrote
it; so a run that was killed, and the next one of a collection, go on with the same count.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from pinakes.acts.act import Act
from pinakes.acts.many_files import FileResult, iter_batches
from pinakes.acts.waves import Waves
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_records import older_names
from pinakes.catalog.file_rows import FileEntry, read_entry, release_claim
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.manifest import ManifestLine
from pinakes.warc.file_progress import Advance

from .file_rewriting import (
    FileRewriter,
    Pair,
    RevisitRules,
    RewritingTask,
    Rewritten,
    commit_file,
)
from .old_generations import Drop, drop_each
from .run_files import RunFiles
from .run_report import CLAIMED, DONE_ALREADY, WANTS_ROOM, DedupeReport, DedupeRequest
from .tasks import Executors, RewritingTasks, require_valid

_ROWS = 1000
_WAVE_BYTES = 1 << 40
"""At most so much is written by tasks before it is made current."""
# What a revisit takes, about: that a file would save too little is known before it is written.
_REVISIT_BYTES = 700


def extra_bytes(archive: ArchiveReader, entry: FileEntry) -> int:
    """What a file's generations take beyond the oldest one that is still there."""
    names = (*older_names(entry), entry.stored_name)
    sizes = [size for size in map(archive.size, names) if size is not None]
    return sum(sizes[1:])


class Room:
    """What a run may still write.  Not for several threads."""

    def __init__(
        self,
        archive: ArchiveReader,
        entries: Callable[[], Iterable[FileEntry]],
        *,
        limit_bytes: int | None,
        drop: Drop | None,
    ) -> None:
        """`entries` reads the collection's files as they are now; None: no limit, no dropping."""
        self._archive = archive
        self._entries = entries
        self._limit_bytes = limit_bytes
        self._drop = drop
        self._used_bytes = self._measure()
        self.is_closed = False
        self.problems: list[PinakesError] = []

    def _measure(self) -> int:
        if self._limit_bytes is None:
            return 0
        rewritten = (entry for entry in self._entries() if entry.generation > 1)
        return sum(extra_bytes(self._archive, entry) for entry in rewritten)

    def could_ever_hold(self, size: int) -> bool:
        """Whether so many bytes are within the limit, with nothing else there."""
        return self._limit_bytes is None or size <= self._limit_bytes

    def make(self, size: int) -> bool:
        """Whether so many bytes may be written; drops old generations where they may not.

        Once that does not help, the room is closed: the rest waits for another run.
        """
        if self._limit_bytes is None:
            return True
        if self._drop is not None and not self.is_closed and not self.holds(size):
            self.problems += drop_each(self._drop, self._entries())
            self._used_bytes = self._measure()
        self.is_closed = self.is_closed or not self.holds(size)
        return not self.is_closed

    def holds(self, size: int) -> bool:
        """Whether so many bytes are within the limit as things are."""
        return self._limit_bytes is None or self._used_bytes + size <= self._limit_bytes

    def take(self, size: int) -> None:
        """Note that so many bytes were written."""
        self._used_bytes += size


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingRun:
    """The files of one run, and how far it is with them.  Not for several threads.

    `moved` are those that are not current any more as they were decided on.
    `size_of(archive_file)` is how far a file that is done, or left as it is, advances the run.
    """

    act: Act
    request: DedupeRequest
    files: RunFiles
    report: DedupeReport
    moved: set[str]
    room: Room
    size_of: Callable[[str], int]
    advance: Advance

    def rewrite(
        self, originals: StoredFiles, doing: Executors, tasks: RewritingTasks | None
    ) -> None:
        """Rewrite all that is worth while, as long as there is room; `report` says what was done.

        Raises Busy where a file's claim was lost: the run ends, and the same command goes on with
        it.
        """
        if tasks is None:
            results = self._in_batches(originals, doing)
        else:
            results = self._in_waves(tasks, doing)
        for result in results:
            self._note(result)

    def _in_batches(
        self, originals: StoredFiles, doing: Executors
    ) -> Iterator[FileResult[Rewritten]]:
        rules = RevisitRules(self.act.name, self.request.min_saving_bytes)
        if doing.rewrite is None:
            here = FileRewriter(self.act, originals, self.files, rules, advance=self.advance)
            for batch in self._batches():
                yield from map(here.rewrite, batch)
        else:
            for batch in self._batches():
                yield from doing.rewrite(rules, batch, self.advance)

    def _in_waves(self, tasks: RewritingTasks, doing: Executors) -> Iterator[FileResult[Rewritten]]:
        act, files = self.act, self.files
        waves = Waves(
            act=act,
            tasks=tasks,
            take=partial(doing.commit, act)
            if doing.commit
            else partial(map, partial(commit_file, act)),
            notes=files,
            confirm=lambda noted: require_valid(noted, tasks, files, act.at),
        )
        done: set[str] = set()
        for result in waves.change(self._batches(done=done, most_bytes=_WAVE_BYTES)):
            done.add(result.archive_file)
            self.advance(self.size_of(result.archive_file))
            yield result

    def _note(self, result: FileResult[Rewritten]) -> None:
        """Note what became of a file; one that is rewritten has moved, and takes its room."""
        done = result.report
        if isinstance(done, PinakesError):
            if result.is_lost:
                raise done
            self.report.leave(CLAIMED if isinstance(done, Busy) else "failed", done)
        elif done.why_not is not None:
            self.report.files_left[done.why_not] += 1
            self.report.refs.add(done.refs)
        else:
            self.moved.add(result.archive_file)
            self.room.take(done.size)
            self.report.add_file(done.size, done.refs)

    def _batches(
        self, *, done: Container[str] = (), most_bytes: int | None = None
    ) -> Iterator[Iterator[RewritingTask]]:
        """The files but those of `done`, a batch of so many bytes at most, as long as there is
        room; why others are left is counted in the report."""

        def holds(size: int) -> bool:
            return (most_bytes is None or size <= most_bytes) and self.room.holds(size)

        chosen = (
            task
            for name, pairs in self.files.by_file()
            if name not in done
            for task in self._chosen(name, pairs)
        )
        for batch in iter_batches(chosen, holds):
            first = next(batch)
            has_room = self.room.make(first.takes_bytes)
            files = chain((first,), batch)
            if has_room:
                yield map(self._relocated, files)
            else:  # nor is there for any other
                for file in files:
                    self._leave(file.archive_file, WANTS_ROOM)

    def _leave(self, archive_file: str, why_not: str) -> None:
        self.report.files_left[why_not] += 1
        self.advance(self.size_of(archive_file))

    def _chosen(self, name: str, pairs: list[Pair]) -> Iterator[RewritingTask]:
        """The file, if it is worth while and not done; else it is counted in the report."""
        if name in self.moved:
            # This run died after the file's move: it has been done, and may still be claimed.
            release_claim(self.act.rows, self.act.claim(name))
            self._leave(name, DONE_ALREADY)
            return
        entry = read_entry(self.act.rows, name)
        try:
            why_not, takes_bytes = self._why_not(entry, pairs)
        except InputRefused as problem:
            self.report.leave("failed", problem)
            self.advance(self.size_of(name))
            return
        if why_not is None:
            yield RewritingTask(name, pairs, [], self.size_of(name), takes_bytes)
        else:
            self._leave(name, why_not)

    def _why_not(self, entry: FileEntry, pairs: list[Pair]) -> tuple[str | None, int]:
        """Why a file stays as it is, if it does; and what its new generation takes, about.

        Raises InputRefused where the catalogue has the file, and the archive has not.
        """
        if entry.state is not FileState.STORED:
            return "not stored any more", 0
        name = entry.stored_name
        old_size = self.act.archive.size(name)
        if old_size is None:
            raise InputRefused("is lost: the catalogue has it, and the archive has not", file=name)
        saving = sum(max(line.length - _REVISIT_BYTES, 0) for line, _ in pairs)
        size = old_size - saving
        if saving < self.request.min_file_saving * old_size:
            return "min-file-saving", size
        if not self.room.could_ever_hold(size):
            return "larger than max-extra-bytes", size
        return None, size

    def _relocated(self, task: RewritingTask) -> RewritingTask:
        """The file, with each original where it is now: its old place may be dropped.

        One that was moved is named by its stored file, and not by its identity.
        """
        keys = sorted({key for line, key in task.pairs if line.original_file in self.moved})
        places: dict[bytes, Placed] = {}
        for start in range(0, len(keys), _ROWS):
            found = get_captures(self.act.rows, keys[start : start + _ROWS]).values()
            for placed in place_captures(self.act.rows, found):
                places[placed.capture.key] = placed
        lines = [_at_place(line, places.get(key)) for line, key in task.pairs]
        return task._replace(lines=lines)


def _at_place(line: ManifestLine, placed: Placed | None) -> ManifestLine:
    if placed is None:
        return line
    return line._replace(
        original_file=placed.file,
        original_offset=placed.location.offset,
        original_length=placed.location.length,
        original_inner_offset=placed.location.inner_offset,
    )
