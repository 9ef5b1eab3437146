"""What is written of each of many files by several processes, given out in the order of files."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from pinakes.archive_store.located import size_at
from pinakes.ending import end_with_parent
from pinakes.errors import PinakesError, StoreUnavailable
from pinakes.warc.file_progress import Advance
from pinakes.workers import Died, Workers, in_order

from .events import Begin, OnProblem

Write = Callable[[str, BinaryIO, OnProblem, Advance], None]
"""Writes what there is to write of a file."""
_Task = tuple[int, str, Path]
_Part = tuple[Path, list[PinakesError]]
_WAIT_S = 0.5


def iter_parts(
    files: Sequence[str], write: Write, *, processes: int, folder: Path | None, begin: Begin
) -> Iterator[_Part]:
    """For each file what was written of it, a file that goes at the next, and what was wrong.

    `write` can be pickled; `folder` is for these files, None the system's.  The largest files are
    begun first, so that no process is left alone with one at the end.

    Raises:
        StoreUnavailable: a process has died.
    """
    order = sorted(range(len(files)), key=lambda number: (-(size_at(files[number]) or 0), number))
    with (
        TemporaryDirectory(prefix="pinakes-", dir=folder) as parts,
        Workers[_Task, _Part](
            min(processes, len(files)), partial(_writing, write, os.getpid())
        ) as workers,
    ):
        advance = begin()

        def report() -> None:
            advance(workers.advanced())

        tasks = [(number, files[number], Path(parts, str(number))) for number in order]
        answers = workers.answered(tasks, timeout_s=_WAIT_S, wait=report)
        for part, problems in in_order((task[0], _done(answer)) for task, answer in answers):
            yield part, problems
            part.unlink()
        report()


def _done(answer: _Part | Died) -> _Part:
    if isinstance(answer, Died):
        raise StoreUnavailable(
            "a process ended early (killed, or out of memory): nothing was written; run again"
        )
    return answer


@contextmanager
def _writing(write: Write, parent: int, advance: Advance) -> Iterator[Callable[[_Task], _Part]]:
    def work(task: _Task) -> _Part:
        _, file, part = task
        problems: list[PinakesError] = []
        with part.open("wb") as out:
            write(file, out, problems.append, advance)
        return part, problems

    end_with_parent(parent)  # only the parent uses what it writes
    with rarely_collecting():
        yield work


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Have Python look for cycles rarely, where many objects are made and none are in cycles.

    A landing makes a hundred objects a record: looking for cycles cost 4%.  Each run walks all
    tuples that a sort holds: that took a third of its time.
    """
    before = gc.get_threshold()
    gc.set_threshold(1 << 19, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
