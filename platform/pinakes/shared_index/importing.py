"""What crawlers have written to a Redis with Browsertrix's keys, as reports of open crawls.

    all crawls there ─▶ read whole, each entry checked, sorted on disk ─▶ reported to open crawls

Nothing is written before everything is read: a Redis that goes midway leaves nothing here.  What
is reported belongs to that crawl alone (`catalog.reported`): the Redis proves of no capture that
its bytes are here, so nothing else refers to it before they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import groupby, islice
from typing import NamedTuple

from pinakes.catalog.crawl_rows import OPEN, ensure_crawl, read_crawl
from pinakes.catalog.reported import Report, open_scope, put_reports, why_unfit
from pinakes.catalog.wacz_rows import scan_wacz_files
from pinakes.errors import ConfigError, InputRefused, MalformedRecord
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.seen_cells import SeenCapture
from pinakes.hbase_schema.seen_keys import opening_of
from pinakes.hbase_schema.text import check_name
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.row_store.port import RowStore

from .keys import (
    CANCELED,
    COMMITTED_CRAWLS,
    OPEN_CRAWLS,
    ListedFile,
    keys_of,
    parse_entry,
    parse_field,
    parse_listed,
)
from .marks import has_changed, read_marks
from .server import SharedServer

MOST_WACZS = 100_000
"""Of one crawl: more are no crawl's."""
_TOGETHER = 1000
_SOURCE = "browsertrix"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCrawl:
    """What became of a crawl that the Redis has.

    `outcome` says it in words.  `left_out` counts, by reason, what can be no original by what it
    says; `missing` are WACZ files of its list that were never imported here.
    """

    crawl: str
    outcome: str
    reported: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    missing: list[ListedFile] = field(default_factory=list)


class _Found(NamedTuple):
    """One entry: sorted by crawl, digest, field."""

    crawl: str
    digest: str
    field: bytes
    value: bytes


class Importer:
    """Reads a Redis, and reports to crawls of one collection.

    `on_problem` gets what is left out: an entry that is none, a crawl that cannot be one here.
    """

    def __init__(
        self,
        server: SharedServer,
        store: RowStore,
        collection: str,
        *,
        act: str,
        act_time_ms: int,
        space: SortSpace,
        on_problem: Callable[[InputRefused], None],
    ) -> None:
        self._server = server
        self._store = store
        self._collection = collection
        self._act = act
        self._act_time_ms = act_time_ms
        self._space = space
        self._on_problem = on_problem
        self._lists: dict[str, list[ListedFile | None]] = {}

    def import_crawls(
        self, chosen: Collection[str] = (), *, dry_run: bool = False
    ) -> Iterator[ImportedCrawl]:
        """Import the chosen crawls, or all; lazy.  Safe to repeat.

        Raises:
            ConfigError: the Redis has none of the name.
            Conflict: other things are at its keys, or a crawl is committed or taken out
                at the same time.
            StoreUnavailable: the Redis is lost while it is read, and nothing was written; or the
                store is, and the same call completes it.
        """
        for key in (OPEN_CRAWLS, COMMITTED_CRAWLS, CANCELED):
            self._server.require(key, "set")
        wanted, answers = [], []
        for crawl in self._crawls(chosen):
            why = self._why_not(crawl)
            if why is None:
                self._lists[crawl] = self._read_list(crawl)
                wanted.append(crawl)
            else:
                answers.append(ImportedCrawl(crawl=crawl, outcome=why))
        found = sort_outside_memory(self._entries(wanted), space=self._space)
        by_crawl = groupby(found, key=lambda one: one.crawl)
        yield from answers
        for crawl, entries in by_crawl:
            wanted.remove(crawl)
            yield self._report(crawl, entries, dry_run=dry_run)
        for crawl in wanted:
            yield self._answer(crawl, 0, {}, dry_run=dry_run)

    def _crawls(self, chosen: Collection[str]) -> list[str]:
        there = self._server.read_set(OPEN_CRAWLS) | self._server.read_set(COMMITTED_CRAWLS)
        names: set[str] = set()
        for name in sorted(there):
            text = name.decode("utf-8", "replace")
            try:
                check_name(text, "a crawl")
                names.add(text)
            except ConfigError as error:
                self._on_problem(InputRefused(error.message, file=self._server.name))
        for crawl in chosen:
            if crawl not in names:
                raise ConfigError(f"{self._server.name} has no crawl {crawl}")
        return sorted(names.intersection(chosen) if chosen else names)

    def _why_not(self, crawl: str) -> str | None:
        """Why nothing is taken of a crawl; None if it is open here, or new."""
        [is_canceled] = self._server.ask([("SISMEMBER", CANCELED, crawl)])
        if is_canceled:
            return "was cancelled there: nothing taken"
        entry = read_crawl(self._store, crawl)
        if entry is None:
            return None
        if entry.facts.collection != self._collection:
            return f"is one of the collection {entry.facts.collection} here: nothing taken"
        mark = read_marks(self._server).get(crawl)
        if mark is not None and not has_changed(self._server, crawl, mark):
            return "is as it was exported: nothing taken"
        if mark is not None and entry.state == OPEN and mark.is_of_earlier(opening_of(entry.act)):
            return "has what was exported of an earlier crawl of this name: nothing taken"
        return None if entry.state == OPEN else f"is {entry.state} here: nothing taken"

    def _read_list(self, crawl: str) -> list[ListedFile | None]:
        """Its WACZ files by their numbers; what is none has a number all the same."""
        key = keys_of(crawl).waczs
        self._server.require(key, "list")
        files: list[ListedFile | None] = []
        for value in self._server.iter_list(key):
            if len(files) == MOST_WACZS:
                raise InputRefused(
                    f"more than {MOST_WACZS:,} WACZ files", file=f"{self._server.name} {crawl}"
                )
            try:
                files.append(parse_listed(value))
            except MalformedRecord as error:
                self._refuse(crawl, error)
                files.append(None)
        return files

    def _refuse(self, crawl: str, error: MalformedRecord) -> None:
        problem = InputRefused(error.message, file=f"{self._server.name} {crawl}", kind="an entry")
        self._on_problem(problem)

    def _entries(self, crawls: Iterable[str]) -> Iterator[_Found]:
        for crawl in crawls:
            key = keys_of(crawl).hashes
            self._server.require(key, "hash")
            for name, value in self._server.iter_hash(key):
                try:
                    digest = parse_field(name)
                    parse_entry(value)
                except MalformedRecord as error:
                    self._refuse(crawl, error)
                    continue
                yield _Found(crawl, str(digest), name, value)

    def _report(self, crawl: str, entries: Iterator[_Found], *, dry_run: bool) -> ImportedCrawl:
        left_out: Counter[str] = Counter()
        reports = self._fit_reports(entries, left_out)
        if dry_run:
            return self._answer(crawl, sum(1 for _ in reports), left_out, dry_run=True)
        ensure_crawl(
            self._store,
            crawl,
            CrawlFacts(collection=self._collection, source=_SOURCE),
            act=self._act,
            act_time_ms=self._act_time_ms,
            reopens=False,
        )
        scope = open_scope(self._store, crawl)
        reported = 0
        while batch := list(islice(reports, _TOGETHER)):
            put_reports(self._store, scope, batch)
            reported += len(batch)
        return self._answer(crawl, reported, left_out, dry_run=False)

    def _fit_reports(self, entries: Iterator[_Found], left_out: Counter[str]) -> Iterator[Report]:
        now = datetime.fromtimestamp(self._act_time_ms / 1000, timezone.utc)
        for _, same in groupby(entries):  # a scan of a hash may give a field twice
            report = self._report_of(next(same))
            reason = why_unfit(report, now=now)
            if reason is None:
                yield report
            else:
                left_out[reason] += 1

    def _report_of(self, found: _Found) -> Report:
        entry, files = parse_entry(found.value), self._lists[found.crawl]
        file = files[entry.wacz] if entry.wacz < len(files) else None
        return Report(
            digest=parse_field(found.field),
            seen=SeenCapture(
                url=entry.url,
                date=entry.time,
                length=entry.size,
                file=file.name if file is not None else None,
            ),
        )

    def _answer(
        self, crawl: str, reported: int, left_out: Mapping[str, int], *, dry_run: bool
    ) -> ImportedCrawl:
        known = list(scan_wacz_files(self._store, self._collection, crawl))
        names, hashes = {one.name for one in known}, {one.wacz.sha256 for one in known}
        missing = [
            listed
            for listed in self._lists[crawl]
            if listed is not None and listed.name not in names and listed.sha256 not in hashes
        ]
        outcome = "would be reported" if dry_run else "reported"
        return ImportedCrawl(
            crawl=crawl,
            outcome=outcome if reported else "has no digests: nothing taken",
            reported=reported,
            left_out=left_out,
            missing=missing,
        )
