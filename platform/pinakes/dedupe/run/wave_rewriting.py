"""The files of a run, rewritten by tasks elsewhere: a wave is written, then committed file by file.

    chosen ─▶ written aside ─▶ noted ─▶ validated ─▶ each: published ─▶ locations ─▶ current

Before the note nothing is there but what lies aside; behind it the same call validates and
commits what is left of the wave, whatever it died of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from uuid import uuid4

from pinakes.counts import count_of
from pinakes.errors import DigestMismatch, PinakesError

from .batches import FilePairs, FileTask, iter_batches
from .decided_records import Pair
from .file_commit import Commit, FileCommitter
from .rewriting_run import Committed, RewritingRun
from .run_files import VALIDATION, NotedWave, RunFiles
from .run_report import DedupeReport
from .tasks import FileOutcome, Tasks

_WAVE_BYTES = 1 << 40


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

    def rewrite(self, by_file: Iterable[FilePairs], report: DedupeReport) -> None:
        """Rewrite each file, or count in the report why it is left as it is."""
        done = set(self._finish_wave(report))
        batches = iter_batches(self._run, by_file, report, done=done, batch_bytes=self._wave_bytes)
        for batch in batches:
            name = f"wave-{uuid4().hex[:8]}"
            pairs = chain.from_iterable(map(_relocated, batch.tasks()))
            self._tasks.write(name, pairs, self._files.old_generations())
            self._run.act.at("wave written")
            self._files.note_wave(NotedWave(name, batch.sizes, is_valid=False))
            self._run.act.at("wave noted")
            self._finish_wave(report)

    def _require_valid(self, noted: NotedWave) -> None:
        """Have the wave validated, unless it was; one that is wrong is written anew, next time."""
        if noted.is_valid:
            return
        discrepancies = self._tasks.validate(noted.wave, self._files.old_generations())
        first = next(discrepancies, None)
        if first is None:
            self._files.note_wave(noted._replace(is_valid=True))
            self._run.act.at("wave validated")
            return
        amiss = chain((first,), discrepancies)
        count = self._files.write_validation(each._asdict() for each in amiss)
        self._files.forget_wave()
        raise DigestMismatch(
            f"validation: record {first.ordinal}: {first.message}; "
            f"{count_of(count, 'such finding')} in what tasks have written, and none of it is "
            f"committed: see {VALIDATION} of this run",
            file=first.file,
            offset=first.offset,
        )

    # --- commit

    def _finish_wave(self, report: DedupeReport) -> list[str]:
        """Commit what is left of the wave that was noted last, if any; its files."""
        noted = self._files.read_wave()
        if noted is None:
            return []
        self._require_valid(noted)
        missing = dict(noted.sizes)
        for committed in self._commit(self._run.act.name, self._each_once(noted.wave, missing)):
            self._run.note(committed, report)
            self._run.advance(self._run.size_of(committed.archive_file))
        if missing:
            raise PinakesError(
                f"{len(missing):,} of {len(noted.sizes):,} files have no result from any task",
                file=min(missing),
            )
        self._files.forget_wave()
        self._run.act.at("wave committed")
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

    def _commit_here(self, run: str, outcomes: Iterable[FileOutcome]) -> Iterator[Committed]:
        return map(FileCommitter(self._run.act).commit, outcomes)


def _relocated(task: FileTask) -> Iterator[Pair]:
    return zip(task.lines, (key for _, key in task.pairs), strict=True)
