"""The lease of a collection: one act at a time decides, pins, removes or cancels in it.

Landing takes none: it only adds.  A lease whose owner has died is taken over with its act and
act time, whatever the act, so that it is resumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pinakes.catalog.claims import Claimant, ClaimedCell
from pinakes.catalog.crawl_rows import TABLE
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import encode_collection_key
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore

LEASE_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A lease that was taken; `resumed`: it continues another process's unfinished act."""

    collection: str
    lease: Claim
    resumed: bool


def _cell_of(collection: str) -> ClaimedCell:
    return ClaimedCell(
        table=TABLE,
        key=encode_collection_key(collection),
        cell=Lease,
        holds_ms=LEASE_MS,
        what=f"the collection {collection}",
    )


def read_lease(store: RowStore, collection: str) -> Claim | None:
    """The collection's lease as stored; None if none was ever taken."""
    return _cell_of(collection).read(store)


def take_lease(
    store: RowStore,
    collection: str,
    by: Claimant,
    *,
    act: str,
) -> HeldLease:
    """Take the lease for an act, or take over the unfinished act of an owner that has died.

    Raises:
        Conflict: another process holds the lease.
    """
    lease, resumed = _cell_of(collection).take(
        store,
        by,
        act=act,
        goes_on=lambda last: True,
    )
    return HeldLease(collection=collection, lease=lease, resumed=resumed)


def require_lease(store: RowStore, held: HeldLease) -> None:
    """Raise Conflict unless the lease is still ours."""
    _cell_of(held.collection).require(store, held.lease.token)


def renew_lease(store: RowStore, held: HeldLease, now_ms: int) -> HeldLease:
    """Extend the lease; Raises Conflict as `require_lease` does."""
    cell = _cell_of(held.collection)
    return replace(held, lease=cell.renew(store, held.lease, expires_ms=now_ms + LEASE_MS))


def leave_lease(store: RowStore, held: HeldLease) -> None:
    """Leave the act unfinished: whoever takes the lease next goes on with it."""
    _cell_of(held.collection).renew(store, held.lease, expires_ms=1)


def release_lease(store: RowStore, held: HeldLease) -> None:
    """Release the lease; its act time is kept, because the next act must be later."""
    done = replace(held.lease, dead=())  # nothing is written aside under its token
    _cell_of(held.collection).renew(store, done, expires_ms=0)
