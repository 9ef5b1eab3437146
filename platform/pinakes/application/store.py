"""A store from Python: what it holds, and what can be done with it.

Exported as `pinakes.open_store`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pinakes.acts.actor import Actor
from pinakes.backup.making import BackupReport
from pinakes.backup.restoring import RestoreReport
from pinakes.catalog.crawl_rows import CANCELLED, CANCELLING, OPEN, require_crawl
from pinakes.config import Configuration, load_configuration
from pinakes.dedupe.run.plan import Plan
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.dedupe.run.store_run import COMPARE
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES
from pinakes.deletion.requests import (
    CANCEL,
    FORCE,
    PROMOTE,
    REFUSE,
    REMOVE,
    WITHDRAW,
    DeletionReport,
    PurgeRequest,
    WithdrawalReport,
    WithdrawalRequest,
)
from pinakes.errors import ConfigError, PinakesError
from pinakes.export.exporting import ExportReport, ExportRequest
from pinakes.index.manifest import ManifestLine
from pinakes.ingest.commit import Commit, commit_crawl
from pinakes.profile import Stores, create_stores, open_stores
from pinakes.warc.file_progress import Advance, no_advance

from .backups import back_up, restore
from .checking import StoreFinding, check_store
from .deduping import DedupeRun, dedupe, forecast, settled
from .deleting import purge_crawl, remove_crawl, withdraw_captures
from .exporting import OnProblem, export_crawl, plan_export
from .landing import Watched, ingest
from .landing_loop import IngestRun, Told
from .landing_plan import IngestPlan, IngestRequest, plan_ingest
from .paths import AnyPath, Paths, names_of
from .store_reading import StoreReading
from .wacz_landing import ImportRequest, import_waczs
from .wacz_told import ImportRun, ImportTold, WaczMissed


class Store(StoreReading):
    """An open store; get one from `open_store`."""

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
        tell: Callable[[Told], None] = lambda told: None,
        advance: Advance = no_advance,
    ) -> IngestRun:
        """Land archive files, folders of them and packages in a crawl, as `pinakes ingest` does.

        With a `hook` the paths are what this crawler has left, and name the crawl.  `tell` is
        called with what became of each file as it is done, `advance` with how many more bytes
        are.  `jobs` are processes, which import `__main__` anew.  Killed anywhere, the same call
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
        problems: list[PinakesError] = []

        def keep(told: Told) -> None:
            if isinstance(told, PinakesError):
                problems.append(told)
            tell(told)

        watched = Watched(tell=keep, advance=advance)
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
        tell: Callable[[ImportTold], None] = lambda told: None,
    ) -> ImportRun:
        """Import WACZ files, each whole or not at all, as `pinakes import-wacz` does.

        Paths are WACZ files, folders of them, or manifests; `import_from` says from where
        manifests may name some.  With `resume` those that failed before are tried again.  `tell`
        is called with what became of each.  Killed anywhere, the same call goes on.

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
        problems: list[PinakesError] = []

        def keep(told: ImportTold) -> None:
            if isinstance(told, WaczMissed):
                problems.append(told.problem)
            tell(told)

        return replace(import_waczs(self._stores, request, keep), problems=problems)

    def dedupe(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        compare: str = "bytes",
        sample_bytes: float = 0.001,
        seed: str = "",
        min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
        min_file_saving: float = 0.01,
        drop_old: timedelta | None = None,
    ) -> list[DedupeRun]:
        """Write duplicates as revisits, as `pinakes dedupe` does: of a crawl, against all before
        it, or of all crawls of a collection.

        The options are those of the verb.  With `drop_old` the generations that were replaced so
        long ago are deleted, once what they hold was read elsewhere.  Killed anywhere, the next
        call completes what was begun: then there are two runs.

        Raises:
            ConfigError: an unknown crawl or way to compare.
            Conflict: another act works on the collection, or did not finish.
            DigestMismatch: all crawls are asked for, and the catalogue has lost some.
            StoreUnavailable: the disk is full, or a file cannot be read.
        """
        _require_one_of("compare", compare, COMPARE)
        request = DedupeRequest(
            collection=collection,
            crawl=crawl,
            compare=compare != "none",
            sample_bytes=sample_bytes if compare == "sha256" else None,
            seed=seed,
            min_saving_bytes=min_saving_bytes,
            min_file_saving=min_file_saving,
        )
        grace_ms = None if drop_old is None else drop_old // timedelta(milliseconds=1)
        return dedupe(self._stores, settled(self._stores, request), grace_ms=grace_ms)

    def plan_dedupe(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
        min_file_saving: float = 0.01,
        sample: float = 1.0,
        decided_on: Callable[[ManifestLine], None] | None = None,
    ) -> Plan:
        """What `dedupe` would save, as `pinakes dedupe --plan` forecasts it; writes nothing.

        From this part of the contents, with a 95% interval.  `decided_on` is called with a line
        for each capture, which says what it would refer to, or why it stays full.  `Raises` as
        `dedupe`.
        """
        request = DedupeRequest(
            collection=collection,
            crawl=crawl,
            min_saving_bytes=min_saving_bytes,
            min_file_saving=min_file_saving,
        )
        request = settled(self._stores, request)
        return forecast(self._stores, request, fraction=sample, decided_on=decided_on)

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
            Conflict: it is landing or leaving, or changed meanwhile.
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

    def check(
        self, *, quick: bool = False, full: bool = False, seed: int = 0, repair: bool = False
    ) -> Iterator[StoreFinding]:
        """Yield what does not agree in the store, as `pinakes fsck` does; lazy.

        `quick` reads no archive file, `full` every record; else a sample by `seed` is read.  With
        `repair` each is mended before it is yielded, where it can be.
        """
        return check_store(self._stores, quick=quick, full=full, seed=seed, repair=repair)

    def backup(self, folder: AnyPath, *, advance: Advance = no_advance) -> BackupReport:
        """Copy rows and files of this moment to an empty or new folder, while work goes on.

        `advance` counts files.  Killed anywhere, the same call goes on.  `restore_backup` makes a
        store of it.

        Raises:
            ConfigError: the folder is not empty, or holds a complete backup.
            Conflict: another process makes this backup, or pins the store.
        """
        return back_up(self._stores, self._configuration, os.fspath(folder), advance=advance)

    def remove(self, crawl: str, *, plan: bool = False) -> DeletionReport:
        """Delete a crawl that no other refers to: an open one as `pinakes crawl cancel` does, a
        committed one as `pinakes crawl remove`.

        With `plan` nothing is changed, and the report says what would be.  Where `references`
        prevent it, nothing is.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: the crawl does not exist, or is going otherwise.
            Conflict: another act works on its collection, or did not finish.
        """
        entry = require_crawl(self._stores.rows, crawl)
        how = CANCEL if entry.state in (OPEN, CANCELLING, CANCELLED) else REMOVE
        return remove_crawl(self._stores, crawl, how, plan=plan)

    def purge(
        self, crawl: str, *, references: str = "refuse", plan: bool = False
    ) -> DeletionReport:
        """Delete a crawl, and see to what refers to it, as `pinakes crawl purge` does.

        `references`, `plan`: `refuse`, `promote` or `force`, as for the verb; as for `remove`.
        Raises as `remove`.
        """
        _require_one_of("references", references, (REFUSE, PROMOTE, FORCE))
        request = PurgeRequest(crawl=crawl, references=references)
        return purge_crawl(self._stores, request, plan=plan)

    def withdraw(
        self,
        targets: Iterable[str],
        *,
        reason: str,
        by: str,
        references: str = "promote",
        plan: bool = False,
    ) -> list[WithdrawalReport]:
        """Take captures down, as `pinakes withdraw` does: a report for each collection.

        `targets` are keys of captures, digests of bodies, or URLs; `reason` and `by` (who asks)
        are kept in the store.  `references`: `promote` or `withdraw`, as for the verb.  With `plan`
        nothing is changed.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: no reason is given, or a digest is malformed.
            InputRefused: nothing is known by one of the targets.
            Conflict: another act works on a collection, or a backup holds files of the store.
        """
        _require_one_of("references", references, (PROMOTE, WITHDRAW))
        if not (plan or (reason.strip() and by.strip())):
            raise ConfigError("say why, and who asks for it: both are kept in the store")
        request = WithdrawalRequest(
            targets=tuple(targets), reason=reason, by=by, references=references
        )
        return list(withdraw_captures(self._stores, request, plan=plan))

    def commit(self, crawl: str) -> Commit:
        """Make an open crawl final, as `pinakes crawl commit` does; again, it changes nothing.

        Raises:
            ConfigError: an unknown crawl.
            Conflict: files of it are landing, or it is leaving.
        """
        return commit_crawl(self._stores.rows, self._stores.archive, crawl, Actor())


@contextmanager
def open_store(folder: AnyPath, *, create: bool = False) -> Iterator[Store]:
    """Open the embedded store in a folder; with `create`, make it there if there is none.

    Raises:
        ConfigError: there is none.
        SchemaError: it was made by another version.
    """
    configuration = _embedded(folder)
    if create:
        create_stores(configuration)
    with open_stores(configuration) as stores:
        yield Store(stores, configuration)


def restore_backup(
    backup: AnyPath, folder: AnyPath, *, advance: Advance = no_advance
) -> RestoreReport:
    """Make an embedded store in a folder, where there is none, of what a backup holds.

    `advance` counts files.  Killed anywhere, the same call goes on.

    Raises:
        ConfigError: there is no complete backup, or the store is not empty.
        SchemaError: the backup was made by a newer Pinakes.
        DigestMismatch: a file of the backup is not what was written.
    """
    return restore(_embedded(folder), os.fspath(backup), advance=advance)


def _embedded(folder: AnyPath) -> Configuration:
    return load_configuration(
        options={"profile": "embedded", "store": os.fspath(folder)},
        environment={},
        folder=Path("/"),
    )


def _require_one_of(name: str, value: str, values: Iterable[str]) -> None:
    if value not in values:
        raise ConfigError(f"{name} is {value!r}, and should be one of {', '.join(values)}")
