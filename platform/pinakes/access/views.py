"""Everything that is shown of the stores, each part cached for a suitable time."""

from __future__ import annotations

import time
from collections.abc import Mapping

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_counts import CrawlTotals
from pinakes.row_store.port import RowStore

from .health import Health, StoreHealth
from .landing_view import Landing, LandingView, ShowsCrawl, TotalsView, shows_all
from .recent import Look, Recent

LANDING_EVERY_S = 2.0
TOTALS_EVERY_S = 5.0
WAIT_S = 2.0


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
        self._health = Health(rows, archive)

    def _busy(self) -> set[str]:
        landing = self._landing.look().value
        return landing.busy_crawls() if landing is not None else set()

    def health(self) -> list[StoreHealth]:
        """Health of the stores.  Takes some seconds at most, as all of these."""
        return self._health.check()

    def landing(self) -> Look[Landing]:
        """What is landing."""
        return self._landing.look(WAIT_S)

    def totals(self) -> Look[Mapping[str, CrawlTotals]]:
        """What has landed, by crawl."""
        return self._totals.look(WAIT_S)

    def close(self, wait_s: float = 5.0) -> bool:
        """Stop reading; return whether no read is running, so that stores may be closed."""
        closers = (self._landing.close, self._totals.close, self._health.close)
        idle = [close(wait_s) for close in closers]
        return all(idle)
