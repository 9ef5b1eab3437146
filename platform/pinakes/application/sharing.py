"""The index of a collection, exchanged with crawlers by a Redis."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import NamedTuple

from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.wanted import wants_of
from pinakes.access.rules import AccessRules
from pinakes.acts.actor import Actor
from pinakes.dedupe.decide.policy import DedupePolicies
from pinakes.profile import Stores
from pinakes.shared_index.crawls import read_shared_crawls
from pinakes.shared_index.exporting import Exported, IndexExporter
from pinakes.shared_index.gathered import GatheredDigests
from pinakes.shared_index.importing import ImportedCrawl, Importer
from pinakes.shared_index.server import SharedServer
from pinakes.shared_index.sorted_set import (
    ReplacedCounts,
    crawls_of,
    export_lines,
    import_lines,
    iter_lines,
)
from pinakes.warc.dates import format_14

from .events import OnProblem
from .listing import report_unplaced


class SharedWith(NamedTuple):
    """What a Redis got: what became of each crawl, what was left out, and the crawls' states."""

    exported: Exported
    gathered: GatheredDigests
    states: Mapping[str, str]
    chosen: Collection[str]


def export_crawls(
    stores: Stores,
    server: SharedServer,
    collection: str,
    crawls: Sequence[str] = (),
    *,
    spelling: str,
    digests: str,
    rules: AccessRules,
    policies: DedupePolicies,
) -> SharedWith:
    """Write what crawlers may refer to, as Browsertrix keeps it; no `crawls`: all of them.

    Raises as `read_shared_crawls` and `IndexExporter.export`.
    """
    rows, now = stores.rows, datetime.now(timezone.utc)
    lines = CdxIndex(rows, stores.archive, rules=rules).lines
    shared = read_shared_crawls(
        rows,
        collection,
        crawls,
        hides=lambda crawl: rules.hides(collection=collection, crawl=crawl),
    )
    gathered = shared.gather(
        rows,
        lines.files,
        admits=lines.admits,
        gives=lines.gives,
        wants_of=lambda crawl: wants_of(policies, collection, crawl, now=format_14(now)),
        digests=digests,
        space=stores.space,
    )
    exporter = IndexExporter(
        server,
        collection,
        shared.states,
        shared.waczs,
        shared.count(rows, stores.archive),
        openings=shared.openings,
        withheld=shared.withheld,
        unnamed=shared.unnamed,
        spelling=spelling,
        token=Actor().new_token(),
        now=f"{now:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
    )
    done = exporter.export(gathered, whole=not crawls)
    return SharedWith(done, gathered, shared.states, shared.chosen)


def import_crawls(
    stores: Stores,
    server: SharedServer,
    collection: str,
    crawls: Sequence[str] = (),
    *,
    on_problem: OnProblem,
    dry_run: bool = False,
) -> Iterator[ImportedCrawl]:
    """Take what crawlers have written, as reports of open crawls; as `Importer.import_crawls`."""
    actor = Actor()
    importer = Importer(
        server,
        stores.rows,
        collection,
        act=actor.new_act("redis-import"),
        act_time_ms=actor.now_ms(),
        space=stores.space,
        on_problem=on_problem,
    )
    return importer.import_crawls(crawls, dry_run=dry_run)


def export_sorted_set(
    stores: Stores, server: SharedServer, collection: str, key: bytes, *, on_problem: OnProblem
) -> ReplacedCounts:
    """Write the index lines of a collection as the sorted set of pywb's recorder."""
    return export_lines(
        server,
        key,
        crawls_of(stores.rows, collection),
        lambda crawls: iter_lines(
            stores.rows, stores.archive, crawls, on_unplaced=partial(report_unplaced, on_problem)
        ),
        token=Actor().new_token(),
    )


def import_sorted_set(
    stores: Stores,
    server: SharedServer,
    collection: str,
    key: bytes,
    *,
    on_problem: OnProblem,
    dry_run: bool = False,
) -> int:
    """Take the lines of such a set as those of archives elsewhere; how many."""
    return import_lines(
        server,
        key,
        stores.rows,
        collection,
        act_time_ms=Actor().now_ms(),
        folder=stores.space.folder,
        on_problem=on_problem,
        dry_run=dry_run,
    )
