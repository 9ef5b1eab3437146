"""One attempt at landing one file: values that other processes can take and return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.archive_store.anew import write_anew
from pinakes.archive_store.located import size_at
from pinakes.errors import (
    Conflict,
    DigestMismatch,
    InputRefused,
    PinakesError,
)
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.warc.file_progress import Advance, FileProgress, no_advance

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
        place, name = attempt.item
        try:
            if attempt.if_complete and (why := _why_not(place)) is not None:
                return Left(why)
            land = self.lander.publish if self.in_bulk else self.lander.land
            with FileProgress(self.advance, size_at(place) or 0) as done:
                return write_anew(
                    lambda: land(
                        place, archive_file(self.crawl, name), self.collection, done.reached
                    ),
                    place,
                    on_retry=self.on_retry,
                )
        except (InputRefused, Conflict, DigestMismatch) as problem:
            return problem


def _why_not(place: str) -> str | None:
    """Why a file that no longer changes is skipped for now.  Reads all of it."""
    try:
        complete = is_complete(place)
    except InputRefused as problem:
        return problem.message
    return None if complete else "its last record is incomplete; skipped until it changes"
