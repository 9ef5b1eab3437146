"""`pinakes import-wacz`: import WACZ files, each whole or not at all, by a queue in the store."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.application.deleting import purge_crawls
from pinakes.archive_store.http_ranges import require_no_user
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.crawl_rows import note_unnamed
from pinakes.catalog.wacz_rows import QueueEntry, scan_queue, wacz_places
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.left_out import say_others
from pinakes.cli.frame.options import (
    add_accept_damaged,
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
    inputs_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.store_place import next_command, store_place
from pinakes.cli.verbs.crawl_deletion import add_references, say_purge
from pinakes.cli.verbs.import_wacz_report import ImportReport
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import Busy, ConfigError, InputRefused, PinakesError
from pinakes.hbase_schema.run_cells import RunFacts
from pinakes.hbase_schema.wacz_cells import WaczPlace
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.ingest.copying import direct_writer
from pinakes.ingest.inputs import LeftOut
from pinakes.ingest.landing import VERB, Lander
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.overlapped import overlapped_file, overlapped_rows
from pinakes.ingest.tally import ARCHIVE_RETRIES, Tally
from pinakes.ingest.wacz_import import Imported, WaczImporter
from pinakes.ingest.wacz_queue import queue_sources, scan_missing, work_off
from pinakes.ingest.wacz_sources import WaczSource, is_manifest, iter_sources
from pinakes.profile import Stores, open_stores

_PAUSE_S = 1.0
_BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What to import, as it was named, and whether to retry what has failed."""

    names: list[str]
    resume: bool
    dry_run: bool
    purge_removed: bool
    references: str
    accepts_damaged: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """WACZ files, and whether to go on with the queue."""
    add_inputs(
        parser,
        "WACZ",
        "WACZ files, folders of them, or manifests (.json); also URLs",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with what is queued, and retry what has failed; no WACZ need be named",
    )
    parser.add_argument(
        "--purge-removed",
        action="store_true",
        help="then purge imported crawls that manifests no longer name, as `pinakes crawl purge`",
    )
    add_references(parser, "captures of other crawls that refer to one of these")
    add_accept_damaged(parser)
    add_settings(parser, "store", "collection", "import_from")
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per WACZ file: imported, was there; or failed, and why."""
    configuration = configuration_of(arguments)
    try:
        trusted = TrustedPlaces.parse(configuration.import_from)
    except ValueError as error:
        raise ConfigError(f"import_from should be {error}") from error
    any_named = bool(arguments.inputs or arguments.files_from)
    request = ImportRequest(
        names=list(inputs_of(arguments)) if any_named or not arguments.resume else [],
        resume=arguments.resume,
        dry_run=arguments.dry_run,
        purge_removed=arguments.purge_removed,
        references=arguments.references,
        accepts_damaged=arguments.accept_damaged,
    )
    for name in request.names:
        if "://" in name:  # of any scheme, also one that nothing is fetched by
            require_no_user(name)  # before it is kept
    if request.purge_removed and not (request.names and all(map(is_manifest, request.names))):
        raise ConfigError(
            "--purge-removed compares with what manifests name: give all of them (.json), and "
            "nothing else"
        )
    with open_stores(configuration, tally=(tally := Tally())) as stores:
        verb = _ImportVerb(request, configuration, trusted, stores, tally, console)
        return verb.plan() if request.dry_run else verb.run()


class _ImportVerb:
    def __init__(
        self,
        request: ImportRequest,
        configuration: Configuration,
        trusted: TrustedPlaces,
        stores: Stores,
        tally: Tally,
        console: Console,
    ) -> None:
        self._request = request
        self._configuration = configuration
        self._trusted = trusted
        self._stores = stores
        self._tally = tally
        self._console = console
        self._actor = Actor()
        self._act = self._actor.new_act(VERB)
        self._report = ImportReport(console)
        self._any_refused = False
        self._told: set[str] = set()
        self._space = SortSpace(
            memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir
        )
        self._named: Spool[tuple[str, str]] = Spool(space=self._space)
        """What sources name, and where it is in the store: crawls, and paths in them."""

    def plan(self) -> Exit:
        """What would be imported, and what is in the queue."""
        sources = self._sources()
        while batch := list(islice(sources, _BATCH)):
            hashes = {one.sha256 for one in batch if isinstance(one, WaczSource) and one.sha256}
            places = wacz_places(self._stores.rows, self._configuration.collection, hashes)
            for source in batch:
                if isinstance(source, InputRefused):
                    self._miss(source)
                    continue
                there = places.get(source.sha256 or "")
                if there is not None and there.queued is None:
                    self._known(source.place, there.crawl, there.name, source.sha256)
                    continue
                self._report.would_import(source)
        for entry in scan_queue(self._stores.rows, self._configuration.collection):
            self._report.queued(entry, entry.state(self._actor.now_ms(), self._actor.is_gone))
        self._list_missing()
        return Exit.SOME_FAILED if self._report.failed else Exit.DONE

    def run(self) -> Exit:
        """Queue the sources, then work the queue off."""
        facts = RunFacts(
            verb="import-wacz",
            act_time_ms=self._actor.now_ms(),
            software=SOFTWARE,
            arguments=tuple(self._request.names),
            collection=self._configuration.collection,
        )
        # Any name will do: where the archive is away, nothing is put.
        self._stores.archive.size(self._act)
        with LandingRun(
            self._stores.rows, self._actor, self._tally, run=self._act, facts=facts, crawl=None
        ) as landing_run:
            self._landing_run = landing_run
            self._queue()
            self._work_off()
            missing = self._list_missing()
        configuration = self._configuration
        place = store_place(configuration)
        again = next_command("import-wacz --resume", configuration, "collection")
        self._report.summarise(f"collection {configuration.collection} of {place}", again)
        if self._request.purge_removed:
            self._purge(missing)
        return Exit.SOME_FAILED if self._report.failed else Exit.DONE

    def _sources(self) -> Iterator[WaczSource | InputRefused]:
        """All sources; the crawls and names that they give are kept as named."""
        temp_dir = self._configuration.temp_dir
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
            for place in left.unfinished:
                self._console.warn(f"{printable(place)}: still being written; skipped")
            say_others(left, self._console)
            if beside.others:
                what = f"{count_of(beside.others, 'archive file')} beside WACZ files skipped"
                names = ", ".join(map(printable, beside.examples))
                self._console.say(f"{what} (`pinakes ingest` lands them): {names}")

    def _queue(self) -> None:
        rows, collection = self._stores.rows, self._configuration.collection
        for queued in queue_sources(rows, collection, self._sources(), act=self._act):
            self._landing_run.beat()
            if isinstance(queued, InputRefused):
                self._miss(queued)
            elif isinstance(queued.found, WaczPlace):
                place = queued.found
                self._known(queued.source.place, place.crawl, place.name, queued.source.sha256)
            elif queued.found is not None:
                self._note_queued(queued.source, queued.found)

    def _purge(self, missing: list[str]) -> None:
        """Purge the crawls that manifests no longer name."""
        if self._report.failed or self._told:
            why = "another process imports, too" if self._told else "not everything was imported"
            self._console.warn(f"nothing was purged, for {why} (see above): run it again")
            self._report.failed = True
            return
        stores, references = self._stores, self._request.references
        collection, is_any = self._configuration.collection, False
        for report in purge_crawls(stores, missing, collection, references):
            say_purge(report, self._console)
            self._report.failed, is_any = self._report.failed or not report.is_complete, True
        if not is_any:
            self._console.say("nothing was purged")

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
        stores, configuration = self._stores, self._configuration
        remote = configuration.profile != "embedded"
        lander = Lander(
            stores.rows,
            stores.archive,
            self._actor,
            sinks=overlapped_rows(stores.rows) if remote else None,
            writers=overlapped_file if remote else direct_writer,
            accepts_damaged=self._request.accepts_damaged,
        )
        importer = WaczImporter(
            stores.rows,
            stores.archive,
            lander,
            self._actor,
            act=self._act,
            collection=configuration.collection,
            trusted=self._trusted,
            temp_dir=configuration.temp_dir,
            on_retry=self._tally.counting(ARCHIVE_RETRIES),
            beat=self._landing_run.beat,
        )

        def import_one(entry: QueueEntry) -> Imported | None:
            self._landing_run.crawl = entry.wacz.crawl
            imported = importer.import_one(entry)
            if imported is None:  # somebody else has just done it, and knows where it is
                self._told.add(entry.wacz.place)
            return imported

        for worked in work_off(
            stores.rows,
            configuration.collection,
            import_one,
            act=self._act,
            retry=self._request.resume,
            wait=self._wait,
        ):
            self._note(worked.entry, worked.outcome)
            self._console.flush()

    def _wait(self) -> None:
        time.sleep(_PAUSE_S)
        self._landing_run.beat()

    def _note(self, entry: QueueEntry, outcome: Imported | PinakesError) -> None:
        if isinstance(outcome, Busy):
            if entry.wacz.place not in self._told:
                self._told.add(entry.wacz.place)
                self._console.say(f"{outcome}; will check again later")
        elif isinstance(outcome, PinakesError):
            self._miss(outcome, entry.wacz.place, queued=True)
        elif outcome.known:
            self._known(entry.wacz.place, outcome.crawl, outcome.name, outcome.sha256)
        else:
            self._imported(entry, outcome)

    def _imported(self, entry: QueueEntry, imported: Imported) -> None:
        for file in imported.files:
            self._landing_run.landed(file)
        self._named.append((imported.crawl, imported.name))
        self._report.imported(entry, imported)

    def _known(self, place: str, crawl: str, name: str, sha256: str | None) -> None:
        self._named.append((crawl, name))
        self._report.known(place, crawl, name, sha256)

    def _miss(
        self, problem: PinakesError, place: str | None = None, *, queued: bool = False
    ) -> None:
        self._report.missed(problem, place, queued=queued)
        if not self._request.dry_run:
            self._landing_run.missed(problem)

    def _list_missing(self) -> list[str]:
        """List what manifests no longer name; the crawls of these that may be purged."""
        are_manifests = self._request.names and all(map(is_manifest, self._request.names))
        if not are_manifests or self._any_refused:
            return []
        if not self._named:
            # An empty answer of a server that has trouble would take everything out.
            self._console.warn("the manifests name no WACZ file: nothing is taken for removed")
            return []
        crawls: list[str] = []
        sizes: dict[str, int] = {}
        named = sort_outside_memory(self._named, space=self._space)
        for missing in scan_missing(self._stores.rows, self._configuration.collection, named):
            if not missing.is_whole:
                self._report.missing_in_part(missing)
                continue
            sizes[missing.crawl] = missing.size
            fate = "to be purged" if self._request.purge_removed else "kept"
            if missing.other_files:
                fate = f"kept: it holds files that were not imported ({missing.other_files:,})"
            else:
                crawls.append(missing.crawl)
            self._report.missing(missing, fate)
        if not self._request.dry_run:
            note_unnamed(self._stores.rows, self._configuration.collection, sizes, act=self._act)
        if sizes:
            self._report.removed(len(sizes), sum(sizes.values()))
        return crawls
