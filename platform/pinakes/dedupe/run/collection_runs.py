"""`dedupe` of a collection, as its verb and `pinakes.Store` call it.

lease ─▶ the run that died, if one did, goes on with what it was asked for ─▶ ended
lease ─▶ the run that is asked for ─▶ ended
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.run_rows import STOPPED, has_ended
from pinakes.catalog.unknown_files import require_collection_known
from pinakes.errors import PinakesError
from pinakes.row_store.port import RowStore

from .collection import Collection
from .mending import Mender
from .old_generations import Dropped, Mend, drop_old_generations
from .progress import UNWATCHED, RunProgress
from .remaining import Remaining
from .room import drop_each
from .run_files import RunFiles, clear_ended_runs
from .run_report import DedupeReport, DedupeRequest
from .store_run import StoreRun
from .tasks import HERE, Executors

VERB = "dedupe"
COMPARE = ("bytes", "sha256", "none")
"""What payloads are compared by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OldGenerations:
    """Old generations of a pair of stores that may go, once they are replaced for `grace_ms`.

    `on_dropped` is told of each.
    """

    rows: RowStore
    archive: ArchiveStore
    actor: Actor
    grace_ms: int
    on_dropped: Callable[[Dropped], None] = lambda dropped: None

    def drop(
        self,
        remaining: Remaining,
        entries: Iterable[FileEntry],
        *,
        mend: Mend | None = None,
        dry_run: bool = False,
    ) -> Iterator[Dropped]:
        """Drop those of these files.  Raises as `drop_old_generations`."""
        for dropped in drop_old_generations(
            self.rows,
            self.archive,
            entries,
            remaining=remaining,
            now_ms=self.actor.now_ms(),
            wait_until_unpinned=partial(self.actor.wait_until_unpinned, self.rows),
            grace_ms=self.grace_ms,
            mend=mend,
            dry_run=dry_run,
        ):
            self.on_dropped(dropped)
            yield dropped

    def plan(self, collection: str) -> list[PinakesError]:
        """Tell of what would be dropped now; why others would not be."""
        drop = partial(self.drop, Remaining(self.rows, self.archive), dry_run=True)
        entries = Collection(self.rows, self.archive, collection).entries.values()
        return list(drop_each(drop, entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionRuns:
    """Runs over collections of one pair of stores.  Not for several threads.

    `software` is noted with each; `old` are the generations that they may drop, if any.
    `watched()` is entered for the length of a run, and gets its progress; `on_resumed` is told the
    name of a run that goes on.
    """

    rows: RowStore
    archive: ArchiveStore
    runs_folder: Path
    actor: Actor
    software: str
    executors: Executors = HERE
    old: OldGenerations | None = None
    watched: Callable[[], AbstractContextManager[RunProgress]] = lambda: nullcontext(UNWATCHED)
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
                    # Another run would decide anew, and find what a process that died published.
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
            report = run.execute(_KeptLease(act, progress))
        if mender is not None:
            report.files_mended, report.records_mended = mender.files, mender.records
        return report


class _KeptLease:
    """Keeps a run's lease while it goes on."""

    def __init__(self, act: Act, progress: RunProgress) -> None:
        self._act = act
        self._progress = progress

    def begin(self, step: str, total_bytes: int) -> None:
        self._progress.begin(step, total_bytes)

    def advance(self, count: int) -> None:
        """Raises Conflict where somebody has taken this run for a dead one."""
        self._act.keep()
        self._progress.advance(count)
