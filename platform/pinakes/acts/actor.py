"""Who does an act, and when: reads the clock, and who this process is."""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import Held, take_claim
from pinakes.hbase_schema.file_cells import Claim
from pinakes.row_store.port import RowStore

from .leases import HeldLease, take_lease
from .pinning import is_pinned, take_pin

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
        """Wait while a backup pins the bytes of the archive: see `acts.pinning`.

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
