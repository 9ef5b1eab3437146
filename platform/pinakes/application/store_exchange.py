"""What comes into a store, and is taken elsewhere, from Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pinakes.acts.actor import Actor
from pinakes.backup.making import BackupReport
from pinakes.config import Configuration
from pinakes.errors import PinakesError
from pinakes.export.exporting import ExportReport, ExportRequest
from pinakes.ingest.commit import Commit, commit_crawl
from pinakes.profile import Stores
from pinakes.warc.file_progress import Advance, no_advance

from .backups import back_up
from .exporting import OnProblem, export_crawl, plan_export
from .inputs import AnyPath, Paths, names_of
from .landing import Watched, ingest
from .landing_loop import IngestEvent, IngestRun
from .landing_plan import IngestPlan, IngestRequest, plan_ingest
from .store_reading import StoreReading
from .wacz_events import ImportEvent, ImportRequest, ImportRun, WaczMissed
from .wacz_landing import import_waczs

T = TypeVar("T")


class StoreExchange(StoreReading):
    """A store that takes in, and gives out; `pinakes.Store` is one in which more can be done."""

    def __init__(self, stores: Stores, configuration: Configuration) -> None:
        super().__init__(stores)
        self._configuration = configuration

    def plan_ingest(
        self, paths: Paths, crawl: str | None = None, *, hook: str | None = None
    ) -> IngestPlan:
        """What `ingest` would land: its `files()`, with the names they get, or why not."""
        return plan_ingest(IngestRequest(names=names_of(paths), crawl=crawl, hook=hook))

    def ingest(
        self,
        paths: Paths,
        crawl: str | None = None,
        *,
        collection: str = "default",
        hook: str | None = None,
        accept_damaged: bool = False,
        jobs: int = 1,
        on_event: Callable[[IngestEvent], None] = lambda event: None,
        advance: Advance = no_advance,
    ) -> IngestRun:
        """Land archive files, folders of them and packages in a crawl, as `pinakes ingest` does.

        With a `hook` the paths are what this crawler has left, and name the crawl.  `on_event` is
        called with what became of each file as it is done, `advance` with how many more bytes
        are.  `jobs` are processes, which import `__main__` again.  Killed anywhere, the same call
        goes on, and each file lands once.

        Raises:
            ConfigError: no crawl is named, or none that can be.
            InputRefused: what the hook names is not there.
            Conflict: the crawl is committed, or of another collection.
            StoreUnavailable: the disk is full, or a server away; call it again.
        """
        request = IngestRequest(
            names=names_of(paths),
            crawl=crawl,
            collection=collection,
            hook=hook,
            accepts_damaged=accept_damaged,
            jobs=jobs,
        )
        on_event, problems = _keeping(on_event)
        watched = Watched(on_event=on_event, advance=advance)
        done = ingest(self._stores, request, plan_ingest(request), watched)
        return replace(done, problems=problems)

    def import_wacz(
        self,
        paths: Paths = (),
        *,
        collection: str = "default",
        import_from: str = "",
        resume: bool = False,
        accept_damaged: bool = False,
        on_event: Callable[[ImportEvent], None] = lambda event: None,
    ) -> ImportRun:
        """Import WACZ files, each whole or not at all, as `pinakes import-wacz` does.

        Paths are WACZ files, folders of them, or manifests; `import_from` says from where
        manifests may name some.  With `resume` those that failed before are tried again.
        `on_event` is called with what became of each.  Killed anywhere, the same call goes on.

        Raises:
            ConfigError: a URL holds a user, or `import_from` is none.
            StoreUnavailable: the disk is full, or a server away; call it again.
        """
        request = ImportRequest(
            names=names_of(paths),
            collection=collection,
            import_from=import_from,
            resume=resume,
            accepts_damaged=accept_damaged,
        )
        on_event, problems = _keeping(on_event)
        return replace(import_waczs(self._stores, request, on_event), problems=problems)

    def commit(self, crawl: str) -> Commit:
        """Make an open crawl final, as `pinakes crawl commit` does; again, it changes nothing.

        Raises:
            ConfigError: an unknown crawl.
            Conflict: files of it are landing, or it is leaving.
        """
        return commit_crawl(self._stores.rows, self._stores.archive, crawl, Actor())

    def export_wacz(
        self,
        crawl: str,
        path: AnyPath,
        *,
        standalone: bool = False,
        on_problem: OnProblem = lambda problem: None,
        advance: Advance = no_advance,
    ) -> ExportReport:
        """Write a crawl as one WACZ file, which must not exist yet, as `pinakes export-wacz` does.

        `standalone`: so that it needs no other crawl.  `on_problem` gets what is left out of its
        index, and signatures that do not hold; `advance` the bytes that are done.  Killed anywhere,
        there is no file of that name.

        Raises:
            ConfigError: there is no such crawl.
            Conflict: it is landing or leaving, or changed in the meantime.
            DigestMismatch: an archive file is not what the catalogue says.
            InputRefused: the crawl is empty, or the file exists.
            UnresolvedReference: it cannot stand alone.
        """
        request = ExportRequest(crawl=crawl, standalone=standalone)
        return export_crawl(
            self._stores, request, Path(path), on_problem=on_problem, advance=advance
        )

    def plan_export_wacz(
        self, crawl: str, path: AnyPath, *, standalone: bool = False
    ) -> ExportReport:
        """What `export_wacz` would write; `Raises` as that, but for what only reading shows."""
        request = ExportRequest(crawl=crawl, standalone=standalone)
        return plan_export(self._stores, request, Path(path), on_problem=lambda problem: None)

    def backup(self, folder: AnyPath, *, advance: Advance = no_advance) -> BackupReport:
        """Copy rows and files of this moment to an empty or new folder, while work goes on.

        `advance` counts files.  Killed anywhere, the same call goes on.  `restore_backup` makes a
        store of it.

        Raises:
            ConfigError: the folder is not empty, or holds a complete backup.
            Conflict: another process makes this backup, or pins the store.
        """
        return back_up(self._stores, self._configuration, os.fspath(folder), advance=advance)


def _keeping(on_event: Callable[[T], None]) -> tuple[Callable[[T], None], list[PinakesError]]:
    """The same, and where it keeps the problems that it is called with."""
    problems: list[PinakesError] = []

    def keep(event: T) -> None:
        problem = event.problem if isinstance(event, WaczMissed) else event
        if isinstance(problem, PinakesError):
            problems.append(problem)
        on_event(event)

    return keep, problems
