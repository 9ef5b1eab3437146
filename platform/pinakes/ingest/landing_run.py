"""An ingest as a run in the catalogue, so that others can see its progress.

    runs: ingest-20260101T000000.000-1a2b3c4d   f:facts      what was asked for, by which version
                                                l:state      running, then done, failed or stopped
                                                l:progress   its tally, every few seconds

What has landed is known from the crawl; refused files, retries and rates only from the process
that lands.  A run that dies stays `running`, without further reports.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from pinakes.acts.actor import Actor
from pinakes.catalog.run_rows import (
    DONE,
    FAILED,
    STOPPED,
    put_run,
    set_run_progress,
    set_run_state,
)
from pinakes.errors import DigestMismatch, PinakesError, StoreUnavailable
from pinakes.hbase_schema.run_cells import RunFacts, RunProgress, RunState
from pinakes.row_store.port import RowStore

from . import tally as counted
from .landed import Landed
from .tally import Tally

REPORT_EVERY_S = 5.0


class LandingRun:
    """Reports the progress of one ingest: a context manager.  Safe for several threads.

    Costs one put at the start, one at the end, and one every `REPORT_EVERY_S`.
    """

    def __init__(
        self,
        rows: RowStore,
        actor: Actor,
        tally: Tally,
        *,
        run: str,
        facts: RunFacts,
        crawl: str | None,
        also: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`also` is called at each report; `crawl` may be set again."""
        self._rows = rows
        self._actor = actor
        self._tally = tally
        self._run = run
        self._facts = facts
        self.crawl = crawl
        self._also = also
        self._clock = clock
        self._reported_s = clock()
        self._trouble: str | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> LandingRun:
        put_run(self._rows, self._run, self._facts)
        self._report()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, StoreUnavailable):
            return  # it would not accept this either, after retries for minutes
        if isinstance(error, PinakesError):
            self._trouble = str(error)
        stopped = error is not None and not isinstance(error, Exception)
        state = DONE if error is None else STOPPED if stopped else FAILED
        self._report()
        set_run_state(self._rows, self._run, RunState(state=state, message=self._trouble))

    def landed(self, landed: Landed) -> None:
        """Count a file that has landed."""
        if landed.was_there:
            self._tally.add(counted.KNOWN)
        else:
            self._tally.add(counted.FILES)
            self._tally.add(counted.RECORDS, sum(landed.records.values()))
            self._tally.add(counted.BYTES, landed.size)
            self._tally.add(counted.CAPTURES, landed.captures)
            self._tally.add(counted.DAMAGED, landed.damaged)
        self.beat()

    def missed(self, problem: PinakesError) -> None:
        """Count a file that has not landed, by its reason."""
        mismatch = isinstance(problem, DigestMismatch)
        self._tally.add(counted.FAILED if mismatch else counted.REFUSED)
        if mismatch:
            self._tally.add(counted.MISMATCHES)
        self._trouble = str(problem)
        self.beat()

    def beat(self) -> None:
        """Report if the last report is some seconds old."""
        with self._lock:
            due = self._clock() - self._reported_s >= REPORT_EVERY_S
            if due:
                self._reported_s = self._clock()
        if due:
            self._report()

    def _report(self) -> None:
        progress = RunProgress(
            owner=self._actor.owner,
            at_ms=self._actor.now_ms(),
            crawl=self.crawl,
            counts={name: count for name, count in self._tally.counts().items() if count},
            trouble=self._trouble,
        )
        self._also()
        set_run_progress(self._rows, self._run, progress)
