"""Whether rows and files of a store agree, and mending where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pinakes.acts.actor import Actor
from pinakes.errors import Conflict, InputRefused, PinakesError
from pinakes.ingest.fsck.check import Fsck
from pinakes.profile import Stores


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

    `quick` reads no archive file, `full` every record; else a sample by `seed` is read.
    """
    fsck = Fsck(stores.rows, stores.archive, Actor(), quick=quick, full=full, seed=seed)
    for found in fsck.findings():
        mended, undo, problem = False, None, None
        if repair and found.mend is not None:
            try:
                undo = found.mend()
                mended = True
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
