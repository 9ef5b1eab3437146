"""What acts that take long report while they go on, besides what they have done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from pinakes.errors import PinakesError
from pinakes.ingest.inputs import LeftOut
from pinakes.warc.file_progress import Advance

Level = Literal["detail", "info", "warning"]
OnProblem = Callable[[PinakesError], None]
Begin = Callable[[], Advance]
"""Begins to show how far it is, at its first call; gives what is called with the bytes done.

Processes are begun before that: what is shown may have a thread, which a fork would lose.
"""
UNFINISHED = "still being written; skipped"


class Notice(NamedTuple):
    """Something that people may want to know now; a detail, only if they ask for all of it."""

    text: str
    level: Level = "info"


class Skipped(NamedTuple):
    """A file that is left for later, and why; of one `kind` the first ones are enough."""

    place: str
    why: str
    kind: str | None = None


class Others(NamedTuple):
    """Files in folders that are not read: their number, and the first of them."""

    left: LeftOut


def notices_of(left: LeftOut) -> list[Skipped | Others]:
    """What is reported of files that are left out; those that are refused are errors."""
    notices: list[Skipped | Others] = [Skipped(place, UNFINISHED) for place in left.unfinished]
    return [*notices, Others(left)] if left.others else notices
