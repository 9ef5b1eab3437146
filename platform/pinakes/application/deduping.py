"""Duplicates of a store, written as revisits; or a forecast of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.unknown_files import require_collection_known
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.old_generations import DroppedGeneration
from pinakes.dedupe.run.plan import Plan, plan_dedupe
from pinakes.dedupe.run.run_report import UNWATCHED, DedupeProgress, DedupeReport, DedupeRequest
from pinakes.dedupe.run.store_run import CollectionRuns
from pinakes.dedupe.run.tasks import HERE, Executors
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.profile import Stores

from .dedupe_workers import executors
from .generations import old_generations


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeRun:
    """What one run of `Store.dedupe` did.

    `left_full` counts duplicates that stayed full, by reason; `dropped` are the old generations
    that were deleted; `problems` are files, bodies and records that took no part, or stayed as they
    are, and that a person must look at.
    """

    run: str
    files: int
    revisits: int
    saved_bytes: int
    left_full: Mapping[str, int]
    dropped: tuple[str, ...]
    problems: tuple[PinakesError, ...]


def settled(stores: Stores, request: DedupeRequest) -> DedupeRequest:
    """The request with the collection of its crawl.  Raises as `require_crawl`."""
    if request.crawl is None:
        return request
    facts = require_crawl(stores.rows, request.crawl).facts
    return replace(request, collection=facts.collection)


def dedupe_runs(
    stores: Stores,
    request: DedupeRequest,
    *,
    grace_ms: int | None,
    on_dropped: Callable[[DroppedGeneration], None],
    executors: Executors = HERE,
    watched: Callable[[], AbstractContextManager[DedupeProgress]] = lambda: nullcontext(UNWATCHED),
    on_resumed: Callable[[str], None] = lambda run: None,
) -> Iterator[DedupeReport]:
    """The run that died, if one did, and the one that is asked for; a report of each.

    Generations that were replaced for `grace_ms` are dropped, and reported; None: none.  The rest,
    and what it raises, are as of `CollectionRuns`.
    """
    actor = Actor()
    old = None
    if grace_ms is not None:
        old = old_generations(stores, actor, grace_ms, on_dropped)
    runs = CollectionRuns(
        rows=stores.rows,
        archive=stores.archive,
        runs_folder=stores.runs_folder,
        actor=actor,
        software=SOFTWARE,
        executors=executors,
        old=old,
        watched=watched,
        on_resumed=on_resumed,
    )
    yield from runs.dedupe(request)


def dedupe(
    stores: Stores,
    request: DedupeRequest,
    *,
    grace_ms: int | None,
    jobs: int,
    watched: Callable[[], AbstractContextManager[DedupeProgress]],
) -> list[DedupeRun]:
    """What each of `dedupe_runs` did, in this process or several."""
    dropped: list[str] = []
    done = []
    with executors(jobs, stores.reopen, is_forked=False) as workers:
        for report in dedupe_runs(
            stores,
            request,
            grace_ms=grace_ms,
            on_dropped=lambda one: dropped.append(one.name),
            executors=workers,
            watched=watched,
        ):
            done.append(
                DedupeRun(
                    run=report.run,
                    files=report.files,
                    revisits=report.refs.records,
                    saved_bytes=report.refs.saved_bytes,
                    left_full=dict(report.refs.left_full),
                    dropped=tuple(dropped),
                    problems=tuple(report.all_problems),
                )
            )
            dropped.clear()
    return done


def forecast(
    stores: Stores,
    request: DedupeRequest,
    *,
    fraction: float = 1.0,
    decided_on: Callable[[ManifestLine], None] | None = None,
) -> Plan:
    """What a run would do, from this part of the contents; `decided_on` as in `plan_dedupe`.

    Raises:
        DigestMismatch: all crawls are asked for, and the catalogue has lost some.
    """
    require_collection_known(stores.rows, stores.archive, request.collection, crawl=request.crawl)
    return plan_of(stores, request, fraction=fraction, decided_on=decided_on)


def plan_of(
    stores: Stores,
    request: DedupeRequest,
    *,
    fraction: float = 1.0,
    decided_on: Callable[[ManifestLine], None] | None = None,
) -> Plan:
    """The same of crawls that the catalogue knows, even where it has lost others."""
    collection = Collection(
        stores.rows, stores.archive, request.collection, policies=request.dedupe_policies
    )
    return plan_dedupe(collection, request, fraction=fraction, decided_on=decided_on)
