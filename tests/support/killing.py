"""Work that ends at its n-th step as by kill -9, in a child process; verbs among it."""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pinakes.cli import main

KILLED = 9
# What Python tells of before it does it; and what the two verbs of writing do.
EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
CALLS = ("write", "copy_file_range", "fsync", "ftruncate", "close")
_HANGS_S = 600


def in_child(work: Callable[[], object]) -> int:
    """Do it in a forked process, which may end itself anywhere; its exit code, 70 for an error.

    It is ended by SIGALRM, with its stacks, where it hangs: another thread of ours may have held a
    lock at the fork.
    """
    child = os.fork()
    if child == 0:
        faulthandler.register(signal.SIGALRM, file=os.dup(2), chain=True)
        signal.alarm(_HANGS_S)
        try:
            work()
        except BaseException:  # noqa: BLE001  nothing of pytest may run here
            traceback.print_exc()
            os._exit(70)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at(number: int) -> Callable[[object], None]:
    """End the process, as kill -9 does, at the step of this number (from 0)."""
    steps = iter(range(1 << 30))

    def at(_: object) -> None:
        if next(steps) == number:
            os._exit(KILLED)

    return at


def kill_after(name: str, count: int = 1) -> Callable[[str], None]:
    """End the process, as kill -9 does, when it has done so many steps of this name."""
    steps = iter(range(1, 1 << 30))

    def at(step: str) -> None:
        if step == name and next(steps) == count:
            os._exit(KILLED)

    return at


class Death(NamedTuple):
    """What was killed at a step; the last one of them had no such step, and lived."""

    step: int
    folder: Path
    died: bool


def deaths(
    folder: Path,
    work: Callable[[Path, Callable[[str], None]], object],
    *,
    made: Path | None = None,
    first: int = 0,
    stride: int = 1,
    more_than: int,
) -> Iterator[Death]:
    """Kill the work at every n-th step, each time in a folder of its own, a copy of `made`.

    The work takes that folder, and what it calls at each step.  It has more steps than those.
    """

    def died(there: Path, step: int) -> bool:
        code = in_child(partial(work, there, kill_at(step)))
        assert code in (0, KILLED), f"step {step}: exit {code}"
        return code == KILLED

    return _each_death(folder, died, made, range(first, 1 << 30, stride), more_than)


def deaths_of_verb(
    folder: Path,
    words: Callable[[Path], Sequence[object]],
    *,
    made: Path | None = None,
    below: str = "",
    stride: int = 1,
    well: int = 0,
    more_than: int,
) -> Iterator[Death]:
    """The same of a verb, at each step that `dies` counts `below` its folder."""

    def died(there: Path, step: int) -> bool:
        return dies(words(there), there / below, step, well=well)

    return _each_death(folder, died, made, range(0, 1 << 30, stride), more_than)


def _each_death(
    folder: Path,
    died: Callable[[Path, int], bool],
    made: Path | None,
    steps: range,
    more_than: int,
) -> Iterator[Death]:
    for step in steps:
        there = folder / f"step-{step}"
        if made is None:
            there.mkdir(parents=True)
        else:
            shutil.copytree(made, there)
        death = Death(step, there, died(there, step))
        yield death
        shutil.rmtree(there)
        if not death.died:
            assert step > more_than, f"only {step} steps"
            return


def dies(arguments: Sequence[object], folder: Path, step: int, *, well: int = 0) -> bool:
    """Run the verb in a child that ends itself, as by kill -9, at its step on `folder`.

    False where it had fewer steps, and ended with the exit code `well`.
    """
    code = in_child(lambda: os._exit(_run(arguments, folder, step)))
    assert code in (well, KILLED), f"step {step}: exit {code}"
    return code == KILLED


def _run(arguments: Sequence[object], folder: Path, step: int) -> int:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    left = step

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(KILLED)

    def hook(event: str, details: tuple[Any, ...]) -> None:
        reading = event == "open" and not details[2] & (os.O_WRONLY | os.O_RDWR)
        if event in EVENTS and str(folder) in str(details[0]) and not reading:
            count()

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            count()
            return function(*positional, **named)

        return call

    sys.addaudithook(hook)
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    return main([str(argument) for argument in arguments])


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def is_running(pid: int) -> bool:
    """Whether there is such a process, and no mere entry of one that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
