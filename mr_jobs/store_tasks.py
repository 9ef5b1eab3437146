"""The work of `dedupe` on archive files, as jobs over the store.

.landing/RUN/decide-…/lines         the collection, one line per capture, from its sidecars
.landing/RUN/decide-…/resolved*     by resolve_collisions; flagged: by flag_duplicates
.landing/RUN/WAVE/lines             the duplicates of some files
.landing/RUN/WAVE/out               by write_generations: one outcome per file; `_written/…`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from tempfile import TemporaryFile
from types import MappingProxyType
from uuid import uuid4

from pinakes.acts.waves import WrittenFile
from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.port import ASIDE
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.policy import scope_of
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.run.file_rewriting import RewritingTask
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.validate.file_pairs import Discrepancy
from pinakes.dedupe.write.proven_originals import original_place
from pinakes.dedupe.write.refs import RefsCount
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.act_tasks import ActTasks
from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.mr_jobs.digest_job import trust_options
from pinakes.mr_jobs.driver.running import JobReport, JobRequest
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
from pinakes.mr_jobs.job_counts import add_processed, add_resolved
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.pairs import FilePair, OriginalsFile, format_pair
from pinakes.mr_jobs.resolve_collisions import ResolveCollisionsJob
from pinakes.mr_jobs.validate import ValidateJob
from pinakes.mr_jobs.write_generations import (
    WriteGenerationsJob,
    json_count,
    pair_text,
    text_pair,
)
from pinakes.profile import open_folder

_LINES = "lines"


def _watch_scopes(lines: Iterable[ManifestLine], scopes: set[str]) -> Iterator[ManifestLine]:
    """The same lines; `scopes` gets those that policies have put there."""
    for line in lines:
        if scope := scope_of(line.marks):
            scopes.add(scope)
        yield line


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTasks(ActTasks[RefsCount]):
    """`pinakes.dedupe.run.tasks.Tasks` with jobs; `files` say which generations are read."""

    request: DedupeRequest
    files: RunFiles
    decode = staticmethod(json_count)

    def decide(
        self,
        lines: Iterable[ManifestLine],
        decisions: Decisions,
        *,
        compare: bool,
    ) -> Iterator[ManifestLine]:
        place = f"{self.place}/decide-{uuid4().hex[:8]}"
        if not compare:
            lines = resolve_lines(lines, None, count=decisions.resolved)
        scopes: set[str] = set()
        if not self._write_lines(place, map(line_text, _watch_scopes(lines, scopes))):
            return
        inputs = [f"{place}/{_LINES}"]
        if compare:
            resolved = self._stored(
                ResolveCollisionsJob,
                inputs,
                f"{place}/resolved",
                trust_options(self.request.trust),
                self.files.old_generations(),
            )
            add_resolved(decisions.resolved, resolved)
            inputs = [f"{output}/part-*" for output in resolved.outputs]
        only = ("--duplicates-only",)
        flagged = self._stored(
            FlagDuplicatesJob, inputs, f"{place}/flagged", () if scopes else only
        )
        add_processed(decisions.processed, flagged)
        if scopes:
            inputs = [f"{output}/part-*" for output in flagged.outputs]
            options = ("--scopes", "+".join(sorted(scopes)), *only)
            flagged = self._stored(FlagDuplicatesJob, inputs, f"{place}/scoped", options)
            add_processed(decisions.processed, flagged)
        for output in flagged.outputs:
            yield from map(text_line, self.lines(output))

    def write(self, wave: str, files: Iterable[RewritingTask]) -> None:
        place = f"{self.place}/{wave}"
        pairs = chain.from_iterable(file.relocated for file in files)
        self._write_lines(place, map(pair_text, pairs))
        options = ["--run", self.act.name]
        if self.request.min_saving_bytes is not None:
            options += ["--min-saving-bytes", str(self.request.min_saving_bytes)]
        self._stored(
            WriteGenerationsJob,
            [f"{place}/{_LINES}"],
            self.output_of(wave),
            options,
            self.files.old_generations(),
        )

    def _stored(
        self,
        job: type[ArchiveJob],
        inputs: Sequence[str],
        output: str,
        options: Sequence[str],
        generations: Mapping[str, str] = MappingProxyType({}),
    ) -> JobReport:
        """Run a job on lines about files of the store, which it reads in these generations."""
        request = JobRequest(
            job=job,
            names=inputs,
            options=options,
            stored=True,
            generations=generations,
            output=output,
        )
        return self.run(request)

    def validate(self, wave: str) -> Iterator[Discrepancy]:
        place = f"{self.place}/{wave}"
        written = map(format_pair, self._written(wave))
        originals = map(format_pair, self._originals(place))
        # A driver that died while it validated may have left output there.
        output = f"{place}/validated-{uuid4().hex[:8]}"
        request = JobRequest(job=ValidateJob, names=[*written, *originals], output=output)
        report = self.run(request)
        for line in self.lines(output):
            yield Discrepancy(**json.loads(line))
        for problem in report.findings:
            name, offset = problem.file or "", problem.offset or 0
            yield Discrepancy("unreadable", name, 0, offset, problem.message)

    @property
    def _root(self) -> str:
        """The folder of the archive."""
        return self.place.removesuffix(f"/{ASIDE}/{self.act.name}")

    def _written(self, wave: str) -> Iterator[FilePair]:
        for outcome in self.outcomes(wave):
            if isinstance(outcome, WrittenFile):
                new = outcome.written.name
                yield FilePair(
                    name=new,
                    before=f"{self._root}/{outcome.written.old_name}",
                    after=f"{self.place}/{outcome.folder}/{new}",
                )

    def _originals(self, place: str) -> Iterator[OriginalsFile]:
        """The records that revisits of this wave refer to, by file."""
        generations = self.files.old_generations()
        lines = (text_pair(text)[0] for text in self.lines(place, _LINES))
        places = sort_outside_memory(map(original_place, lines))
        for name, group in groupby(places, key=itemgetter(0)):
            stored = generations.get(name, name)
            at = [*dict.fromkeys((offset, inner) for _, offset, inner in group)]
            yield OriginalsFile(name=f"{self._root}/{stored}", at=at)

    def _write_lines(self, place: str, lines: Iterable[bytes]) -> bool:
        """Write lines; return whether there were any."""
        stream = iter(lines)
        first = next(stream, None)
        if first is None:
            return False
        with TemporaryFile(prefix="pinakes-lines-") as file:
            file.writelines(line + b"\n" for line in chain((first,), stream))
            with open_folder(place, self.configuration) as folder:
                at = f"{place}/{_LINES}"
                publish_copy(folder, file, _LINES, token=uuid4().hex, place=at)
        return True
