"""Whether archive files conform to ISO 28500, and a store has what it says it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.archive_store.located import package_at
from pinakes.catalog.run_rows import DONE, put_run, set_run_progress, set_run_state
from pinakes.conformance.check import ConformanceCheck, ConformanceFinding
from pinakes.errors import Conflict, InputRefused, PinakesError
from pinakes.hbase_schema.run_cells import RunFacts, RunProgress, RunState
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.quarantine import VERB as FSCK
from pinakes.profile import Stores
from pinakes.warc.file_progress import Advance

from .inputs import ArchiveInputs, GivenFiles, OnEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFinding:
    """Something that is not as it should be; `code` is one of docs/fsck.md.

    `repair` says what mending it would do, None where nothing can be done.  `mended`: it was
    done just now; then `undo` is the id by which it is undone, if anything was replaced.
    `problem` is why it could not be.
    """

    code: str
    file: str
    message: str
    repair: str | None
    mended: bool = False
    undo: str | None = None
    problem: PinakesError | None = None


def check_store(
    stores: Stores, *, quick: bool = False, full: bool = False, seed: int = 0, repair: bool = False
) -> Iterator[StoreFinding]:
    """Yield what is found; with `repair`, once it has been mended.

    `quick` reads no archive file, `full` every record; else a sample by `seed` is read.  A check
    that comes to its end is noted among the runs.
    """
    actor = Actor()
    run, begun_ms = actor.new_act(FSCK), actor.now_ms()
    counts = {"found": 0, "mended": 0}
    fsck = Fsck(stores.rows, stores.archive, actor, quick=quick, full=full, seed=seed)
    for found in fsck.findings():
        counts["found"] += 1
        mended, undo, problem = False, None, None
        if repair and found.mend is not None:
            try:
                undo = found.mend()
                mended = True
                counts["mended"] += 1
            except (Conflict, InputRefused) as error:
                problem = error
        yield StoreFinding(
            code=found.code,
            file=found.file,
            message=found.message,
            repair=found.repair,
            mended=mended,
            undo=undo,
            problem=problem,
        )
    options = {"quick": quick, "full": full, "repair": repair}
    facts = RunFacts(
        verb=FSCK,
        act_time_ms=begun_ms,
        software=SOFTWARE,
        arguments=tuple(name for name, is_given in options.items() if is_given),
    )
    put_run(stores.rows, run, facts)
    progress = RunProgress(owner=actor.owner, at_ms=actor.now_ms(), counts=counts)
    set_run_progress(stores.rows, run, progress)
    set_run_state(stores.rows, run, RunState(state=DONE))


def check_conformance(
    check: ConformanceCheck,
    inputs: ArchiveInputs,
    given: GivenFiles,
    on_event: OnEvent,
    advance: Advance,
) -> Iterator[Iterator[ConformanceFinding]]:
    """The findings of each package, of each file, and of references, in an iterator each.

    Each is drawn to its end before the next.  `on_event` gets what cannot be read.
    """
    for place in given.packages:
        yield _readable(_check_package(check, place), on_event)
    for name in given.names:
        yield _readable(_check_file(check, inputs, name, advance), on_event)
    # Originals may be read again, and be gone by now.
    yield _readable(check.check_references(), on_event)


def _check_package(check: ConformanceCheck, place: str) -> Iterator[ConformanceFinding]:
    with package_at(place) as package:
        yield from check.check_package(package, place)


def _check_file(
    check: ConformanceCheck, inputs: ArchiveInputs, name: str, advance: Advance
) -> Iterator[ConformanceFinding]:
    with inputs.opened(name) as source:
        yield from check.check_file(source, advance=advance)
        source.check_unchanged()


def _readable(
    findings: Iterator[ConformanceFinding], on_event: OnEvent
) -> Iterator[ConformanceFinding]:
    try:
        yield from findings
    except InputRefused as refusal:
        on_event(refusal)
