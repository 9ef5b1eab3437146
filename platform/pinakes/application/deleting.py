"""Deletion in a store: crawls, and captures; each is only planned where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.backup.embedded import EmbeddedSnapshots
from pinakes.catalog.crawl_rows import PURGED, PURGING
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import (
    CrawlDeletion,
    DeletionReport,
    PurgeRequest,
    WithdrawalReport,
    WithdrawalRequest,
)
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.errors import Conflict
from pinakes.profile import Stores


def remove_crawl(
    stores: Stores, crawl: str, how: CrawlDeletion, *, plan: bool = False
) -> DeletionReport:
    """Delete a crawl that nothing refers to.  Raises as `Remover.take_out`."""
    remover = Remover(stores.rows, stores.archive, Actor())
    return remover.take_out(crawl, how, dry_run=plan)


def purge_crawl(stores: Stores, request: PurgeRequest, *, plan: bool = False) -> DeletionReport:
    """Delete a crawl, and see to what refers to it.  Raises as `Purger.purge`."""
    purger = _purger(stores)
    return purger.plan(request) if plan else purger.purge(request)


def purge_crawls(
    stores: Stores, crawls: Iterable[str], collection: str, references: str
) -> Iterator[DeletionReport]:
    """Purge crawls of a collection one after the other, those first to which nothing refers.

    So what refers to another of them goes with it, and is not made full before.  Before them all,
    one that a process left when it died: no other can go until it has, and it may be none of
    these any more.
    """
    left = list(crawls)
    begun = _purger(stores).unfinished(collection)
    if begun is not None and (begun.crawl in left or begun.state in (PURGING, PURGED)):
        left = [crawl for crawl in left if crawl != begun.crawl]
        yield purge_crawl(stores, PurgeRequest(crawl=begun.crawl, references=references))
    goes_on = True
    while left and goes_on:
        waiting = []
        for crawl in left:
            report = purge_crawl(stores, PurgeRequest(crawl=crawl))
            if report.references:
                waiting.append(crawl)
            else:
                yield report
        goes_on, left = len(waiting) < len(left), waiting
    for crawl in left:
        yield purge_crawl(stores, PurgeRequest(crawl=crawl, references=references))


def _purger(stores: Stores) -> Purger:
    return Purger(stores.rows, stores.archive, stores.runs_folder, Actor(), software=SOFTWARE)


def withdraw_captures(
    stores: Stores, request: WithdrawalRequest, *, plan: bool = False
) -> Iterator[WithdrawalReport]:
    """Take captures down, collection by collection; lazy.

    Raises:
        Conflict: a backup that has not ended holds files, which would keep the bytes; or as
            `Withdrawer.withdraw`.
    """
    withdrawer = Withdrawer(stores.rows, stores.archive, Actor(), software=SOFTWARE)
    if plan:
        yield from withdrawer.plan(request)
        return
    held = EmbeddedSnapshots(stores.runs_folder.parent).acts()
    if held:
        raise Conflict(
            f"{held[0]} has not ended, and holds files of the store: let it end, or run "
            "`pinakes backup` again"
        )
    yield from withdrawer.withdraw(request)
