"""What acts that take long tell while they go on, besides what they have done."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pinakes.ingest.inputs import LeftOut

Level = Literal["detail", "info", "warning"]


class Notice(NamedTuple):
    """Something that people may want to know now; a detail, only if they ask for all of it."""

    text: str
    level: Level = "info"


class Skipped(NamedTuple):
    """A file that is left for later, and why."""

    place: str
    why: str


class Others(NamedTuple):
    """Files in folders that nobody would read: their number, and the first of them."""

    left: LeftOut


def notices_of(left: LeftOut) -> list[Skipped | Others]:
    """What is told of files that are left out; those that are refused are errors."""
    told: list[Skipped | Others] = [Skipped(place, UNFINISHED) for place in left.unfinished]
    return [*told, Others(left)] if left.others else told


UNFINISHED = "still being written; skipped"
