"""Who lands the files of an ingest: this process, or several; and how one lands.

In bulk, files are shown batch by batch, their rows loaded at once.  The process that publishes,
this one or another, does so with claims of this process, which keeps them until the load.

    workers ─▶ published, rows in the spool ─▶ BulkWorkers ─▶ loaded, finished, answered
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pinakes.acts.actor import Actor
from pinakes.errors import PinakesError
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.ingest.attempts import Attempt, Landings
from pinakes.ingest.bulk_landing import BulkLanding, Loader
from pinakes.ingest.bulk_loads import HBaseLoads, spool_folder, spool_place
from pinakes.ingest.copying import direct_writer
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander, Published
from pinakes.ingest.overlapped import overlapped_file, overlapped_rows
from pinakes.ingest.row_spool import RowSpool
from pinakes.ingest.tally import ARCHIVE_RETRIES
from pinakes.profile import Stores
from pinakes.row_store.bulk_text import BulkTable, load_by_puts
from pinakes.warc.file_progress import Advance
from pinakes.workers import Died, Workers

from .events import Notice
from .landing_loop import Answered, IngestEvent, LandingWorkers
from .landing_plan import IngestPlan, IngestRequest
from .parts import rarely_collecting


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRows:
    """Where rows wait, and for whom: `worker` is another actor of the same process."""

    actor: Actor
    place: Path

    @property
    def rows(self) -> RowSpool:
        """What takes the rows of a landing."""
        return RowSpool(self.place)

    def worker(self) -> Actor:
        """An actor of another process, whose claims are gone when this one is."""
        return self.actor.beside()


def spool_of(actor: Actor, temp_dir: Path | None) -> WaitingRows:
    """The spool of this process; made by `bulk_workers`."""
    return WaitingRows(actor=actor, place=spool_place(actor, temp_dir))


@contextmanager
def bulk_workers(
    workers: LandingWorkers,
    stores: Stores,
    spool: WaitingRows,
    *,
    crawl: str,
    batch_bytes: int,
    on_event: Callable[[IngestEvent], None],
) -> Iterator[BulkWorkers]:
    """Workers that have `workers` publish files, and finish them in batches."""
    load = _loader(stores, spool.actor, on_event)
    with spool_folder(spool.actor, stores.space.folder):
        lander = Lander(stores.rows, stores.archive, spool.actor)

        def landing(
            done: Callable[[Landed], None], missed: Callable[[PinakesError], None]
        ) -> BulkLanding:
            return BulkLanding(
                lander,
                spool.actor,
                spool.rows,
                load,
                done=done,
                missed=missed,
                batch_bytes=batch_bytes,
            )

        yield BulkWorkers(workers, landing, crawl)


Answers = list[tuple[Attempt, Answered | Died]]


class BulkWorkers:
    """Answers for a file when its batch is loaded: when it is full, or nothing else is to do."""

    def __init__(
        self,
        workers: LandingWorkers,
        landing: Callable[[Callable[[Landed], None], Callable[[PinakesError], None]], BulkLanding],
        crawl: str,
    ) -> None:
        self._workers = workers
        self._crawl = crawl
        self._landing = landing(self._answer, self._miss)
        self._published: dict[str, tuple[Attempt, dict[str, int]]] = {}
        self._done: Answers = []

    @property
    def under_way(self) -> int:
        return self._workers.under_way + self._landing.waiting + len(self._done)

    @property
    def has_room(self) -> bool:
        return self._workers.has_room

    def give(self, attempt: Attempt, /) -> None:
        """Have a file published.  Of two of one name the first is finished before."""
        if archive_file(self._crawl, attempt.item.name) in self._published:
            self._landing.flush()
        self._workers.give(attempt)

    def answers(self, timeout_s: float | None = None) -> Answers:
        """What is finished since.  Loads what waits where there is time and nothing to do."""
        idle = not self._workers.under_way
        for attempt, answer in self._workers.answers(timeout_s):
            if isinstance(answer, Answered) and isinstance(answer.outcome, Published):
                published = answer.outcome
                self._published[published.held.archive_file] = (attempt, answer.counts)
                self._landing.take(published)
            else:
                self._done.append((attempt, answer))
        if idle and timeout_s != 0:
            self._landing.flush()
        done, self._done = self._done, []
        return done

    def advanced(self) -> int:
        return self._workers.advanced()

    def _answer(self, landed: Landed) -> None:
        attempt, counts = self._published.pop(landed.archive_file)
        self._done.append((attempt, Answered(landed, counts)))

    def _miss(self, problem: PinakesError) -> None:
        attempt, counts = self._published.pop(problem.file or "")
        self._done.append((attempt, Answered(problem, counts)))


def _loader(stores: Stores, actor: Actor, on_event: Callable[[IngestEvent], None]) -> Loader:
    if stores.bulk_loading is None:
        return lambda parts, meanwhile: load_by_puts(stores.rows, parts, meanwhile)

    def on_line(line: str) -> None:
        on_event(Notice(line, level="detail"))

    loads = HBaseLoads(stores.bulk_loading(), actor, on_line=on_line)
    # Before anything is landed: so a command that is not there is known at once.
    for name in loads.remove_left():
        on_event(Notice(f"removed leftovers of a load that died: {name}"))

    def load(parts: Mapping[BulkTable, Sequence[Path]], meanwhile: Callable[[], None]) -> None:
        size = sum(file.stat().st_size for files in parts.values() for file in files)
        on_event(Notice(f"loading {size:,} bytes of rows"))
        loads(parts, meanwhile)

    return load


Reopen = Callable[[], AbstractContextManager[Stores]]


class Landers(NamedTuple):
    """Who lands files: this process, as `actor`, or several others; in bulk, by a spool."""

    actor: Actor
    spool: WaitingRows | None
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

    `is_forked`: no store is open here yet, so that they need not start Python again.
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
    stores: Stores, actor: Actor, *, accepts_damaged: bool, spool: WaitingRows | None = None
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
    spool: WaitingRows | None,
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
    spool: WaitingRows | None,
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
