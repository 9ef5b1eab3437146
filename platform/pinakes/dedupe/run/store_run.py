"""`dedupe` over a collection of a store: decide, pin, write new generations, file by file.

    lease ─▶ the run that died, if one did, goes on with what it was asked for ─▶ ended
    lease ─▶ the run that is asked for ─▶ ended

A run holds its collection's lease.  Each step can be done again: decisions are kept in the
run's folder, pins and marks are the same cells, a file is moved to its new generation by
one check-and-put.  A run that died is taken up by the next `dedupe` of the collection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.acts.dead_writers import clear_task_folder
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import FileEntry, put_first_decisions
from pinakes.catalog.run_rows import STOPPED, has_ended
from pinakes.catalog.unknown_files import require_collection_known
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.decide.resolve import Comparing
from pinakes.dedupe.write.proofs import require_records
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.external_sort import sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes, place_of
from pinakes.row_store.port import RowStore

from .collection import Collection, pinned_originals
from .late_revisits import LateRevisits
from .mending import Mender
from .old_generations import Drop, OldGenerations, drop_each
from .remaining import Remaining
from .rewriting_run import RewritingRun, Room
from .run_files import COUNTS, GENERATIONS, REPORT, RunFiles, clear_ended_runs
from .run_report import UNWATCHED, DedupeProgress, DedupeReport, DedupeRequest, store_step
from .tasks import HERE, Executors

VERB = "dedupe"
COMPARE = ("bytes", "sha256", "none")
"""What payloads are compared by."""
_TO_REWRITE = "bytes_of_files"
"""Among the counts of a run: the size of the files that have duplicates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRuns:
    """Runs over collections of one pair of stores.  Not for several threads.

    `software` is noted with each; `old` are the generations that they may drop, if any.
    `watched()` is entered for the length of a run, and gets its progress; `on_resumed` gets the
    name of a run that goes on.
    """

    rows: RowStore
    archive: ArchiveStore
    runs_folder: Path
    actor: Actor
    software: str
    executors: Executors = HERE
    old: OldGenerations | None = None
    watched: Callable[[], AbstractContextManager[DedupeProgress]] = lambda: nullcontext(UNWATCHED)
    on_resumed: Callable[[str], None] = lambda run: None

    def dedupe(self, request: DedupeRequest) -> Iterator[DedupeReport]:
        """Do what is asked for, after what a run that died was asked for; a report of each run.

        Raises:
            Conflict: another act works on the collection, or did not finish.
            DigestMismatch: the catalogue does not know a file, or has lost a crawl that is asked
                for.
        """
        require_collection_known(self.rows, self.archive, request.collection, crawl=request.crawl)
        while True:
            act = Act.begin(self.rows, self.archive, self.actor, VERB, request.collection)
            with act:
                wanted = self._wanted(act, request)
                report = self._execute(act, wanted)
                if not report.is_complete:
                    # Another run would decide again, and find what a process that died published.
                    act.leave()
                elif report.is_stopped:
                    act.conclude(STOPPED)
            clear_ended_runs(self.runs_folder, partial(has_ended, self.rows))
            yield report
            if wanted == request or not report.is_complete:
                return

    def _wanted(self, act: Act, request: DedupeRequest) -> DedupeRequest:
        """What the run that died was asked for; else this, noted."""
        noted = act.noted() if act.is_resumed else None
        if noted is not None:
            self.on_resumed(act.name)
            return DedupeRequest(**json.loads(noted.arguments[0]))
        act.note(software=self.software, arguments=(json.dumps(asdict(request), sort_keys=True),))
        return request

    def _execute(self, act: Act, request: DedupeRequest) -> DedupeReport:
        drop = last_drop = mender = None
        if self.old is not None:
            remaining = Remaining(self.rows, self.archive)
            mender = Mender(act, remaining)
            drop = partial(self.old.drop, remaining)
            last_drop = partial(drop, mend=mender.mend)
        run = StoreRun(
            act,
            RunFiles(self.runs_folder / act.name),
            request,
            drop=drop,
            last_drop=last_drop,
            executors=self.executors,
        )
        with self.watched() as progress:
            report = run.execute(progress)
        if mender is not None:
            report.files_mended, report.records_mended = mender.files, mender.records
        return report


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
    ) -> None:
        """`drop(entries)` drops old generations where there is no room else; None: never.
        `last_drop` does when all is written, and may mend files; None: as `drop`.
        """
        self._act = act
        self._files = files
        self._request = request
        self._drop = drop
        self._last_drop = last_drop or drop
        self._doing = executors
        self._tasks = executors.tasks(act, request, files) if executors.tasks else None

    def execute(self, progress: DedupeProgress = UNWATCHED) -> DedupeReport:
        """Do what is left to do of this run; its lease is kept while it runs.

        Raises Conflict where another process has taken this run for a dead one.
        """
        act, progress = self._act, _KeptLease(self._act, progress)
        report = DedupeReport(act.name)
        collection = self._read_collection()
        if not self._files.is_decided:
            progress.begin(store_step(1), collection.landed_bytes)
            collection.survey(progress.advance)
            late = LateRevisits(act, check=require_records)
            report.targets_restored = late.restore_targets(collection)
            if report.targets_restored:
                collection = self._read_collection()
            put_first_decisions(
                act.rows, collection.entries.values(), run=act.name, act_time_ms=act.time_ms
            )
            act.at("noted as decided on")
            self._files.write_json(GENERATIONS, collection.generations())
        # Decisions speak of places; those of files moved since then are in the old generation.
        current = collection.generations()
        generations = self._files.generations()
        collection.as_of(generations)
        moved = {name for name in generations if generations[name] != current.get(name)}
        if not self._files.is_decided:
            self._decide(collection, progress)
        act.at("decided")
        report.decisions = self._files.read_json(COUNTS)
        report.generations = generations
        if not self._files.is_pinned:
            progress.begin(store_step(3), collection.landed_bytes)
            keys = pinned_originals(act, collection, self._files.read_decided(), progress.advance)
            self._files.write_original_keys(key for _, key in sort_outside_memory(keys))
        act.at("pinned")
        # Opened again: what is relied on is read when it is written, and not from a window.
        with collection.open_files() as originals:
            total_bytes = report.decisions.get(_TO_REWRITE)
            progress.begin(store_step(4), total_bytes if isinstance(total_bytes, int) else 0)
            self._rewrite(collection, originals, moved, report, progress)
        self._files.write_json(REPORT, report.as_json())
        act.at("reported")
        return report

    def _read_collection(self) -> Collection:
        return Collection(
            self._act.rows,
            self._act.archive,
            self._request.collection,
            run=self._act.name,
            policies=self._request.dedupe_policies,
        )

    def _entries_now(self) -> Iterable[FileEntry]:
        return self._read_collection().entries.values()

    def _rewrite(
        self,
        collection: Collection,
        originals: StoredFiles,
        moved: set[str],
        report: DedupeReport,
        progress: DedupeProgress,
    ) -> None:
        archive = self._act.archive
        limit_bytes = self._request.max_extra_bytes
        room = Room(archive, self._entries_now, limit_bytes=limit_bytes, drop=self._drop)
        run = RewritingRun(
            act=self._act,
            request=self._request,
            files=self._files,
            report=report,
            moved=moved,
            room=room,
            size_of=collection.size_of,
            advance=progress.advance,
        )
        run.rewrite(originals, self._doing, self._tasks)
        # What tasks wrote and this run, or the one that died before it, has not published.
        report.problems += clear_task_folder(self._act.rows, archive, self._act.name)
        if self._last_drop is not None:
            report.problems += drop_each(self._last_drop, self._entries_now())
        report.problems += room.problems

    def _decide(self, collection: Collection, progress: DedupeProgress) -> None:
        """Keep the duplicates of the files that are asked for, and the counts of all."""
        decisions = Decisions()
        counts: dict[str, object] = {}

        def wanted(lines: Iterable[ManifestLine]) -> Iterator[ManifestLine]:
            total_bytes = 0
            for name, of_file in groupby(lines, key=attrgetter("file")):
                if self._request.crawl in (None, crawl_of(name)):
                    yield from of_file
                    total_bytes += collection.size_of(name)
            counts.update(decisions.as_json())
            counts[_TO_REWRITE] = total_bytes

        with collection.open_files() as bodies:
            lines = self._decided(collection, bodies, decisions, progress)
            self._files.write_decided(wanted(lines), counts)

    def _decided(
        self,
        collection: Collection,
        bodies: StoredFiles,
        decisions: Decisions,
        progress: DedupeProgress,
    ) -> Iterator[ManifestLine]:
        """The duplicates, each with its original, by file and offset."""
        advance, compare, trust = progress.advance, self._request.compare, self._request.trust
        lines = collection.lines(advance)
        if self._tasks is not None:
            return sort_outside_memory(
                self._tasks.decide(lines, decisions, compare=compare),
                key=place_of,
                item_bytes=estimate_line_bytes,
            )
        elsewhere = self._doing.compare
        return resolve_and_process(
            lines,
            ArchiveBodies(bodies, advance) if compare else None,
            decisions,
            trust=trust,
            only_duplicates=True,
            compare=partial(elsewhere, self._act.name, trust, advance) if elsewhere else None,
            comparing=Comparing(partial(progress.begin, store_step(2)), advance),
        )


class _KeptLease:
    """Keeps a run's lease while it goes on."""

    def __init__(self, act: Act, progress: DedupeProgress) -> None:
        self._act = act
        self._progress = progress

    def begin(self, step: str, total_bytes: int) -> None:
        self._progress.begin(step, total_bytes)

    def advance(self, count: int) -> None:
        """Raises Conflict where another process has taken this run for a dead one."""
        self._act.keep()
        self._progress.advance(count)
