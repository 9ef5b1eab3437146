"""The pin of a store: while it holds, nobody deletes bytes of archive files.

A backup takes it for the moment between its snapshot of the rows and its snapshot of the
files: what the rows speak of is then still there.  It is a claim as any other, in the row
`+` of `crawls`, and holds for two minutes unless it is renewed.  Whoever deletes bytes looks
at it after the rows have let go of them, and waits; nobody else does.
"""

from __future__ import annotations

from collections.abc import Callable

from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import STORE_KEY
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore, get_row

from .claims import ClaimedCell
from .crawl_rows import TABLE

PIN_MS = 120_000
_CELL = ClaimedCell(
    table=TABLE, key=STORE_KEY, cell=Lease, holds_ms=PIN_MS, what="the store, to pin it"
)


def take_pin(
    store: RowStore,
    *,
    owner: str,
    token: str,
    act: str,
    now_ms: int,
    is_gone: Callable[[str], bool],
) -> Claim:
    """Pin the store; a pin whose owner is gone, or that has run out, is no hindrance.

    Raises:
        Conflict: where somebody else is pinning it.
    """
    pin, _ = _CELL.take(
        store,
        owner=owner,
        token=token,
        act=act,
        now_ms=now_ms,
        is_gone=is_gone,
        goes_on=lambda last: False,
    )
    return pin


def read_pin(store: RowStore) -> Claim | None:
    """The pin as it stands, given back or not; None where there never was one."""
    return _CELL.read(store)


def pinned_since_ms(store: RowStore) -> int:
    """When the pin was last written, by the store's own clock; 0 where there never was one."""
    row = get_row(store, TABLE, STORE_KEY, columns=[Lease.COLUMN])
    return row.cells[Lease.COLUMN].timestamp_ms if row is not None else 0


def is_pinned(store: RowStore, *, now_ms: int, is_gone: Callable[[str], bool]) -> bool:
    """Whether bytes must stay where they are for now.  One round trip."""
    pin = _CELL.read(store)
    return pin is not None and pin.expires_ms > now_ms and not is_gone(pin.owner)


def renew_pin(store: RowStore, pin: Claim, now_ms: int) -> Claim:
    """Hold it for longer; what it was to keep may have gone where it lapsed.

    Raises:
        Conflict: where it has run out, or is not ours any more.
    """
    if now_ms >= pin.expires_ms:
        raise Conflict("the store was not pinned for long enough: begin again")
    return _CELL.renew(store, pin, expires_ms=now_ms + PIN_MS)


def release_pin(store: RowStore, pin: Claim) -> None:
    """Give it back; its act time stays, for the next one's."""
    _CELL.renew(store, pin, expires_ms=0)
