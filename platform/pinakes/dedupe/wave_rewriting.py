"""The files of a run, rewritten by tasks elsewhere: a wave is written, then committed file by file.

    chosen ─▶ written aside ─▶ validated ─▶ noted ─▶ each: published ─▶ locations ─▶ current

Before the note nothing is there but what lies aside; behind it the same call commits what is
left of the wave, whatever it died of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from uuid import uuid4

from pinakes.catalog.file_rows import read_entry, release_claim
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import Conflict, DigestMismatch, InputRefused, PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite.generations import Written, current_generation

from .decided_records import Pair, newly_replaced
from .file_choice import choose_file
from .rewriting_run import RewritingRun
from .run_files import VALIDATION, RunFiles
from .run_report import WANTS_ROOM, DedupeReport
from .tasks import FileOutcome, Tasks
from .validate import Discrepancy

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
        self, run: RewritingRun, tasks: Tasks, files: RunFiles, *, wave_bytes: int = _WAVE_BYTES
    ) -> None:
        """`wave_bytes`: at most so much is written before some of it is committed."""
        self._run = run
        self._tasks = tasks
        self._files = files
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
            generations = self._files.old_generations()
            self._tasks.write(name, wave.pairs(), generations)
            self._run.at("wave written")
            self._require_valid(self._tasks.validate(name, generations))
            self._run.at("wave validated")
            self._files.note_wave(name, wave.sizes)
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
                release_claim(self._run.rows, self._run.claim(name))
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

    def _require_valid(self, discrepancies: Iterator[Discrepancy]) -> None:
        first = next(discrepancies, None)
        if first is None:
            return
        amiss = chain((first,), discrepancies)
        count = self._files.write_validation(each._asdict() for each in amiss)
        raise DigestMismatch(
            f"validation: record {first.ordinal}: {first.message}; {count:,} such findings in what "
            f"tasks have written, and none of it is committed: see {VALIDATION} of this run",
            file=first.file,
            offset=first.offset,
        )

    # --- commit

    def _finish_wave(self, report: DedupeReport, advance: Callable[[int], None]) -> list[str]:
        """Commit what is left of the wave that was noted last, if any; its files."""
        wave, sizes = self._files.read_wave()
        if wave is None:
            return []
        missing = dict(sizes)
        for outcome in self._tasks.outcomes(wave):
            if missing.pop(outcome.archive_file, None) is None:
                raise PinakesError(
                    "tasks have written this file twice, or unasked: nothing more is committed",
                    file=outcome.archive_file,
                )
            self._commit(outcome, report)
            advance(1)
        if missing:
            raise PinakesError(
                f"of {len(sizes):,} files, tasks have left {len(missing):,} without a word",
                file=min(missing),
            )
        self._files.forget_wave()
        self._run.at("wave committed")
        return list(sizes)

    def _commit(self, outcome: FileOutcome, report: DedupeReport) -> None:
        run, written = self._run, outcome.written
        if written is None:
            if outcome.problem is not None:
                report.leave("failed", outcome.problem)
            return
        try:
            held = run.claim(outcome.archive_file)
        except Conflict as problem:
            report.leave("claimed by another", problem)
            return
        try:
            old = current_generation(read_entry(run.rows, outcome.archive_file))
            if old.generation == written.generation:
                report.files_left["done already"] += 1
            elif old.generation + 1 != written.generation:
                raise Conflict("another act has moved this file's records", file=old.archive_file)  # noqa: TRY301
            else:
                self._publish(outcome, written)
                decided = newly_replaced(run.archive, old.name, written.name)
                run.make_current(held, written, decided)
                report.add_file(written.size, outcome.count)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            report.leave("failed", problem)
        release_claim(run.rows, held)

    def _publish(self, outcome: FileOutcome, written: Written) -> None:
        """Give what the task wrote its names, sidecar first; again is no harm."""
        archive = self._run.archive
        sidecar = sidecar_name(written.name)
        if archive.size(sidecar) is not None and (
            archive.checksum(sidecar) != outcome.sidecar_sha256
        ):
            archive.delete(sidecar)
        if archive.size(sidecar) is None:
            archive.publish_from(self._run.run, f"{outcome.folder}/{sidecar}", sidecar)
        self._run.at("sidecar published")
        if archive.size(written.name) is None:
            archive.publish_from(self._run.run, f"{outcome.folder}/{written.name}", written.name)
        elif archive.checksum(written.name) != written.sha256:
            raise DigestMismatch("another file has the new generation's name", file=written.name)
        self._run.at("published")


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
