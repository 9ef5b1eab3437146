"""The lease of a collection: one act at a time decides, pins, removes or cancels in it.

Landing takes none: it only adds.  A lease whose owner is gone is taken over with its act
and act time, whatever the act, so that it is gone on with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import encode_collection_key
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore

from .claims import ClaimedCell
from .crawl_rows import TABLE

LEASE_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A lease that was taken; `resumed` where another's unfinished act is gone on with."""

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
    """The collection's lease as it stands; None where none was ever taken."""
    return _cell_of(collection).read(store)


def take_lease(
    store: RowStore,
    collection: str,
    *,
    owner: str,
    token: str,
    act: str,
    now_ms: int,
    is_gone: Callable[[str], bool],
) -> HeldLease:
    """Take the lease for an act, or take over the unfinished one of an owner that is gone.

    Raises:
        Conflict: where somebody is at work.
    """
    lease, resumed = _cell_of(collection).take(
        store,
        owner=owner,
        token=token,
        act=act,
        now_ms=now_ms,
        is_gone=is_gone,
        goes_on=lambda last: True,
    )
    return HeldLease(collection=collection, lease=lease, resumed=resumed)


def require_lease(store: RowStore, held: HeldLease) -> None:
    """Raise Conflict unless the lease is still ours."""
    _cell_of(held.collection).require(store, held.lease.token)


def renew_lease(store: RowStore, held: HeldLease, now_ms: int) -> HeldLease:
    """Put off the lease's expiry; Raises Conflict as `require_lease` does."""
    cell = _cell_of(held.collection)
    return replace(held, lease=cell.renew(store, held.lease, expires_ms=now_ms + LEASE_MS))


def release_lease(store: RowStore, held: HeldLease) -> None:
    """Give the lease back; its act time stays, for the next act's."""
    _cell_of(held.collection).renew(store, held.lease, expires_ms=0)
