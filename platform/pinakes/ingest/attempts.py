"""One attempt at landing one file: values that other processes can take and return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.anew import write_anew
from pinakes.errors import (
    Conflict,
    DigestMismatch,
    InputRefused,
    PinakesError,
)
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.warc.file_progress import Advance, FileProgress, no_advance

from .hooks import refuse_wacz
from .inputs import Input
from .landed import Landed
from .landing import Lander, Published
from .watch import is_complete


class Attempt(NamedTuple):
    """A file to land; with `if_complete`, only if its last record is whole."""

    item: Input
    if_complete: bool = False


class Left(NamedTuple):
    """Why a file was skipped."""

    why: str


Outcome = Landed | Published | Left | PinakesError


@dataclass(frozen=True, slots=True)
class Landings:
    """Lands files: `attempt` lands one, and reports that file's errors instead of raising them.

    In bulk a file is published here and finished elsewhere.  A file whose copy was lost while
    it was written (a data node died) is started again; `on_retry` is called before.
    """

    lander: Lander
    crawl: str
    collection: str
    in_bulk: bool = False
    on_retry: Callable[[], None] = lambda: None
    advance: Advance = no_advance
    """Called with how many more bytes of a file are done."""

    def attempt(self, attempt: Attempt) -> Outcome:
        """The outcome.  Raises errors that concern all files: StoreUnavailable, SchemaError."""
        path, name = attempt.item
        try:
            refuse_wacz(attempt.item)
            if attempt.if_complete and (why := _why_not(path)) is not None:
                return Left(why)
            land = self.lander.publish if self.in_bulk else self.lander.land
            with FileProgress(self.advance, _size_of(path)) as done:
                return write_anew(
                    lambda: land(
                        path, archive_file(self.crawl, name), self.collection, done.reached
                    ),
                    str(path),
                    on_retry=self.on_retry,
                )
        except (InputRefused, Conflict, DigestMismatch) as problem:
            return problem


def _size_of(path: Path) -> int:
    """0 where it cannot be asked for: landing says why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _why_not(path: Path) -> str | None:
    """Why a file that no longer changes is skipped for now.  Reads all of it."""
    try:
        complete = is_complete(path)
    except InputRefused as problem:
        return problem.message
    return None if complete else "its last record is incomplete; skipped until it changes"
