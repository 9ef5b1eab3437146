"""Who lands the files of an ingest: this process, or several; and how one lands."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pinakes.acts.actor import Actor
from pinakes.ingest.attempts import Attempt, Landings
from pinakes.ingest.copying import direct_writer
from pinakes.ingest.landing import Lander
from pinakes.ingest.overlapped import overlapped_file, overlapped_rows
from pinakes.ingest.tally import ARCHIVE_RETRIES
from pinakes.profile import Stores
from pinakes.warc.file_progress import Advance
from pinakes.workers import Workers

from .bulk_crew import Spool, spool_of
from .landing_loop import Answered
from .landing_plan import IngestPlan, IngestRequest

# A landing makes a hundred objects a record and no cycles: looking for those cost 4%.
_GC_THRESHOLD = 100_000


Reopen = Callable[[], AbstractContextManager[Stores]]


class Landers(NamedTuple):
    """Who lands files: this process, as `actor`, or several others; in bulk, by a spool."""

    actor: Actor
    spool: Spool | None
    processes: Workers[Attempt, Answered] | None


@contextmanager
def landers_for(
    request: IngestRequest,
    plan: IngestPlan,
    reopen: Reopen,
    temp_dir: Path | None,
    *,
    is_forked: bool = True,
) -> Iterator[Landers]:
    """The processes that are asked for, which open stores of their own by `reopen`.

    `is_forked`: no store is open here yet, so that they need not be begun as Python anew.
    """
    actor = Actor()
    spool = spool_of(actor, temp_dir) if request.bulk_bytes is not None else None
    watches = request.settle_s is not None
    jobs = request.jobs if watches else min(request.jobs, len(plan.inputs))
    if jobs < 2:
        yield Landers(actor, spool, None)
        return
    work = partial(_landing_worker, reopen, partial(landings_of, request, plan.crawl, spool), spool)
    with Workers(jobs, work, is_forked=is_forked) as processes:
        yield Landers(actor, spool, processes)


def lander_of(
    stores: Stores, actor: Actor, *, accepts_damaged: bool, spool: Spool | None = None
) -> Lander:
    """How files land: with servers to wait for, puts and writes go on behind the parser."""
    sinks = overlapped_rows(stores.rows) if stores.are_remote else None
    return Lander(
        stores.rows,
        stores.archive,
        actor,
        sinks=spool.rows.sink if spool is not None else sinks,
        writers=overlapped_file if stores.are_remote else direct_writer,
        accepts_damaged=accepts_damaged,
    )


def landings_of(
    request: IngestRequest,
    crawl: str,
    spool: Spool | None,
    stores: Stores,
    actor: Actor,
    advance: Advance,
) -> Landings:
    """How each file of a request lands, by this process."""
    return Landings(
        lander_of(stores, actor, accepts_damaged=request.accepts_damaged, spool=spool),
        crawl,
        request.collection,
        in_bulk=spool is not None,
        on_retry=stores.tally.counting(ARCHIVE_RETRIES),
        advance=advance,
    )


LandHere = Callable[[Stores, Actor, Advance], Landings]


@contextmanager
def _landing_worker(
    reopen: Reopen,
    land_here: LandHere,
    spool: Spool | None,
    advance: Advance,
) -> Iterator[Callable[[Attempt], Answered]]:
    actor = Actor() if spool is None else spool.worker()
    with rarely_collecting(), reopen() as stores:
        landings = land_here(stores, actor, advance)

        def attempt(given: Attempt) -> Answered:
            before = Counter(stores.tally.counts())
            outcome = landings.attempt(given)
            return Answered(outcome, dict(Counter(stores.tally.counts()) - before))

        yield attempt


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Have Python look for cycles less often."""
    before = gc.get_threshold()
    gc.set_threshold(_GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
