"""What the rewriting of a run's files works with, wherever the bytes are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.acts.act import Act
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.warc.file_progress import Advance, no_advance

from .decided_records import Pair
from .run_report import DedupeReport, DedupeRequest
from .waves import Room

_ROWS = 1000


class Committed(NamedTuple):
    """What became of a file; `why_not` says why it is left as it is, if it is."""

    archive_file: str
    why_not: str | None = None
    problem: PinakesError | None = None
    size: int = 0
    """What was written, in bytes."""
    refs: RefsCount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingRun:
    """One run, and how far it is.

    `moved` are the files that are not
    current any more as they were decided on.  `size_of(archive_file)` is how far a file that is
    done, or left as it is, advances the run.
    """

    act: Act
    request: DedupeRequest
    moved: set[str]
    room: Room
    size_of: Callable[[str], int] = lambda archive_file: 0
    advance: Advance = no_advance

    def note(self, committed: Committed, report: DedupeReport) -> None:
        """Note what became of a file; one that is rewritten has moved, and takes its room."""
        if committed.refs is not None and committed.why_not is None:
            self.moved.add(committed.archive_file)
            self.room.take(committed.size)
            report.add_file(committed.size, committed.refs)
            return
        if committed.refs is not None:
            report.refs.add(committed.refs)
        if committed.problem is not None:
            report.leave(committed.why_not or "failed", committed.problem)
        elif committed.why_not is not None:
            report.files_left[committed.why_not] += 1

    def relocate(self, pairs: list[Pair]) -> list[ManifestLine]:
        """The lines, with each original where it lies now: its old place may be dropped.

        One that was moved is named by its stored file, and not by its identity.
        """
        keys = sorted({key for line, key in pairs if line.original_file in self.moved})
        places: dict[bytes, Placed] = {}
        for start in range(0, len(keys), _ROWS):
            found = get_captures(self.act.rows, keys[start : start + _ROWS]).values()
            for placed in place_captures(self.act.rows, found):
                places[placed.capture.key] = placed
        return [_at_place(line, places.get(key)) for line, key in pairs]


def _at_place(line: ManifestLine, placed: Placed | None) -> ManifestLine:
    if placed is None:
        return line
    return line._replace(
        original_file=placed.file,
        original_offset=placed.location.offset,
        original_length=placed.location.length,
        original_inner_offset=placed.location.inner_offset,
    )
