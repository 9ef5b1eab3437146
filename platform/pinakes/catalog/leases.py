"""The lease of a collection: one act at a time decides, pins, removes or cancels in it.

Landing takes none: it only adds.  The rules are those of a file's claim (`file_rows`): a
lease whose owner is gone is taken over with its act and act time, so that the act is
gone on with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pinakes.errors import Conflict
from pinakes.hbase_schema.act_times import next_act_time
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.name_keys import encode_collection_key
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore, get_row

from .crawl_rows import TABLE

LEASE_MS = 3_600_000
_TAKE_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A lease that was taken; `resumed` where another's unfinished act is gone on with."""

    collection: str
    lease: Lease
    resumed: bool


def read_lease(store: RowStore, collection: str) -> Lease | None:
    """The collection's lease as it stands; None where none was ever taken."""
    value = _value(store, collection)
    return decode_cell(Lease, value) if value is not None else None


def _value(store: RowStore, collection: str) -> bytes | None:
    row = get_row(store, TABLE, encode_collection_key(collection), columns=[Lease.COLUMN])
    return row.value(Lease.COLUMN) if row is not None else None


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
    key = encode_collection_key(collection)
    for _ in range(_TAKE_ATTEMPTS):
        value = _value(store, collection)
        last = decode_cell(Lease, value) if value is not None else None
        resumed = last is not None and last.expires_ms != 0
        if last is not None and resumed:
            if last.owner != owner and last.expires_ms > now_ms and not is_gone(last.owner):
                raise Conflict(
                    f"{last.owner} is at work on the collection {collection} ({last.act}): "
                    "wait for it, and run this again"
                )
            lease = replace(last, owner=owner, token=token, expires_ms=now_ms + LEASE_MS)
        else:
            earlier = () if last is None else (last.act_time_ms,)
            lease = Lease(
                owner=owner,
                token=token,
                act=act,
                act_time_ms=next_act_time(now_ms, *earlier),
                expires_ms=now_ms + LEASE_MS,
            )
        store.check_and_put(TABLE, key, Lease.COLUMN, expected=value, value=encode_cell(lease))
        # Whoever's token is there has it, also where the answer was lost.
        now = read_lease(store, collection)
        if now is not None and now.token == token:
            return HeldLease(collection=collection, lease=lease, resumed=resumed)
    raise Conflict(f"somebody else takes the collection {collection} at this moment; try again")


def require_lease(store: RowStore, held: HeldLease) -> None:
    """Raise Conflict unless the lease is still ours."""
    now = read_lease(store, held.collection)
    if now is None or now.token != held.lease.token:
        raise Conflict(f"another process has taken over the collection {held.collection}")


def release_lease(store: RowStore, held: HeldLease) -> None:
    """Give the lease back; its act time stays, for the next act's."""
    released = encode_cell(replace(held.lease, expires_ms=0))
    done = store.check_and_put(
        TABLE,
        encode_collection_key(held.collection),
        Lease.COLUMN,
        expected=encode_cell(held.lease),
        value=released,
    )
    if not done:
        raise Conflict(f"another process has taken over the collection {held.collection}")
