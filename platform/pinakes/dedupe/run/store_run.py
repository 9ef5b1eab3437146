"""`dedupe` over a store: decide, pin, write new generations, file by file.

A run holds its collection's lease.  Each step can be done again: decisions are kept in the
run's folder, pins and marks are the same cells, a file is moved to its new generation by
one check-and-put.  A run that died is taken up by the next `dedupe` of the collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter

from pinakes.acts.act import Act
from pinakes.acts.many_files import FileResult
from pinakes.acts.waves import Waves
from pinakes.archive_store.port import ASIDE
from pinakes.catalog.file_rows import (
    FileEntry,
    put_first_decisions,
)
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.resolve import Comparing
from pinakes.dedupe.write.given_back import require_records
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes, place_of
from pinakes.row_store.port import Put
from pinakes.warc.file_progress import Advance

from .collection import Collection
from .file_rewriting import FileRewriter, RevisitRules, Rewrite, commit_files
from .late_revisits import LateRevisits
from .progress import UNWATCHED, RunProgress, store_step
from .rewriting_run import RewritingRun, Rewritten
from .room import Drop, Room, drop_each
from .run_files import COUNTS, GENERATIONS, REPORT, RunFiles
from .run_report import DedupeReport, DedupeRequest
from .stored_files import StoredFiles
from .tasks import HERE, Executors, Tasks, require_valid

_TO_REWRITE = "bytes_of_files"
"""Among the counts of a run: the size of the files that have duplicates."""
_WAVE_BYTES = 1 << 40
"""At most so much is written by tasks before it is made current."""


class StoreRun:
    """One run under its lease; see the module.  Not for several threads."""

    def __init__(
        self,
        act: Act,
        files: RunFiles,
        request: DedupeRequest,
        *,
        drop: Drop | None = None,
        last_drop: Drop | None = None,
        executors: Executors = HERE,
        space: SortSpace = DEFAULT_SPACE,
    ) -> None:
        """`drop(entries)` drops old generations where there is no room else; None: never.
        `last_drop` does when all is written, and may mend files; None: as `drop`.
        """
        self._act = act
        self._rows = act.rows
        self._archive = act.archive
        self._run = act.name
        self._files = files
        self._request = request
        self._rules = RevisitRules(act.name, request.min_saving_bytes)
        self._drop = drop
        self._last_drop = last_drop or drop
        tasks, self._commit, self._compare, self._rewrite_files = executors
        self._tasks = tasks(act, request, files) if tasks is not None else None
        self._at = act.at
        self._space = space

    def execute(self, progress: RunProgress = UNWATCHED) -> DedupeReport:
        """Do what is left to do of this run."""
        report = DedupeReport(self._run)
        collection = self._read_collection()
        if not self._files.is_decided:
            progress.begin(store_step(1), collection.landed_bytes)
            collection.survey(progress.advance)
            late = LateRevisits(self._act, check=require_records)
            report.targets_restored = late.restore_targets(collection)
            if report.targets_restored:
                collection = self._read_collection()
            put_first_decisions(
                self._rows,
                collection.entries.values(),
                run=self._run,
                act_time_ms=self._act.time_ms,
            )
            self._at("noted as decided on")
            self._files.write_json(GENERATIONS, collection.generations())
        # Decisions speak of places; those of files moved meanwhile are in the old generation.
        current = collection.generations()
        generations = self._files.generations()
        collection.as_of(generations)
        moved = {name for name in generations if generations[name] != current.get(name)}
        if not self._files.is_decided:
            with collection.open_files() as bodies:
                self._decide(collection, bodies, progress)
        self._at("decided")
        report.decisions = self._files.read_json(COUNTS)
        report.generations = generations
        if not self._files.is_pinned:
            self._pin(collection, progress)
        self._at("pinned")
        # Opened anew: what is relied on is read when it is written, and not from a window.
        originals = collection.open_files()
        with originals:
            total_bytes = report.decisions.get(_TO_REWRITE)
            progress.begin(store_step(4), total_bytes if isinstance(total_bytes, int) else 0)
            self._rewrite(collection, originals, moved, report, progress.advance)
        self._files.write_json(REPORT, report.as_json())
        self._at("reported")
        return report

    def _rewrite(
        self,
        collection: Collection,
        bodies: StoredFiles,
        moved: set[str],
        report: DedupeReport,
        advance: Advance,
    ) -> None:
        room = Room(
            self._archive,
            self._entries_now,
            limit_bytes=self._request.max_extra_bytes,
            drop=self._drop,
        )
        run = RewritingRun(
            act=self._act,
            request=self._request,
            report=report,
            moved=moved,
            room=room,
            size_of=collection.size_of,
            advance=advance,
        )
        if self._tasks is None:
            results = self._in_batches(run, bodies)
        else:
            results = self._in_waves(run, self._tasks)
        for result in results:
            run.note(result)
        # What tasks wrote and this run, or the one that died before it, has not published.
        self._archive.delete(f"{ASIDE}/{self._run}")
        if self._last_drop is not None:
            report.problems += drop_each(self._last_drop, self._entries_now())
        report.problems += room.problems

    def _in_batches(
        self, run: RewritingRun, bodies: StoredFiles
    ) -> Iterator[FileResult[Rewritten]]:
        rewrite = self._rewrite_files or self._rewriting_here(bodies, run.advance)
        for batch in run.batches(self._files.by_file()):
            yield from rewrite(self._rules, batch, run.advance)

    def _rewriting_here(self, bodies: StoredFiles, advance: Advance) -> Rewrite:
        rewriter = FileRewriter(self._act, bodies, self._files, self._rules, advance=advance)
        return lambda rules, tasks, advance: map(rewriter.rewrite, tasks)

    def _in_waves(self, run: RewritingRun, tasks: Tasks) -> Iterator[FileResult[Rewritten]]:
        act, files = self._act, self._files
        waves = Waves(
            act=act,
            tasks=tasks,
            take=partial(self._commit or commit_files, act),
            notes=files,
            confirm=lambda noted: require_valid(noted, tasks, files, act.at),
        )
        done: set[str] = set()
        batches = run.batches(files.by_file(), done=done, most_bytes=_WAVE_BYTES)
        for result in waves.change(batches):
            done.add(result.archive_file)
            run.advance(run.size_of(result.archive_file))
            yield result

    def _entries_now(self) -> Iterable[FileEntry]:
        return self._read_collection().entries.values()

    def _read_collection(self) -> Collection:
        return Collection(
            self._rows,
            self._archive,
            self._request.collection,
            run=self._run,
            policies=self._request.dedupe_policies,
            space=self._space,
        )

    def _decide(self, collection: Collection, bodies: ArchiveFiles, progress: RunProgress) -> None:
        decisions = Decisions()
        compare = self._request.compare
        trust = self._request.trust
        if self._tasks is None:
            elsewhere = None
            if self._compare is not None:
                elsewhere = partial(self._compare, self._run, trust, progress.advance)
            lines = collection.decide(
                bodies,
                decisions,
                compare=compare,
                trust=trust,
                advance=progress.advance,
                comparing=Comparing(partial(progress.begin, store_step(2)), progress.advance),
                elsewhere=elsewhere,
            )
        else:
            found = self._tasks.decide(
                collection.lines(progress.advance), decisions, compare=compare
            )
            lines = sort_outside_memory(
                found, key=place_of, space=self._space, item_bytes=estimate_line_bytes
            )
        counts: dict[str, object] = {}

        def wanted() -> Iterator[ManifestLine]:
            total_bytes = 0
            for name, of_file in groupby(lines, key=attrgetter("file")):
                if self._request.crawl in (None, crawl_of(name)):
                    yield from of_file
                    total_bytes += collection.size_of(name)
            counts.update(decisions.as_json())
            counts[_TO_REWRITE] = total_bytes

        self._files.write_decided(wanted(), counts)

    def _pin(self, collection: Collection, progress: RunProgress) -> None:
        """Pin each original that a reference to be written needs; note its row key."""
        keys = self._pinned_keys(collection, progress)
        self._files.write_original_keys(
            key for _, key in sort_outside_memory(keys, space=self._space)
        )

    def _pinned_keys(
        self, collection: Collection, progress: RunProgress
    ) -> Iterator[tuple[int, bytes]]:
        """(number of the decided line, row key of its original); pins on the way."""
        wanted = sort_outside_memory(
            (
                (line.original_file or "", line.original_offset or 0,
                 line.original_inner_offset, number)
                for number, line in enumerate(self._files.read_decided())
            ),
            space=self._space,
        )  # fmt: skip
        cell = {Pin.COLUMN: encode_cell(Pin(run=self._run))}
        progress.begin(store_step(3), collection.landed_bytes)
        for name, group in groupby(wanted, key=lambda place: place[0]):
            rows = collection.sidecar_rows(name)
            row: SidecarRow | None = None
            puts: list[Put] = []
            for _, offset, inner, number in group:
                while row is None or (row.offset, row.inner_offset) < (offset, inner):
                    row = next(rows, None)
                    if row is None:
                        raise PinakesError("an original is not in its sidecar: run fsck", file=name)
                if (row.offset, row.inner_offset) != (offset, inner) or row.row_key is None:
                    raise PinakesError("an original is not in its sidecar: run fsck", file=name)
                if not puts or puts[-1].row != row.row_key:
                    puts.append(Put(row.row_key, cell, self._act.time_ms))
                yield number, row.row_key
            self._rows.mutate("captures", puts)
            progress.advance(collection.size_of(name))
