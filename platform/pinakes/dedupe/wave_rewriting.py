"""The files of a run, rewritten by tasks elsewhere: a wave is written, then committed file by file.

    chosen ─▶ written aside ─▶ noted ─▶ validated ─▶ each: published ─▶ locations ─▶ current

Before the note nothing is there but what lies aside; behind it the same call validates and
commits what is left of the wave, whatever it died of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from uuid import uuid4

from pinakes.catalog.asides import clear_dead_asides
from pinakes.catalog.file_rows import read_entry, release_claim
from pinakes.errors import DigestMismatch, InputRefused, PinakesError
from pinakes.index.manifest import ManifestLine

from .decided_records import Pair
from .file_choice import choose_file
from .file_commit import Commit, Committed, FileCommitter
from .rewriting_run import RewritingRun
from .run_files import VALIDATION, NotedWave, RunFiles
from .run_report import WANTS_ROOM, DedupeReport
from .tasks import FileOutcome, Tasks

_WAVE_BYTES = 1 << 40
FilePairs = tuple[str, list[Pair]]


class _Chosen(NamedTuple):
    """A file that is worth while, its duplicates, and what it will take, about, in bytes."""

    name: str
    pairs: list[Pair]
    size: int


class WaveRewriter:
    """Rewrites the files of one run, many at a time.  Not for several threads."""

    def __init__(
        self,
        run: RewritingRun,
        tasks: Tasks,
        files: RunFiles,
        *,
        commit: Commit | None = None,
        wave_bytes: int = _WAVE_BYTES,
    ) -> None:
        """`commit` commits files elsewhere; None: this process does, one after the other.

        `wave_bytes`: at most so much is written before some of it is committed.
        """
        self._run = run
        self._tasks = tasks
        self._files = files
        self._commit = commit or self._commit_here
        self._wave_bytes = wave_bytes

    def rewrite(
        self, by_file: Iterable[FilePairs], report: DedupeReport, advance: Callable[[int], None]
    ) -> None:
        """Rewrite each file, or count in the report why it is left as it is."""
        done = set(self._finish_wave(report, advance))
        worthwhile = self._worthwhile(by_file, done, report)
        waiting = next(worthwhile, None)
        while waiting is not None:
            if not self._run.room.make(waiting.size):
                report.files_left[WANTS_ROOM] += 1
                waiting = next(worthwhile, None)
                continue
            wave = _Wave(waiting, worthwhile, self._holds, self._run.relocate)
            name = f"wave-{uuid4().hex[:8]}"
            self._tasks.write(name, wave.pairs(), self._files.old_generations())
            self._run.at("wave written")
            self._files.note_wave(NotedWave(name, wave.sizes, is_valid=False))
            self._run.at("wave noted")
            self._finish_wave(report, advance)
            waiting = wave.next

    def _worthwhile(
        self, by_file: Iterable[FilePairs], done: set[str], report: DedupeReport
    ) -> Iterator[_Chosen]:
        for name, pairs in by_file:
            if name in done:
                continue
            if name in self._run.moved:
                # This run died after the file's move: it has been done, and may still be claimed.
                held = self._run.claim(name)
                clear_dead_asides(self._run.archive, held)
                release_claim(self._run.rows, held)
                report.files_left["done already"] += 1
                continue
            entry = read_entry(self._run.rows, name)
            try:
                why_not, size = choose_file(self._run, entry, pairs)
            except InputRefused as problem:
                report.leave("failed", problem)
                continue
            if why_not is None:
                yield _Chosen(name, pairs, size)
            else:
                report.files_left[why_not] += 1

    def _holds(self, size: int) -> bool:
        return size <= self._wave_bytes and self._run.room.holds(size)

    def _require_valid(self, noted: NotedWave) -> None:
        """Have the wave validated, unless it was; one that is wrong is written anew, next time."""
        if noted.is_valid:
            return
        discrepancies = self._tasks.validate(noted.wave, self._files.old_generations())
        first = next(discrepancies, None)
        if first is None:
            self._files.note_wave(noted._replace(is_valid=True))
            self._run.at("wave validated")
            return
        amiss = chain((first,), discrepancies)
        count = self._files.write_validation(each._asdict() for each in amiss)
        self._files.forget_wave()
        raise DigestMismatch(
            f"validation: record {first.ordinal}: {first.message}; {count:,} such findings in what "
            f"tasks have written, and none of it is committed: see {VALIDATION} of this run",
            file=first.file,
            offset=first.offset,
        )

    # --- commit

    def _finish_wave(self, report: DedupeReport, advance: Callable[[int], None]) -> list[str]:
        """Commit what is left of the wave that was noted last, if any; its files."""
        noted = self._files.read_wave()
        if noted is None:
            return []
        self._require_valid(noted)
        missing = dict(noted.sizes)
        for committed in self._commit(self._run.run, self._each_once(noted.wave, missing)):
            self._note(committed, report)
            advance(1)
        if missing:
            raise PinakesError(
                f"of {len(noted.sizes):,} files, tasks have left {len(missing):,} without a word",
                file=min(missing),
            )
        self._files.forget_wave()
        self._run.at("wave committed")
        return list(noted.sizes)

    def _each_once(self, wave: str, missing: dict[str, int]) -> Iterator[FileOutcome]:
        """What the wave came to; each of its files is taken off `missing`."""
        for outcome in self._tasks.outcomes(wave):
            if missing.pop(outcome.archive_file, None) is None:
                raise PinakesError(
                    "tasks have written this file twice, or unasked: nothing more is committed",
                    file=outcome.archive_file,
                )
            yield outcome

    def _note(self, committed: Committed, report: DedupeReport) -> None:
        if committed.refs is not None:
            self._run.note_moved(committed.archive_file, committed.size)
            report.add_file(committed.size, committed.refs)
        elif committed.problem is not None:
            report.leave(committed.why_not or "failed", committed.problem)
        elif committed.why_not is not None:
            report.files_left[committed.why_not] += 1

    def _commit_here(self, run: str, outcomes: Iterable[FileOutcome]) -> Iterator[Committed]:
        of = self._run
        committer = FileCommitter(of.rows, of.archive, run=run, claim=of.claim, at=of.at)
        return map(committer.commit, outcomes)


class _Wave:
    """Files for one job, taken as long as there is room for what they become."""

    def __init__(
        self,
        first: _Chosen,
        rest: Iterator[_Chosen],
        holds: Callable[[int], bool],
        relocate: Callable[[list[Pair]], list[ManifestLine]],
    ) -> None:
        self.sizes: dict[str, int] = {}
        """What each file of it takes, about, in bytes; complete when `pairs` have been drawn."""
        self.next: _Chosen | None = first
        """The first file that is not of it; None where there is none."""
        self._rest = rest
        self._holds = holds
        self._relocate = relocate

    def pairs(self) -> Iterator[Pair]:
        """The duplicates of its files, each original where it lies now."""
        total = 0
        while self.next is not None:
            name, pairs, size = self.next
            if self.sizes and not self._holds(total + size):
                return
            self.sizes[name] = size
            total += size
            yield from zip(self._relocate(pairs), (key for _, key in pairs), strict=True)
            self.next = next(self._rest, None)
