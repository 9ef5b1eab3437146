"""Many files of a store, each changed by the same work of one act.

    files ─▶ batch, as large as there is room for ─▶ of each file: claimed ─▶ work ─▶ released

The work is what an act does with one file whose claim is held.  It is done in this process, in
others, or after tasks of a job have written the file (`waves`).  A problem of one file is its
result, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Protocol, TypeVar

from pinakes.catalog.file_rows import Held
from pinakes.errors import ONE_FILE_ONLY, Busy, PinakesError
from pinakes.warc.file_progress import Advance, FileProgress

from .act import Act

_PASSES = 5
"""Over a file that is rewritten: read for it, and compared, listed and moved."""


class FileTask(Protocol):
    """A file to be changed."""

    @property
    def archive_file(self) -> str: ...
    @property
    def size(self) -> int:
        """How far it advances the act, in bytes."""
        ...

    @property
    def takes_bytes(self) -> int:
        """What is written for it, about."""
        ...


Task = TypeVar("Task", bound=FileTask)
Report = TypeVar("Report")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult(Generic[Report]):
    """What became of a file: a report, or why it stays as it is.

    `is_lost`: another process took its claim over while it was changed.  The act has to be left
    unfinished then: the next one completes the file, or takes back what was published of it.
    """

    archive_file: str
    report: Report | PinakesError
    is_lost: bool = False


class AsItIs(Exception, Generic[Report]):
    """Raised by a check: the file stays in its generation; `report` says why."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report


def change_file(act: Act, archive_file: str, work: Callable[[Held], Report]) -> FileResult[Report]:
    """Do the work with a file under its claim, which is released, and say what became of it.

    The work raises what is in `ONE_FILE_ONLY`, or AsItIs.
    """
    held = None
    try:
        with act.claimed(archive_file) as held:
            try:
                report = work(held)
            except AsItIs as end:
                report = end.report
    except ONE_FILE_ONLY as problem:
        is_lost = held is not None and isinstance(problem, Busy)
        return FileResult(archive_file=archive_file, report=problem, is_lost=is_lost)
    return FileResult(archive_file=archive_file, report=report)


def rewrite_file(
    act: Act,
    task: Task,
    work: Callable[[Held, Task, FileProgress], Report],
    advance: Advance,
) -> FileResult[Report]:
    """As `change_file`, with progress; it keeps the act's lease, which a large file may outlast."""

    def kept(count: int) -> None:
        act.keep()
        advance(count)

    with FileProgress(kept, task.size, passes=_PASSES) as done:
        return change_file(act, task.archive_file, lambda held: work(held, task, done))


def iter_batches(files: Iterable[Task], holds: Callable[[int], bool]) -> Iterator[Iterator[Task]]:
    """The files in batches, each of one file, or of as many as `holds` together.

    Each has to be drawn to its end, and done, before the next one: between two of them nothing is
    being written.
    """
    number = total = 0

    def number_of(file: Task) -> int:
        nonlocal number, total
        if total and not holds(total + file.takes_bytes):
            number, total = number + 1, 0
        total += file.takes_bytes
        return number

    for _, batch in groupby(files, key=number_of):
        yield batch
