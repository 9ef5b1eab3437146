"""The files of a run that are rewritten together, as long as there is room for what they become.

    decided ─▶ worth while? ─▶ Batch, Batch, …

Between two batches nothing is being written, so that old generations may be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from pinakes.catalog.file_rows import read_entry, release_claim
from pinakes.errors import InputRefused
from pinakes.index.manifest import ManifestLine

from .decided_records import Pair
from .file_choice import choose_file
from .rewriting_run import RewritingRun
from .run_report import WANTS_ROOM, DedupeReport

FilePairs = tuple[str, list[Pair]]


class FileTask(NamedTuple):
    """A file to be rewritten."""

    archive_file: str
    pairs: list[Pair]
    """Its duplicates, as they were decided on."""
    lines: list[ManifestLine]
    """The same, each original where it lies now."""
    size: int
    """How far it advances the run."""


class _Chosen(NamedTuple):
    """A file that is worth while, its duplicates, and what it will take, about, in bytes."""

    name: str
    pairs: list[Pair]
    size: int


class Batch:
    """Files for which there is room together."""

    def __init__(
        self,
        first: _Chosen,
        rest: Iterator[_Chosen],
        holds: Callable[[int], bool],
        relocate: Callable[[list[Pair]], list[ManifestLine]],
        size_of: Callable[[str], int],
    ) -> None:
        self.sizes: dict[str, int] = {}
        """What each file of it takes, about, in bytes; complete when `tasks` have been drawn."""
        self.next: _Chosen | None = first
        """The first file that is not of it; None where there is none."""
        self._rest = rest
        self._holds = holds
        self._relocate = relocate
        self._size_of = size_of

    def tasks(self) -> Iterator[FileTask]:
        """Its files."""
        total = 0
        while self.next is not None:
            name, pairs, size = self.next
            if self.sizes and not self._holds(total + size):
                return
            self.sizes[name] = size
            total += size
            yield FileTask(name, pairs, self._relocate(pairs), self._size_of(name))
            self.next = next(self._rest, None)


def iter_batches(
    run: RewritingRun,
    by_file: Iterable[FilePairs],
    report: DedupeReport,
    *,
    done: Container[str] = (),
    batch_bytes: int | None = None,
) -> Iterator[Batch]:
    """The files of a run, but those of `done`; why others are left is counted in the report.

    The tasks of a batch have to be drawn to their end, and done, before the next one.
    """

    def holds(size: int) -> bool:
        return (batch_bytes is None or size <= batch_bytes) and run.room.holds(size)

    worthwhile = _worthwhile(run, by_file, report, done)
    waiting = next(worthwhile, None)
    while waiting is not None:
        if run.room.make(waiting.size):
            batch = Batch(waiting, worthwhile, holds, run.relocate, run.size_of)
            yield batch
            waiting = batch.next
        else:
            report.files_left[WANTS_ROOM] += 1
            run.advance(run.size_of(waiting.name))
            waiting = next(worthwhile, None)


def _worthwhile(
    run: RewritingRun, by_file: Iterable[FilePairs], report: DedupeReport, done: Container[str]
) -> Iterator[_Chosen]:
    for name, pairs in by_file:
        if name in done:
            continue
        chosen = _choose(run, name, pairs, report)
        if chosen is not None:
            yield chosen
        else:
            run.advance(run.size_of(name))


def _choose(
    run: RewritingRun, name: str, pairs: list[Pair], report: DedupeReport
) -> _Chosen | None:
    """The file, if it is worth while and not done; else it is counted in the report."""
    if name in run.moved:
        # This run died after the file's move: it has been done, and may still be claimed.
        release_claim(run.act.rows, run.act.claim(name))
        report.files_left["done already"] += 1
        return None
    entry = read_entry(run.act.rows, name)
    try:
        why_not, size = choose_file(run, entry, pairs)
    except InputRefused as problem:
        report.leave("failed", problem)
        return None
    if why_not is not None:
        report.files_left[why_not] += 1
        return None
    return _Chosen(name, pairs, size)
