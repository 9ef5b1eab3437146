"""Tasks as jobs do them, without a runner: what writing in waves is tested with, quickly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pinakes.acts.generations import Written
from pinakes.acts.waves import FileOutcome, NotWritten, WrittenFile, write_aside
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import process_lines
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.run.file_rewriting import RewritingTask, annotate, decided_by_ordinal
from pinakes.dedupe.run.run_files import RunFiles
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.validate.file_pairs import Discrepancy, FilesComparison, compare_files
from pinakes.dedupe.write.proofs import require_records
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.index.manifest import ManifestLine
from pinakes.warc.opening import open_source


class TasksHere:
    """A note of its outcomes lies beside what was written, as a job's output does."""

    def __init__(
        self, archive: LocalArchiveStore, request: DedupeRequest, run: str, files: RunFiles
    ) -> None:
        self._archive = archive
        self._request = request
        self._run = run
        self._run_files = files
        self._aside = Path(archive.folder_aside(run))
        self.waves = 0

    def decide(
        self,
        lines: Iterable[ManifestLine],
        decisions: Decisions,
        *,
        compare: bool,
    ) -> Iterator[ManifestLine]:
        known = list(lines)
        with self._files({line.file for line in known}) as files:
            bodies = ArchiveBodies(files) if compare else None
            resolved = resolve_lines(known, bodies, count=decisions.resolved)
            for line in process_lines(resolved, count=decisions.processed):
                if line.is_duplicate:
                    yield line

    def _files(self, names: Iterable[str]) -> StoredFiles:
        generations = self._run_files.old_generations()
        return StoredFiles(self._archive, {name: generations.get(name, name) for name in names})

    def write(self, wave: str, files: Iterable[RewritingTask]) -> None:
        self.waves += 1
        out = LocalArchiveStore(self._aside / wave / "_written")
        generations = self._run_files.old_generations()
        notes = []
        for file in files:
            name = file.archive_file
            old = generation_of(generations.get(name, name))
            decided = decided_by_ordinal(self._archive, old.name, file.pairs)
            assert decided is not None
            count = RefsCount()
            with self._files({line.original_file or "" for line in file.lines}) as bodies:
                writer = RevisitWriter(
                    OriginalReader(bodies).find,
                    run=self._run,
                    min_saving_bytes=self._request.min_saving_bytes,
                )
                parts = (
                    partial(writer.replacements, lines=file.lines, count=count),
                    lambda old, new, count=count: require_records(old, new, count.take_bodies()),
                    partial(annotate, decided),
                    count,
                )
                made = write_aside(self._archive, out, old, lambda parts=parts: parts)  # type: ignore[misc]
            if isinstance(made, NotWritten):
                raise made.problem
            sidecar = made.sidecar_sha256
            notes.append([asdict(made.written), sidecar, count.records, count.saved_bytes])
        (self._aside / wave / "notes").write_text(json.dumps(notes))

    def validate(self, wave: str) -> Iterator[Discrepancy]:
        found = FilesComparison()
        with Resolution() as resolution:
            for outcome in self.outcomes(wave):
                if not isinstance(outcome, WrittenFile):
                    continue
                with (
                    open_source(self._archive.path_of(outcome.written.old_name)) as before,
                    open_source(self._aside / outcome.folder / outcome.written.name) as after,
                ):
                    compare_files(before, after, resolution, found)
        yield from found.discrepancies

    def outcomes(self, wave: str) -> Iterator[FileOutcome[RefsCount]]:
        for note in json.loads((self._aside / wave / "notes").read_text()):
            content, sidecar, records, saved = note
            written = Written(**content)
            yield WrittenFile(
                archive_file=written.archive_file,
                folder=f"{wave}/_written",
                written=written,
                sidecar_sha256=sidecar,
                made=RefsCount(records, saved),
            )
