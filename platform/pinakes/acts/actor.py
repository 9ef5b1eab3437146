"""Who does an act, and when; the lease of a collection, and the pin of a store, that it takes.

With the lease one act at a time decides, pins, removes or cancels in a collection.  Landing takes
none: it only adds.  A lease whose owner has died is taken over with its act and act time, for every
kind of act, so that it is resumed.

While the pin holds, no process deletes bytes of archive files.  A backup holds it from its snapshot
of the rows to its snapshot of the files, so that all files in the rows still exist.  It is a claim
in the row `+` of `crawls`, and holds for two minutes unless renewed.  Processes that delete bytes
check it after the rows have released them, and wait; nothing else does.

The clock is read here, and who this process is.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pinakes.catalog.claims import Claimant, ClaimedCell
from pinakes.catalog.crawl_rows import TABLE
from pinakes.catalog.file_rows import Held, take_claim
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import STORE_KEY, encode_collection_key
from pinakes.hbase_schema.run_cells import Lease
from pinakes.row_store.port import RowStore, get_row

LEASE_MS = 3_600_000

PIN_MS = 120_000
_PIN = ClaimedCell(
    table=TABLE, key=STORE_KEY, cell=Lease, holds_ms=PIN_MS, what="the store, to pin it"
)

_ENDED = ("Z", "X")
_LOOK_AGAIN_S = 0.1


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
    """Leave the act unfinished: the next process that takes the lease goes on with it."""
    _cell_of(held.collection).renew(store, held.lease, expires_ms=1)


def release_lease(store: RowStore, held: HeldLease) -> None:
    """Release the lease; its act time is kept, because the next act must be later."""
    done = replace(held.lease, dead=())  # nothing is written aside under its token
    _cell_of(held.collection).renew(store, done, expires_ms=0)


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
    pin, _ = _PIN.take(
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
    pin = _PIN.read(store)
    return pin is not None and pin.expires_ms > now_ms and not is_gone(pin.owner)


def renew_pin(store: RowStore, pin: Claim, now_ms: int) -> Claim:
    """Extend the pin.

    Raises:
        Conflict: it has expired, or is not ours any more: bytes may have been deleted.
    """
    if now_ms >= pin.expires_ms:
        raise Conflict("the store was not pinned for long enough: start again")
    return _PIN.renew(store, pin, expires_ms=now_ms + PIN_MS)


def release_pin(store: RowStore, pin: Claim) -> None:
    """Release the pin; its act time is kept, because the next act must be later."""
    _PIN.renew(store, replace(pin, dead=()), expires_ms=0)  # nothing is aside under its token


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """One worker of this process, as claims name it: `HOST/PID/START/WORKER`.

    It may resume what it left unfinished; so two threads must not share one.
    """

    owner: str = field(default_factory=lambda: f"{_process(os.getpid())}/{uuid.uuid4().hex[:8]}")

    def beside(self) -> Actor:
        """Another worker, in any process, whose claims end with the process of this one."""
        return Actor(owner=f"{self.owner.rpartition('/')[0]}/{uuid.uuid4().hex[:8]}")

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000

    def new_token(self) -> str:
        """A unique token."""
        return uuid.uuid4().hex

    def new_act(self, verb: str) -> str:
        """A readable, unique name for an act: `ingest-20260101T000000.000-1a2b3c4d`.

        Those of one verb are listed in the order in which they began.
        """
        seconds, ms = divmod(time.time_ns() // 1_000_000, 1000)
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(seconds))
        return f"{verb}-{moment}.{ms:03d}-{uuid.uuid4().hex[:8]}"

    def claimant(self) -> Claimant:
        """This worker, now, with the token of one claim."""
        return Claimant(self.owner, self.new_token(), self.now_ms(), self.is_gone)

    def claim(self, rows: RowStore, archive_file: str, *, act: str, after_ms: int = 0) -> Held:
        """Claim a file for an act: see `take_claim`."""
        return take_claim(rows, archive_file, self.claimant(), act=act, after_ms=after_ms)

    def lease(self, rows: RowStore, collection: str, *, act: str) -> HeldLease:
        """Take a collection's lease for an act: see `take_lease`."""
        return take_lease(rows, collection, self.claimant(), act=act)

    def wait_until_unpinned(self, rows: RowStore) -> None:
        """Wait while a backup pins the bytes of the archive: see the module.

        Call it after the write that releases the bytes, and before deleting them.
        """
        while is_pinned(rows, now_ms=self.now_ms(), is_gone=self.is_gone):
            time.sleep(_LOOK_AGAIN_S)

    def pin(self, rows: RowStore, *, act: str) -> Claim:
        """Pin the store for an act: see `take_pin`."""
        return take_pin(rows, self.claimant(), act=act)

    def is_gone(self, owner: str) -> bool:
        """Whether the owner of a claim was a process of this host that has ended.

        Owners on other hosts are unknown: their claims are waited for until they expire.
        """
        host, _, rest = owner.partition("/")
        pid = rest.partition("/")[0]
        if host != socket.gethostname() or not pid.isdigit():
            return False
        return _process(int(pid)) != owner.rpartition("/")[0]


def _process(pid: int) -> str:
    return f"{socket.gethostname()}/{pid}/{_started(pid)}"


def _started(pid: int) -> str:
    """When a process began: ticks since boot (`proc(5)`, stat, field 22), and the boot's id."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return "gone"
    fields = stat.rpartition(")")[2].split()
    # One that has ended, and that its parent has not asked for: it works on nothing any more.
    if fields[0] in _ENDED:
        return "gone"
    return f"{boot.strip()[:8]}-{fields[19]}"
