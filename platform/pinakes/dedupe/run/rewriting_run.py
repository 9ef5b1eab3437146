"""Which files a run rewrites, in which order and batches, and what is noted of each."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.many_files import FileResult, iter_batches
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_rows import FileEntry, read_entry, release_claim
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import Busy, InputRefused, PinakesError
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.manifest import ManifestLine
from pinakes.warc.file_progress import Advance, no_advance

from .decided_records import Pair
from .room import Room
from .run_report import CLAIMED, DONE_ALREADY, WANTS_ROOM, DedupeReport, DedupeRequest

FilePairs = tuple[str, list[Pair]]
_ROWS = 1000
# What a revisit takes, about: where a file would save too little is told before it is written.
_REVISIT_BYTES = 700


class FileTask(NamedTuple):
    """A file to be rewritten."""

    archive_file: str
    pairs: list[Pair]
    """Its duplicates, as they were decided on."""
    lines: list[ManifestLine]
    """The same, each original where it lies now."""
    size: int
    """How far it advances the run."""
    takes_bytes: int
    """What its new generation takes, about."""

    @property
    def relocated(self) -> Iterator[Pair]:
        """The lines with the row keys of their originals."""
        return zip(self.lines, (key for _, key in self.pairs), strict=True)


class Rewritten(NamedTuple):
    """What became of a file; `why_not` says why it is left as it is, if it is."""

    refs: RefsCount
    why_not: str | None = None
    size: int = 0
    """What was written, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingRun:
    """One run, and how far it is.  Not for several threads.

    `moved` are the files that are not
    current any more as they were decided on.  `size_of(archive_file)` is how far a file that is
    done, or left as it is, advances the run.
    """

    act: Act
    request: DedupeRequest
    report: DedupeReport
    moved: set[str]
    room: Room
    size_of: Callable[[str], int] = lambda archive_file: 0
    advance: Advance = no_advance

    def note(self, result: FileResult[Rewritten]) -> None:
        """Note what became of a file; one that is rewritten has moved, and takes its room.

        Raises Busy where its claim was lost: the run ends, and the same command goes on with it.
        """
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

    # --- the files

    def batches(
        self,
        by_file: Iterable[FilePairs],
        *,
        done: Container[str] = (),
        most_bytes: int | None = None,
    ) -> Iterator[Iterator[FileTask]]:
        """Its files but those of `done`, a batch of so many bytes at most, as long as there is
        room; why others are left is counted in the report."""

        def holds(size: int) -> bool:
            return (most_bytes is None or size <= most_bytes) and self.room.holds(size)

        chosen = (
            task
            for name, pairs in by_file
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

    def _chosen(self, name: str, pairs: list[Pair]) -> Iterator[FileTask]:
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
            yield FileTask(name, pairs, [], self.size_of(name), takes_bytes)
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

    def _relocated(self, task: FileTask) -> FileTask:
        """The file, with each original where it lies now: its old place may be dropped.

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
