"""Tasks as jobs do them, without a runner: what writing in waves is tested with, quickly."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from itertools import groupby
from pathlib import Path

from pinakes.acts.generations import Written, write_generation
from pinakes.archive_store.local import LocalArchiveStore
from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import process_lines
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.references.resolution import Resolution
from pinakes.dedupe.run.decided_records import Pair, annotate, decided_by_ordinal
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.stored_files import StoredFiles
from pinakes.dedupe.run.tasks import FileOutcome
from pinakes.dedupe.validate.file_pairs import Comparison, Discrepancy, compare_files
from pinakes.dedupe.write.given_back import require_records
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.index.manifest import ManifestLine
from pinakes.warc.opening import open_source


class TasksHere:
    """A note of its outcomes lies beside what was written, as a job's output does."""

    def __init__(self, archive: LocalArchiveStore, request: DedupeRequest, run: str) -> None:
        self._archive = archive
        self._request = request
        self._run = run
        self._aside = Path(archive.folder_aside(run))
        self.waves = 0

    def decide(
        self,
        lines: Iterable[ManifestLine],
        generations: Mapping[str, str],
        decisions: Decisions,
        *,
        compare: bool,
    ) -> Iterator[ManifestLine]:
        known = list(lines)
        with self._files({line.file for line in known}, generations) as files:
            bodies = ArchiveBodies(files) if compare else None
            resolved = resolve_lines(known, bodies, count=decisions.resolved)
            for line in process_lines(resolved, count=decisions.processed):
                if line.is_duplicate:
                    yield line

    def _files(self, names: Iterable[str], generations: Mapping[str, str]) -> StoredFiles:
        return StoredFiles(self._archive, {name: generations.get(name, name) for name in names})

    def write(self, wave: str, pairs: Iterable[Pair], generations: Mapping[str, str]) -> None:
        self.waves += 1
        out = LocalArchiveStore(self._aside / wave / "_written")
        notes = []
        for name, group in groupby(pairs, key=lambda pair: pair[0].file):
            own = list(group)
            originals = {line.original_file or "" for line, _ in own}
            old = generation_of(generations.get(name, name))
            decided = decided_by_ordinal(self._archive, old.name, own)
            assert decided is not None
            count = RefsCount()
            with self._files(originals, generations) as files:
                writer = RevisitWriter(
                    OriginalReader(files).find,
                    run=self._run,
                    min_saving_bytes=self._request.min_saving_bytes,
                )
                lines = [line for line, _ in own]
                written = write_generation(
                    self._archive,
                    out,
                    old,
                    partial(writer.replacements, lines=lines, count=count),
                    stored_sha256=None,
                    token="task",
                    check=lambda old, new, count=count: require_records(  # type: ignore[misc]
                        old, new, count.take_bodies()
                    ),
                    annotate=partial(annotate, decided),
                )
            sidecar = out.checksum(sidecar_name(written.name))
            notes.append([asdict(written), sidecar, count.records, count.saved_bytes])
        (self._aside / wave / "notes").write_text(json.dumps(notes))

    def validate(self, wave: str, generations: Mapping[str, str]) -> Iterator[Discrepancy]:
        found = Comparison()
        with Resolution() as resolution:
            for outcome in self.outcomes(wave):
                if outcome.written is None:
                    continue
                with (
                    open_source(self._archive.path_of(outcome.written.old_name)) as before,
                    open_source(self._aside / outcome.folder / outcome.written.name) as after,
                ):
                    compare_files(before, after, resolution, found)
        yield from found.discrepancies

    def outcomes(self, wave: str) -> Iterator[FileOutcome]:
        for note in json.loads((self._aside / wave / "notes").read_text()):
            content, sidecar, records, saved = note
            written = Written(**content)
            yield FileOutcome(
                archive_file=written.archive_file,
                folder=f"{wave}/_written",
                written=written,
                sidecar_sha256=sidecar,
                count=RefsCount(records, saved),
            )
