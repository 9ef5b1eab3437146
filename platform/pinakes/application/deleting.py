"""Deletion in a store: crawls, and captures; each is only planned where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.backup.embedded import EmbeddedSnapshots
from pinakes.catalog.crawl_rows import PURGED, PURGING, require_crawl
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import (
    CANCEL,
    REFUSE,
    REMOVE,
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
    stores: Stores, crawl: str, references: str = REFUSE, *, plan: bool = False
) -> DeletionReport:
    """Delete a crawl, open or committed, and see to what refers to it: `PurgeRequest`.

    One that a call which died has begun to delete is deleted as that began it.  Raises as
    `Remover.take_out` and `Purger.purge`.
    """
    entry, purger = require_crawl(stores.rows, crawl), _purger(stores)
    how = None
    if not purger.is_begun(entry):
        how = _without_references(entry.state, is_begun=references != REFUSE)
    if how is not None:
        remover = Remover(stores.rows, stores.archive, Actor())
        return remover.take_out(crawl, how, dry_run=plan)
    request = PurgeRequest(crawl=crawl, references=references)
    return purger.plan(request) if plan else purger.purge(request)


def _without_references(state: str, *, is_begun: bool) -> CrawlDeletion | None:
    """How a crawl of this state is deleted to which nothing refers; with `is_begun` only where that
    has begun."""
    for how in (CANCEL, REMOVE):
        if state in (how.during, how.after) or (state in how.before and not is_begun):
            return how
    return None


def remove_crawls(
    stores: Stores, crawls: Iterable[str], collection: str, references: str
) -> Iterator[DeletionReport]:
    """Delete crawls of a collection one after the other, those first to which nothing refers.

    So what refers to another of them goes with it, and is not made full before.  Before them all,
    one that a process left when it died: no other can go until it has, and it may be none of
    these any more.
    """
    left = list(crawls)
    begun = _purger(stores).unfinished(collection)
    if begun is not None and (begun.crawl in left or begun.state in (PURGING, PURGED)):
        left = [crawl for crawl in left if crawl != begun.crawl]
        yield remove_crawl(stores, begun.crawl, references)
    goes_on = True
    while left and goes_on:
        waiting = []
        for crawl in left:
            report = remove_crawl(stores, crawl)
            if report.references:
                waiting.append(crawl)
            else:
                yield report
        goes_on, left = len(waiting) < len(left), waiting
    for crawl in left:
        yield remove_crawl(stores, crawl, references)


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
