"""Landing archive files in a crawl, in this process or in several, once or by watching folders.

plan_ingest ─▶ what lands, and what is refused
ingest ─▶ the crawl's row ─▶ the run's row ─▶ each file: landed, was there, refused, left
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

from pinakes import SOFTWARE
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.hbase_schema.run_cells import CrawlFacts, RunFacts
from pinakes.ingest.hooks import hand_over
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.ingest.landing import VERB
from pinakes.ingest.landing_run import LandingRun
from pinakes.ingest.watch import Seen, look_at
from pinakes.profile import Stores
from pinakes.warc.file_progress import Advance, no_advance

from .landers import Landers, bulk_workers, landers_for, landings_of
from .landing_loop import IngestEvent, IngestLoop, IngestRun, InThisProcess, LandingWorkers
from .landing_plan import IngestPlan, IngestRequest
from .parts import rarely_collecting


class Watched(NamedTuple):
    """What an ingest calls: with what happens, with bytes that are done, at each report in rows."""

    on_event: Callable[[IngestEvent], None] = lambda event: None
    advance: Advance = no_advance
    on_report: Callable[[], None] = lambda: None


UNWATCHED = Watched()


def ingest(
    stores: Stores,
    request: IngestRequest,
    plan: IngestPlan,
    watched: Watched = UNWATCHED,
    landers: Landers | None = None,
) -> IngestRun:
    """Land what is planned, or, while watching, every file that settles, until a signal raises.

    What was killed: the same call goes on, and each file lands once.

    Raises:
        StoreUnavailable: no row or file can be written; run it again.
        Conflict: the crawl is committed, or of another collection.
    """
    if landers is None:
        folder = stores.space.folder
        with landers_for(request, plan, stores.reopen, folder, is_forked=False) as begun:
            return ingest(stores, request, plan, watched, begun)
    watches = request.settle_s is not None
    actor, spool, processes = landers
    with rarely_collecting():
        run, now_ms = actor.new_act(VERB), actor.now_ms()
        facts = RunFacts(
            verb=VERB, act_time_ms=now_ms, software=SOFTWARE, collection=request.collection
        )
        begins = watches or any(isinstance(name, str) for _, name in plan.files())
        if begins:
            _begin_crawl(stores, request, plan, act=run, now_ms=now_ms)
        done = IngestRun(run=run, crawl=plan.crawl if begins else None)
        with (
            LandingRun(
                stores.rows,
                actor,
                stores.tally,
                run=run,
                facts=facts,
                crawl=done.crawl,
                also=watched.on_report,
            ) as landing_run,
            ExitStack() as at_end,
        ):
            alone = landings_of(request, plan.crawl, spool, stores, actor, watched.advance)
            workers: LandingWorkers = processes or InThisProcess(alone.attempt)
            if spool is not None and request.bulk_bytes is not None:
                bulk = bulk_workers(
                    workers,
                    stores,
                    spool,
                    crawl=plan.crawl,
                    on_event=watched.on_event,
                    batch_bytes=request.bulk_bytes,
                )
                workers = at_end.enter_context(bulk)
            loop = IngestLoop(
                workers, landing_run, stores.tally, watched.on_event, watched.advance, done=done
            )
            if request.settle_s is not None:
                loop.watch(lambda: _look(request, loop), request.settle_s)
            loop.note_left(plan.left)
            loop.land(plan.inputs)
        return done


def _begin_crawl(
    stores: Stores, request: IngestRequest, plan: IngestPlan, *, act: str, now_ms: int
) -> None:
    facts = CrawlFacts(
        collection=request.collection,
        source=request.hook or "files",
        description=plan.description,
    )
    # Any name will do: where the archive is away, nothing is put, and no empty crawl stays.
    stores.archive.size(act)
    ensure_crawl(stores.rows, plan.crawl, facts, act=act, act_time_ms=now_ms)


def _look(request: IngestRequest, loop: IngestLoop) -> Iterator[Seen]:
    """What is there now to be watched."""
    left = LeftOut()
    if request.hook:
        found = hand_over(request.hook, request.names)
        inputs, left = found.inputs, found.left
    else:
        inputs = list(iter_inputs(request.names, left, documents=True))
    loop.note_left(left)
    return look_at(inputs)
