"""The pin of a store: while it holds, no process deletes bytes of archive files.

A backup holds it from its snapshot of the rows to its snapshot of the files, so that all files in
the rows still exist.  It is a claim like any other, in the row `+` of `crawls`, and holds for two
minutes unless renewed.  Processes that delete bytes check it after the rows have released them,
and wait; nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pinakes.catalog.claims import Claimant, ClaimedCell
from pinakes.catalog.crawl_rows import TABLE
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import STORE_KEY
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore, get_row

PIN_MS = 120_000
_CELL = ClaimedCell(
    table=TABLE, key=STORE_KEY, cell=Lease, holds_ms=PIN_MS, what="the store, to pin it"
)


def take_pin(
    store: RowStore,
    by: Claimant,
    *,
    act: str,
) -> Claim:
    """Pin the store; a pin that has expired, or whose owner has died, is taken over.

    Raises:
        Conflict: another process is pinning it.
    """
    pin, _ = _CELL.take(
        store,
        by,
        act=act,
        goes_on=lambda last: False,
    )
    return pin


def pinned_since_ms(store: RowStore) -> int:
    """When the pin was last written, by the store's own clock; 0 if there never was one."""
    row = get_row(store, TABLE, STORE_KEY, columns=[Lease.COLUMN])
    return row.cells[Lease.COLUMN].timestamp_ms if row is not None else 0


def is_pinned(store: RowStore, *, now_ms: int, is_gone: Callable[[str], bool]) -> bool:
    """Whether bytes must not be deleted for now.  One round trip."""
    pin = _CELL.read(store)
    return pin is not None and pin.expires_ms > now_ms and not is_gone(pin.owner)


def renew_pin(store: RowStore, pin: Claim, now_ms: int) -> Claim:
    """Extend the pin.

    Raises:
        Conflict: it has expired, or is not ours any more: bytes may have been deleted.
    """
    if now_ms >= pin.expires_ms:
        raise Conflict("the store was not pinned for long enough: start again")
    return _CELL.renew(store, pin, expires_ms=now_ms + PIN_MS)


def release_pin(store: RowStore, pin: Claim) -> None:
    """Release the pin; its act time is kept, because the next act must be later."""
    _CELL.renew(store, replace(pin, dead=()), expires_ms=0)  # nothing is aside under its token
