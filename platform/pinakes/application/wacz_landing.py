"""Importing WACZ files, each whole or not at all, by a queue in the store.

sources ─▶ queue ─▶ each: imported, was there, failed (and stays in the queue)
└─▶ what manifests no longer name
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import note_unnamed
from pinakes.catalog.wacz_rows import QueueEntry, scan_queue, wacz_places
from pinakes.counts import count_of
from pinakes.errors import Busy, DigestMismatch, InputRefused, PinakesError
from pinakes.hbase_schema.run_cells import RunFacts
from pinakes.hbase_schema.wacz_cells import QueuedWacz, WaczPlace
from pinakes.index.external_sort import Spool, sort_outside_memory
from pinakes.ingest.inputs import LeftOut
from pinakes.ingest.landing import VERB
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.tally import ARCHIVE_RETRIES
from pinakes.ingest.wacz.compare import require_imported
from pinakes.ingest.wacz.importing import Imported, WaczImporter
from pinakes.ingest.wacz.queue import queue_sources, scan_missing, work_off
from pinakes.ingest.wacz.sources import WaczSource, iter_sources
from pinakes.profile import Stores

from .events import Notice, notices_of
from .landers import lander_of
from .wacz_events import (
    ImportEvent,
    ImportRequest,
    ImportRun,
    WaczImported,
    WaczKnown,
    WaczMissed,
    WaczQueued,
)

_PAUSE_S = 1.0
_BATCH = 1000


def plan_import(
    stores: Stores, request: ImportRequest, on_event: Callable[[ImportEvent], None]
) -> ImportRun:
    """Tell what would be imported, and what is in the queue."""
    return _Import(stores, request, on_event, writes=False).plan()


def import_waczs(
    stores: Stores,
    request: ImportRequest,
    on_event: Callable[[ImportEvent], None] = lambda event: None,
) -> ImportRun:
    """Queue the sources, then work the queue off.  Killed anywhere, the same call goes on.

    Raises:
        StoreUnavailable: no row or file can be written; run it again.
    """
    return _Import(stores, request, on_event, writes=True).run()


class _Import:
    def __init__(
        self,
        stores: Stores,
        request: ImportRequest,
        on_event: Callable[[ImportEvent], None],
        *,
        writes: bool,
    ) -> None:
        self._stores = stores
        self._request = request
        self._trusted = request.trusted
        self._on_event = on_event
        self._writes = writes
        self._actor = Actor()
        self._act = self._actor.new_act(VERB)
        self._done = ImportRun(run=self._act)
        self._any_refused = False
        self._told: set[str] = set()
        self._named: Spool[tuple[str, str]] = Spool(space=stores.space)
        """What sources name, and where it is in the store: crawls, and paths in them."""

    def plan(self) -> ImportRun:
        """What would be imported, and what is in the queue."""
        sources = self._sources()
        while batch := list(islice(sources, _BATCH)):
            hashes = {one.sha256 for one in batch if isinstance(one, WaczSource) and one.sha256}
            places = wacz_places(self._stores.rows, self._request.collection, hashes)
            for source in batch:
                if isinstance(source, InputRefused):
                    self._miss(source)
                    continue
                there = places.get(source.sha256 or "")
                if there is not None and there.queued is None:
                    self._known(source, there)
                    continue
                self._on_event(source)
        for entry in scan_queue(self._stores.rows, self._request.collection):
            state = entry.state(self._actor.now_ms(), self._actor.is_gone)
            self._on_event(WaczQueued(entry, state))
        self._list_missing()
        return self._done

    def run(self) -> ImportRun:
        """Queue the sources, then work the queue off."""
        facts = RunFacts(
            verb="import-wacz",
            act_time_ms=self._actor.now_ms(),
            software=SOFTWARE,
            arguments=tuple(self._request.names),
            collection=self._request.collection,
        )
        # Any name will do: where the archive is away, nothing is put.
        self._stores.archive.size(self._act)
        with LandingRun(
            self._stores.rows,
            self._actor,
            self._stores.tally,
            run=self._act,
            facts=facts,
            crawl=None,
        ) as landing_run:
            self._landing_run = landing_run
            self._queue()
            self._work_off()
            self._list_missing()
        self._done.met_others = bool(self._told)
        return self._done

    def _sources(self) -> Iterator[WaczSource | InputRefused]:
        """All sources; the crawls and names that they give are kept as named."""
        temp_dir = self._stores.space.folder
        for name in self._request.names:
            left, beside = LeftOut(), LeftOut()
            try:
                for source in iter_sources(name, left, beside, self._trusted, temp_dir):
                    if isinstance(source, WaczSource):
                        self._named.append((source.crawl, source.name))
                    yield source
            except InputRefused as refusal:
                left.refused.append(refusal)
            self._any_refused = self._any_refused or bool(left.refused)
            yield from left.refused
            for event in notices_of(left):
                self._on_event(event)
            if beside.others:
                what = f"{count_of(beside.others, 'archive file')} beside WACZ files skipped"
                names = ", ".join(beside.examples)
                self._on_event(Notice(f"{what} (`pinakes ingest` lands them): {names}"))

    def _queue(self) -> None:
        rows, collection = self._stores.rows, self._request.collection
        for queued in queue_sources(rows, collection, self._sources(), act=self._act):
            self._landing_run.beat()
            if isinstance(queued, InputRefused):
                self._miss(queued)
            elif isinstance(queued.found, WaczPlace):
                self._known(queued.source, queued.found)
            elif queued.found is not None:
                self._note_queued(queued.source, queued.found)

    def _note_queued(self, source: WaczSource, entry: QueueEntry) -> None:
        queued = entry.wacz
        if (source.crawl, source.name, source.size) != (queued.crawl, queued.name, queued.size):
            why = f"it is queued already, for {queued.crawl}/{queued.name}"
            size = "" if source.size == queued.size else f", of {source.size} bytes"
            why = f"{why}: not for {source.crawl}/{source.name}{size}"
            self._miss(InputRefused(why, file=source.place))
        if entry.failure is not None and not self._request.resume:
            times = "once" if entry.failure.attempts == 1 else f"{entry.failure.attempts} times"
            why = f"failed {times} before ({entry.failure.why}): --resume tries again"
            self._miss(InputRefused(why, file=entry.wacz.place), queued=True)

    def _work_off(self) -> None:
        stores, request = self._stores, self._request
        lander = lander_of(stores, self._actor, accepts_damaged=request.accepts_damaged)
        importer = WaczImporter(
            stores.rows,
            stores.archive,
            lander,
            self._actor,
            act=self._act,
            collection=request.collection,
            trusted=self._trusted,
            temp_dir=stores.space.folder,
            on_retry=stores.tally.counting(ARCHIVE_RETRIES),
            beat=self._landing_run.beat,
        )

        def import_one(entry: QueueEntry) -> Imported | None:
            self._landing_run.crawl = entry.wacz.crawl
            imported = importer.import_one(entry)
            if imported is None:  # another process has just done it, and knows where it is
                self._told.add(entry.wacz.place)
            return imported

        for worked in work_off(
            stores.rows,
            request.collection,
            import_one,
            act=self._act,
            retry=request.resume,
            wait=self._wait,
        ):
            self._note(worked.entry, worked.outcome)

    def _wait(self) -> None:
        time.sleep(_PAUSE_S)
        self._landing_run.beat()

    def _note(self, entry: QueueEntry, outcome: Imported | PinakesError) -> None:
        if isinstance(outcome, Busy):
            if entry.wacz.place not in self._told:
                self._told.add(entry.wacz.place)
                self._on_event(Notice(f"{outcome}; will check again later"))
        elif isinstance(outcome, PinakesError):
            self._miss(outcome, entry.wacz.place, queued=True)
        elif outcome.known:
            self._known(entry.wacz, outcome)
        else:
            self._imported(entry, outcome)

    def _imported(self, entry: QueueEntry, imported: Imported) -> None:
        for file in imported.files:
            self._landing_run.landed(file)
        self._named.append((imported.crawl, imported.name))
        event, done = WaczImported(entry, imported), self._done
        done.imported += 1
        done.bytes += imported.size
        done.captures += event.captures
        done.is_well = done.is_well and event.is_well
        self._on_event(event)

    def _known(self, source: WaczSource | QueuedWacz, at: WaczPlace | Imported) -> None:
        self._named.append((at.crawl, at.name))
        try:
            require_imported(
                self._stores.rows,
                self._stores.archive,
                source,
                f"{at.crawl}/{at.name}",
                compared=self._trusted if self._request.compares else None,
            )
        except (DigestMismatch, InputRefused) as problem:
            self._miss(problem)
            return
        self._done.were_there += 1
        sha256 = at.sha256 if isinstance(at, Imported) else source.sha256
        self._on_event(WaczKnown(source.place, at.crawl, at.name, sha256))

    def _miss(
        self, problem: PinakesError, place: str | None = None, *, queued: bool = False
    ) -> None:
        self._done.is_well = False
        self._done.failed += queued
        self._done.refused += not queued
        self._on_event(WaczMissed(problem, place, queued))
        if self._writes:
            self._landing_run.missed(problem)

    def _list_missing(self) -> None:
        """Tell what manifests no longer name, and note it."""
        if not self._request.are_manifests or self._any_refused:
            return
        if not self._named:
            # An empty answer of a server that has trouble would take everything out.
            text = "the manifests name no WACZ file: nothing is taken for removed"
            self._on_event(Notice(text, level="warning"))
            return
        rows, collection, done = self._stores.rows, self._request.collection, self._done
        named = sort_outside_memory(self._named, space=self._stores.space)
        for missing in scan_missing(rows, collection, named):
            if missing.is_whole:
                done.missing[missing.crawl] = missing.size
                if not missing.other_files:
                    done.removable.append(missing.crawl)
            self._on_event(missing)
        if self._writes:
            note_unnamed(rows, collection, done.missing, act=self._act)
