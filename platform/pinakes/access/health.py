"""Health of the stores: one small request to each, without waiting long for the answer."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.archive_store.port import ArchiveReader
from pinakes.row_store.port import RowStore

from .recent import Look, Recent

ASK_EVERY_S = 1.0
WAIT_S = 2.0
_ROW = b"0"
_FILE = "healthz/no-such-file"
"""A file that need not exist: it only matters that the store answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHealth:
    """Whether a store answers; `took_s` is the time of its last answer, None if none came."""

    store: str
    reachable: bool
    took_s: float | None
    problem: str | None


class Health:
    """Checks both stores."""

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        def ask_rows() -> bool:
            rows.get_rows("crawls", [_ROW])
            return True

        def ask_archive() -> bool:
            archive.size(_FILE)
            return True

        self._probes = {
            "rows": Recent(ask_rows, every_s=ASK_EVERY_S, share=0.5),
            "archive": Recent(ask_archive, every_s=ASK_EVERY_S, share=0.5),
        }

    def check(self, wait_s: float = WAIT_S) -> list[StoreHealth]:
        """The health of each store; takes twice `wait_s` at most."""
        return [_health(store, probe.look(wait_s)) for store, probe in self._probes.items()]

    def close(self, wait_s: float) -> bool:
        """Stop checking; return whether no check is running."""
        idle = [probe.close(wait_s) for probe in self._probes.values()]
        return all(idle)


def _health(store: str, look: Look[bool]) -> StoreHealth:
    problem = look.error
    if look.asking_s is not None and (look.asking_s >= WAIT_S or look.value is None):
        problem = f"no answer for {look.asking_s:.1f} s"
    return StoreHealth(
        store=store,
        reachable=problem is None and look.value is True,
        took_s=look.took_s,
        problem=problem,
    )
