"""The work of `dedupe` on archive files, as jobs over the store.

.landing/RUN/decide-…/lines         the collection, one line per capture, from its sidecars
.landing/RUN/decide-…/resolved*     by resolve_collisions; flagged: by flag_duplicates
.landing/RUN/WAVE/lines             the duplicates of some files
.landing/RUN/WAVE/out               by write_generations: one outcome per file; `_written/…`
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, groupby
from operator import itemgetter
from tempfile import TemporaryFile
from uuid import uuid4

from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.config import Configuration
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.policy import scope_of
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.run.decided_records import Pair
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.dedupe.validate.file_pairs import Discrepancy
from pinakes.dedupe.write.proven_originals import original_place
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.archive_job import WRITTEN, ArchiveJob
from pinakes.mr_jobs.digest_job import trust_options
from pinakes.mr_jobs.driver.orphans import end_orphans, tag_words
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
from pinakes.mr_jobs.job_counts import add_processed, add_resolved
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.outcome_lines import text_outcome
from pinakes.mr_jobs.lines.pairs import FilePair, OriginalsFile, format_pair
from pinakes.mr_jobs.resolve_collisions import ResolveCollisionsJob
from pinakes.mr_jobs.validate import ValidateJob
from pinakes.mr_jobs.write_generations import WriteGenerationsJob, pair_text, text_pair
from pinakes.profile import open_folder

_LINES, _OUT = "lines", "out"
OnPercent = Callable[[float], None]


def _unwatched(_: str) -> AbstractContextManager[OnPercent]:
    return nullcontext(lambda percent: None)


def _watch_scopes(lines: Iterable[ManifestLine], scopes: set[str]) -> Iterator[ManifestLine]:
    """The same lines; `scopes` gets those that policies have put there."""
    for line in lines:
        if scope := scope_of(line.marks):
            scopes.add(scope)
        yield line


class StoreTasks:
    """`pinakes.dedupe.run.tasks.Tasks` with jobs.  Not for several threads."""

    def __init__(
        self,
        archive: ArchiveStore,
        configuration: Configuration,
        runner: str,
        request: DedupeRequest,
        *,
        run: str,
        around: Callable[[str], AbstractContextManager[OnPercent]] = _unwatched,
    ) -> None:
        """`runner` is `inline`, `local` or `hadoop`.

        `around(name)` is entered during each job; the function it yields is called with the
        progress.
        """
        self._configuration = configuration
        self._runner = runner
        self._request = request
        self._run = run
        self._place = archive.folder_aside(run)
        self._root = self._place.removesuffix(f"/{ASIDE}/{run}")
        self._around = around
        self._tag = tag_words(run) if runner == "hadoop" else ()

    def end_orphans(self) -> None:
        """End jobs that a dead driver of this run has left running: no process waits for them."""
        if self._runner == "hadoop":
            end_orphans(self._run, self._configuration)

    def decide(
        self,
        lines: Iterable[ManifestLine],
        generations: Mapping[str, str],
        decisions: Decisions,
        *,
        compare: bool,
    ) -> Iterator[ManifestLine]:
        place = f"{self._place}/decide-{uuid4().hex[:8]}"
        if not compare:
            lines = resolve_lines(lines, None, count=decisions.resolved)
        scopes: set[str] = set()
        if not self._write_lines(place, map(line_text, _watch_scopes(lines, scopes))):
            return
        inputs = [f"{place}/{_LINES}"]
        if compare:
            resolved = self._job(
                ResolveCollisionsJob,
                inputs,
                f"{place}/resolved",
                options=trust_options(self._request.trust),
                generations=generations,
            )
            add_resolved(decisions.resolved, resolved)
            inputs = [f"{output}/part-*" for output in resolved.outputs]
        only = ("--duplicates-only",)
        flagged = self._job(
            FlagDuplicatesJob, inputs, f"{place}/flagged", options=() if scopes else only
        )
        add_processed(decisions.processed, flagged)
        if scopes:
            flagged = self._job(
                FlagDuplicatesJob,
                [f"{output}/part-*" for output in flagged.outputs],
                f"{place}/scoped",
                options=("--scopes", "+".join(sorted(scopes)), *only),
            )
            add_processed(decisions.processed, flagged)
        for output in flagged.outputs:
            yield from map(text_line, self._output_lines(output))

    def write(self, wave: str, pairs: Iterable[Pair], generations: Mapping[str, str]) -> None:
        place = f"{self._place}/{wave}"
        self._write_lines(place, map(pair_text, pairs))
        options = ["--run", self._run]
        if self._request.min_saving_bytes is not None:
            options += ["--min-saving-bytes", str(self._request.min_saving_bytes)]
        self._job(
            WriteGenerationsJob,
            [f"{place}/{_LINES}"],
            f"{place}/{_OUT}",
            options=options,
            generations=generations,
        )

    def validate(self, wave: str, generations: Mapping[str, str]) -> Iterator[Discrepancy]:
        place = f"{self._place}/{wave}"
        written = map(format_pair, self._written(wave))
        originals = map(format_pair, self._originals(place, generations))
        # A driver that died while it validated may have left output there.
        output = f"{place}/validated-{uuid4().hex[:8]}"
        report = self._job(ValidateJob, [*written, *originals], output, stored=False)
        for line in self._output_lines(output):
            yield Discrepancy(**json.loads(line))
        for problem in report.findings:
            name, offset = problem.file or "", problem.offset or 0
            yield Discrepancy("unreadable", name, 0, offset, problem.message)

    def _written(self, wave: str) -> Iterator[FilePair]:
        for outcome in self.outcomes(wave):
            if outcome.written is not None:
                new = outcome.written.name
                yield FilePair(
                    name=new,
                    before=f"{self._root}/{outcome.written.old_name}",
                    after=f"{self._place}/{outcome.folder}/{new}",
                )

    def _originals(self, place: str, generations: Mapping[str, str]) -> Iterator[OriginalsFile]:
        """The records that revisits of this wave refer to, by file."""
        lines = (text_pair(text)[0] for text in self._lines(place, _LINES))
        places = sort_outside_memory(map(original_place, lines))
        for name, group in groupby(places, key=itemgetter(0)):
            stored = generations.get(name, name)
            at = [*dict.fromkeys((offset, inner) for _, offset, inner in group)]
            yield OriginalsFile(name=f"{self._root}/{stored}", at=at)

    def outcomes(self, wave: str) -> Iterator[FileOutcome]:
        for line in self._output_lines(f"{self._place}/{wave}/{_OUT}"):
            yield text_outcome(line, f"{wave}/{_OUT}/{WRITTEN}")

    def _job(
        self,
        job: type[ArchiveJob],
        inputs: list[str],
        output: str,
        *,
        options: Iterable[str] = (),
        stored: bool = True,
        generations: Mapping[str, str] | None = None,
    ) -> JobReport:
        request = JobRequest(
            job=job,
            names=inputs,
            options=(*self._tag, *options),
            stored=stored,
            generations=generations or {},
            output=output,
        )
        with self._around(job.__module__.rpartition(".")[2]) as on_percent:
            return run_job(request, self._runner, self._configuration, None, on_percent=on_percent)

    def _write_lines(self, place: str, lines: Iterable[bytes]) -> bool:
        """Write lines; return whether there were any."""
        stream = iter(lines)
        first = next(stream, None)
        if first is None:
            return False
        with TemporaryFile(prefix="pinakes-lines-") as file:
            file.writelines(line + b"\n" for line in chain((first,), stream))
            with open_folder(place, self._configuration) as folder:
                at = f"{place}/{_LINES}"
                publish_copy(folder, file, _LINES, token=uuid4().hex, place=at)
        return True

    def _output_lines(self, place: str) -> Iterator[bytes]:
        return self._lines(place, "part-")

    def _lines(self, place: str, start: str) -> Iterator[bytes]:
        """The lines of the files in a folder whose names begin with `start`."""
        with open_folder(place, self._configuration) as folder:
            for stored in folder.list():
                if stored.name.startswith(start):
                    with folder.open(stored.name) as file:
                        yield from (line.removesuffix(b"\n") for line in file)
