"""Processes that do one task after another; one that is killed takes no more than its task along.

    with Workers(3, open_work) as workers:
        for task, answer in workers.answered(tasks): ...

They are forked when the block begins, so that they share nothing that is opened in it, and
open what they work with at their first task.  What ends one early is answered as `Died`;
another takes its place, which is not forked but begun as Python anew: by now stores are open
here, whose threads a fork would lose, and whose locks it would keep.  Where they are open before
the block, all are begun so.  So `open_work` can be pickled.  An error of the work itself ends all
of it: it is raised here.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from ctypes import c_int64
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import RawArray
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar

from pinakes.ending import leave_when_told
from pinakes.errors import PinakesError
from pinakes.warc.file_progress import Advance

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Open = Callable[[Advance], AbstractContextManager[Callable[[Task], Answer]]]
_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class SharedCount:
    """One of `SharedCounts`: an `Advance`, for one process at a time."""

    counts: Any
    number: int

    def __call__(self, count: int) -> None:
        self.counts[self.number] += count


class SharedCounts:
    """So many numbers, from 0.  A process has them by being forked, or given one at its start.

    Each is counted up by one process, without a lock and without a message; one that is killed
    leaves its number as it is.
    """

    def __init__(self, size: int) -> None:
        self._counts = RawArray(c_int64, size)
        self._reported = 0

    def of(self, number: int) -> SharedCount:
        """What counts up this number."""
        return SharedCount(self._counts, number)

    def counted(self) -> int:
        """How much was counted since this was asked last."""
        total = sum(self._counts)
        fresh, self._reported = total - self._reported, total
        return fresh


class Died(NamedTuple):
    """A process ended before it had answered; by this signal, where that is known."""

    signal_number: int | None


@dataclass(slots=True)
class _Worker(Generic[Task]):
    process: BaseProcess
    connection: Connection
    tasks: list[Task]
    """The one that it is at, if any."""
    number: int


class Workers(Generic[Task, Answer]):
    """So many processes.  `open_work` gives, in each, the function that does a task.

    It gets an `Advance` for this: what all of them have advanced, `advanced` tells here.
    `is_forked`: nothing is open here that a fork would break.
    """

    def __init__(
        self, count: int, open_work: Open[Task, Answer], *, is_forked: bool = True
    ) -> None:
        self._count = count
        self._first: ForkContext | SpawnContext = (
            multiprocessing.get_context("fork")
            if is_forked
            else multiprocessing.get_context("spawn")
        )
        self._open_work = open_work
        self._workers: list[_Worker[Task]] = []
        self._counts = SharedCounts(count)

    def __enter__(self) -> Workers[Task, Answer]:
        for number in range(self._count):
            self._start(self._first, number)
        return self

    def _start(self, context: ForkContext | SpawnContext, number: int) -> None:
        ours, theirs = context.Pipe()
        others: list[Connection] = []
        if isinstance(context, ForkContext):  # else what it is given is all that it has of ours
            others = [ours, *(worker.connection for worker in self._workers)]
        process = context.Process(
            target=_serve,
            args=(theirs, others, self._open_work, self._counts.of(number)),
            daemon=True,
        )
        with _interrupts_held():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours, [], number))

    def advanced(self) -> int:
        """By how much they have advanced since this was asked last."""
        return self._counts.counted()

    @property
    def under_way(self) -> int:
        """How many tasks are being done."""
        return sum(map(len, (worker.tasks for worker in self._workers)))

    @property
    def has_room(self) -> bool:
        """Whether somebody is idle."""
        return self.under_way < self._count

    def give(self, task: Task) -> None:
        """Have a task done by somebody who is idle."""
        worker = next(worker for worker in self._workers if not worker.tasks)
        worker.tasks.append(task)
        # One that died while it was idle is noticed as one that died of the task.
        with suppress(OSError):
            worker.connection.send(task)

    def answers(self, timeout_s: float | None = None) -> list[tuple[Task, Answer | Died]]:
        """What has been done since, waiting so long for the first; none if nothing is under way."""
        busy = {worker.connection: worker for worker in self._workers if worker.tasks}
        ready = wait(list(busy), timeout_s) if busy else []
        return [self._answer(worker) for c, worker in busy.items() if c in ready]

    def answered(
        self,
        tasks: Iterable[Task],
        *,
        timeout_s: float | None = None,
        wait: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[Task, Answer | Died]]:
        """Every task with its answer, as they come; a task is drawn when somebody is idle.

        `wait` is called before waiting, which ends after so long.  Memory: a task a process.
        """
        for task in tasks:
            while not self.has_room:
                wait()
                yield from self.answers(timeout_s)
            self.give(task)
        while self.under_way:
            wait()
            yield from self.answers(timeout_s)

    def _answer(self, worker: _Worker[Task]) -> tuple[Task, Answer | Died]:
        task = worker.tasks.pop()
        try:
            answer, error = worker.connection.recv()
        except (EOFError, OSError):
            return task, self._replace(worker)
        if error is not None:
            raise error
        return task, answer

    def _replace(self, worker: _Worker[Task]) -> Died:
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        code = worker.process.exitcode
        self._start(multiprocessing.get_context("spawn"), worker.number)
        return Died(-code if code is not None and code < 0 else None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End them: at once, but with all they have opened closed, where the block failed."""
        try:
            for worker in self._workers:
                worker.connection.close()  # who is idle, or comes to be, ends by this
                if error is not None:
                    worker.process.terminate()
            until_s = time.monotonic() + _TIMEOUT_S
            for worker in self._workers:
                worker.process.join(until_s - time.monotonic() if error is not None else None)
        finally:
            for worker in self._workers:
                if worker.process.is_alive():
                    worker.process.kill()


def in_order(answers: Iterable[tuple[int, Answer]]) -> Iterator[Answer]:
    """Numbered answers by their numbers, from 0; one that is early waits for those before it."""
    early: dict[int, Answer] = {}
    due = 0
    for number, answer in answers:
        early[number] = answer
        while due in early:
            yield early.pop(due)
            due += 1


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process that begins here does not see Ctrl-C before it ignores it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    connection: Connection,
    others: list[Connection],
    open_work: Open[Task, Answer],
    advance: Advance,
) -> None:
    """In the process: task after task, until the one who gives them closes or is gone."""
    # Ctrl-C reaches the whole group: it is the parent that answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    leave_when_told()
    for other in others:  # else we would keep them open for those who wait for their end
        other.close()
    try:
        _work(connection, partial(open_work, advance))
    except (EOFError, BrokenPipeError):
        pass
    except Exception as error:  # noqa: BLE001  the parent raises it
        with suppress(OSError):
            connection.send((None, _portable(error)))


def _work(
    connection: Connection,
    open_work: Callable[[], AbstractContextManager[Callable[[Task], Answer]]],
) -> None:
    task = connection.recv()
    with open_work() as work:
        while True:
            connection.send((work(task), None))
            task = connection.recv()


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same where it cannot cross to another process."""
    if isinstance(error, PinakesError):
        return error
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own
    except Exception:  # noqa: BLE001  whatever its class demands
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
