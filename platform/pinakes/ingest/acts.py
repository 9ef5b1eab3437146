"""Who does an act, and when: the only module of landing that reads clock and process."""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.asides import clear_dead_asides
from pinakes.catalog.file_rows import Held, take_claim
from pinakes.catalog.leases import HeldLease, read_lease, renew_lease, take_lease
from pinakes.catalog.pinning import is_pinned, take_pin
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.row_store.port import RowStore

_ENDED = ("Z", "X")
_LOOK_AGAIN_S = 0.1


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
        """A readable, unique name for an act: `ingest-20260101T000000-1a2b3c4d`."""
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        return f"{verb}-{moment}-{uuid.uuid4().hex[:8]}"

    def claim(self, rows: RowStore, archive_file: str, *, act: str, after_ms: int = 0) -> Held:
        """Claim a file for an act: see `take_claim`."""
        return take_claim(
            rows,
            archive_file,
            owner=self.owner,
            token=self.new_token(),
            act=act,
            now_ms=self.now_ms(),
            is_gone=self.is_gone,
            after_ms=after_ms,
        )

    def claim_under(
        self, rows: RowStore, archive: ArchiveStore, lease: HeldLease, archive_file: str
    ) -> Held:
        """Claim a file for the act that holds a lease; what dead ones wrote aside is deleted.

        The lease is renewed, so that a long act is not taken for a dead one.
        """
        renew_lease(rows, lease, self.now_ms())
        act, after_ms = lease.lease.act, lease.lease.act_time_ms
        held = self.claim(rows, archive_file, act=act, after_ms=after_ms)
        return clear_dead_asides(archive, held)

    def lease(self, rows: RowStore, collection: str, *, act: str) -> HeldLease:
        """Take a collection's lease for an act: see `take_lease`."""
        return take_lease(
            rows,
            collection,
            owner=self.owner,
            token=self.new_token(),
            act=act,
            now_ms=self.now_ms(),
            is_gone=self.is_gone,
        )

    def lease_for(self, rows: RowStore, collection: str, verb: str) -> HeldLease:
        """Take a collection's lease for a new act of a verb, or for one of its own that died.

        Raises:
            Conflict: an act of another verb works on the collection, or did not finish.
        """
        lease = read_lease(rows, collection)
        if lease is not None and lease.expires_ms and not lease.act.startswith(f"{verb}-"):
            raise Conflict(
                f"{lease.act} is working on the collection {collection}, or did not finish: "
                "complete it first"
            )
        return self.lease(rows, collection, act=self.new_act(verb))

    def wait_until_unpinned(self, rows: RowStore) -> None:
        """Wait while a backup pins the bytes of the archive: see `catalog.pinning`.

        Call it after the write that releases the bytes, and before deleting them.
        """
        while is_pinned(rows, now_ms=self.now_ms(), is_gone=self.is_gone):
            time.sleep(_LOOK_AGAIN_S)

    def pin(self, rows: RowStore, *, act: str) -> Claim:
        """Pin the store for an act: see `take_pin`."""
        return take_pin(
            rows,
            owner=self.owner,
            token=self.new_token(),
            act=act,
            now_ms=self.now_ms(),
            is_gone=self.is_gone,
        )

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
