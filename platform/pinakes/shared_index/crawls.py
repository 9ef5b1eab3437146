"""The crawls of a collection, as far as crawlers that share its index may know them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.browsertrix_counts import count_as_browsertrix
from pinakes.catalog.crawl_originals import CrawlFinder
from pinakes.catalog.crawl_rows import (
    COMMITTED,
    OPEN,
    require_crawl,
    require_crawls_there,
    scan_crawls,
)
from pinakes.catalog.originals import ALL_OPEN, Asked, Original, OriginalFinder, Wants
from pinakes.catalog.reported import Report, find_open_scope, scan_not_landed, scan_reports
from pinakes.catalog.visible_files import VisibleFile, VisibleFiles
from pinakes.catalog.wacz_rows import scan_wacz_files
from pinakes.errors import ConfigError
from pinakes.hbase_schema.seen_keys import opening_of
from pinakes.index.external_sort import SortSpace
from pinakes.row_store.port import RowStore

from .gathered import GatheredDigests, WaczNumbers
from .keys import ListedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCrawls:
    """The open and committed crawls of a collection, and those of them to be written.

    `withheld` are its other crawls: crawlers must not refer to what they have, or had.  `openings`
    stand for the acts that brought them to their states, as `opening_of` says.  `unnamed` are the
    bytes of those that the manifests that were last imported no longer name.
    """

    collection: str
    states: dict[str, str]
    openings: dict[str, str]
    withheld: Collection[str]
    unnamed: Mapping[str, int]
    chosen: Collection[str]
    waczs: WaczNumbers

    def gather(
        self,
        store: RowStore,
        files: VisibleFiles,
        *,
        admits: Callable[[bytes, VisibleFile], bool],
        gives: Callable[[Original], bool],
        wants_of: Callable[[str | None], Wants | None],
        digests: str,
        space: SortSpace,
    ) -> GatheredDigests:
        """What these crawls have, to be read once.

        `admits` and `gives` are the access rules (see `OriginalFinder`), `wants_of` has the
        policies: of each crawl, and that of the collection for None.
        """
        finder = OriginalFinder(
            store, files, collection=self.collection, crawl=ALL_OPEN, admits=admits, gives=gives
        )
        return GatheredDigests(
            finder.iter_candidates(),
            self.states,
            self.waczs,
            why_unwanted=self._judge(wants_of),
            reports=self._referable(store, files, admits, gives, wants_of),
            crawls=self.chosen,
            digests=digests,
            space=space,
        )

    def _judge(
        self, wants_of: Callable[[str | None], Wants | None]
    ) -> Callable[[Original], str | None]:
        """What is committed is there for all crawls: one policy holds for it."""
        of_all = wants_of(None)
        of_open = {c: wants_of(c) for c in self.chosen if self.states[c] != COMMITTED}

        def why_unwanted(original: Original) -> str | None:
            wants = of_open.get(original.place.crawl, of_all)
            return wants(original.copy.traits, False) if wants is not None else None

        return why_unwanted

    def _referable(
        self,
        store: RowStore,
        files: VisibleFiles,
        admits: Callable[[bytes, VisibleFile], bool],
        gives: Callable[[Original], bool],
        wants_of: Callable[[str | None], Wants | None],
    ) -> Iterator[tuple[str, Report | None]]:
        """Of each digest that an open crawl reported, what its own look-up gives, unless a capture
        that landed; None where it gives nothing."""
        for crawl in sorted(self.chosen):
            scope = find_open_scope(store, crawl)
            if scope is None:
                continue
            landed = OriginalFinder(
                store,
                files,
                collection=self.collection,
                crawl=crawl,
                admits=admits,
                gives=gives,
                wants=wants_of(crawl),
            )
            finder = CrawlFinder(
                store,
                landed,
                collection=self.collection,
                crawl=crawl,
                admits=admits,
                wants=wants_of(crawl),
            )
            by_digest = groupby(scan_reports(store, scope), key=lambda report: report.digest)
            for found in finder.iter_found(Asked(digest) for digest, _ in by_digest):
                if found is not None and found.original is None:
                    yield crawl, found.report.report if found.report is not None else None

    def count(self, store: RowStore, archive: ArchiveReader) -> dict[str, dict[str, int]]:
        """What Browsertrix counts of these crawls; reads their sidecars."""
        return {
            crawl: count_as_browsertrix(store, archive, crawl, self.collection).as_json()
            for crawl in sorted(self.chosen)
        }


def read_shared_crawls(
    store: RowStore,
    collection: str,
    chosen: Collection[str] = (),
    *,
    hides: Callable[[str], bool] = lambda crawl: False,
) -> SharedCrawls:
    """The crawls of a collection; `chosen`, if any, are to be written, else all.

    `hides` says of which crawls the access rules give nothing: they are not written.

    Raises:
        ConfigError: one of them is unknown, of another collection, neither open nor committed,
            hidden; or the collection has no crawl.
    """
    of_collection = [one for one in scan_crawls(store) if one.facts.collection == collection]
    require_crawls_there(store, collection=collection)
    if not of_collection:
        raise ConfigError(f"{collection}: no collection of this name: see `pinakes crawl list`")
    states = {
        one.crawl: one.state
        for one in of_collection
        if one.state in (OPEN, COMMITTED) and not hides(one.crawl)
    }
    for crawl in chosen:
        entry = require_crawl(store, crawl)
        if crawl not in states:
            is_hidden = entry.state in (OPEN, COMMITTED) and entry.facts.collection == collection
            state = "hidden by access rules" if is_hidden else entry.state
            place = f"{state}, in the collection {entry.facts.collection}"
            raise ConfigError(
                f"the crawl {crawl} is {place}: name one of {collection} that is open or committed"
            )
    wanted = chosen or states
    lists = {crawl: _files_of(store, collection, crawl) for crawl in sorted(wanted)}
    return SharedCrawls(
        collection=collection,
        states=states,
        openings={one.crawl: opening_of(one.act) for one in of_collection},
        withheld=frozenset(one.crawl for one in of_collection) - states.keys(),
        unnamed={
            one.crawl: one.unnamed_bytes
            for one in of_collection
            if one.unnamed_bytes is not None and one.crawl in states
        },
        chosen=frozenset(wanted),
        waczs=WaczNumbers(lists),
    )


def _files_of(store: RowStore, collection: str, crawl: str) -> list[ListedFile]:
    """The WACZ files of a crawl, and after them those that reports name."""
    listed = [
        ListedFile(one.name, one.wacz.sha256, one.wacz.size)
        for one in scan_wacz_files(store, collection, crawl)
    ]
    known = {one.name for one in listed}
    named = {report.seen.file for _, report in _reports_of(store, [crawl])} - {None, *known}
    return [*listed, *(ListedFile(name) for name in sorted(filter(None, named)))]


def _reports_of(store: RowStore, crawls: Collection[str]) -> Iterator[tuple[str, Report]]:
    """What is reported of open crawls: what has landed speaks for itself."""
    for crawl in sorted(crawls):
        scope = find_open_scope(store, crawl)
        if scope is not None:
            for _, reports in scan_not_landed(store, scope):
                yield from ((crawl, report) for report in reports)
