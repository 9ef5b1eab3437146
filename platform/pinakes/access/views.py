"""Everything that is shown of the stores, each part cached for a suitable time.

Their health is asked for by one small request to each, whose answer is not waited for long.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.row_store.port import RowStore

from .care_view import Care, CareView
from .landing_view import Landing, LandingView, ShowsCrawl, TotalsView, shows_all
from .recent import CachedState, Recent

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


def _health(store: str, look: CachedState[bool]) -> StoreHealth:
    problem = look.error
    if look.asking_s is not None and (look.asking_s >= WAIT_S or look.value is None):
        problem = f"no answer for {look.asking_s:.1f} s"
    return StoreHealth(
        store=store,
        reachable=problem is None and look.value is True,
        took_s=look.took_s,
        problem=problem,
    )


LANDING_EVERY_S = 2.0
TOTALS_EVERY_S = 5.0
CARE_EVERY_S = 10.0


class Views:
    """Cached views of a pair of stores, of the crawls that readers may know of.

    Safe for several threads.
    """

    def __init__(
        self, rows: RowStore, archive: ArchiveReader, *, shows_crawl: ShowsCrawl = shows_all
    ) -> None:
        actor = Actor()
        landing = LandingView(rows, actor.now_ms, actor.is_gone, shows_crawl)
        self._landing = Recent(landing.read, every_s=LANDING_EVERY_S)
        totals = TotalsView(rows, time.monotonic, shows_crawl)
        self._totals = Recent(lambda: totals.read(self._busy()), every_s=TOTALS_EVERY_S)
        care = CareView(rows, actor.now_ms, actor.is_gone)
        beside = LandingView(rows, actor.now_ms, actor.is_gone, shows_crawl)
        self._care = Recent(lambda: care.read(beside.read()), every_s=CARE_EVERY_S)
        self._health = Health(rows, archive)

    def _busy(self) -> set[str]:
        landing = self._landing.look().value
        return landing.busy_crawls() if landing is not None else set()

    def health(self) -> list[StoreHealth]:
        """Health of the stores.  Takes some seconds at most, as all of these."""
        return self._health.check()

    def landing(self) -> CachedState[Landing]:
        """What is landing."""
        return self._landing.look(WAIT_S)

    def totals(self) -> CachedState[Mapping[str, CrawlTotals]]:
        """What has landed, by crawl."""
        return self._totals.look(WAIT_S)

    def care(self) -> CachedState[Care]:
        """What is at work, and when the store was last checked and backed up."""
        return self._care.look(WAIT_S)

    def close(self, wait_s: float = 5.0) -> bool:
        """Stop reading; return whether no read is running, so that stores may be closed."""
        closers = (self._landing.close, self._totals.close, self._care.close, self._health.close)
        idle = [close(wait_s) for close in closers]
        return all(idle)
