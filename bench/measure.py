"""Run commands as processes of their own, and say what they cost.

CPU and peak memory come from the kernel (`wait4`): a command with its children that it waited
for.  Ratios are taken within one round, between runs that follow each other, and then their median:
a machine that is busy for a minute disturbs one pair, not the result.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


class CommandFailed(Exception):
    """A measured command ended with an exit code that is none of its good ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command.  Standard output goes to the file `stdout`, or nowhere."""

    argv: tuple[str, ...]
    stdout: Path | None = None
    good: tuple[int, ...] = (0,)
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a command, or several in turn, took."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Median, least and greatest of several figures."""

    middle: float
    least: float
    most: float


def run_step(step: Step, folder: Path) -> Cost:
    """Run one command in `folder`.

    Raises CommandFailed, with the end of what the command said, on a bad exit code.
    """
    said = folder / "stderr.txt"
    with open(step.stdout or os.devnull, "wb") as out, said.open("wb") as err:
        env = {**os.environ, **dict(step.env)}
        # Users import compiled bytecode; where this is set, every start would compile anew.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        begun = time.perf_counter()
        process = subprocess.Popen(
            step.argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in step.good:
        last = said.read_text(errors="replace").strip().splitlines()[-3:]
        raise CommandFailed(f"exit {process.returncode}: {' / '.join(last)}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu_s=cpu, wall_s=wall, peak_bytes=usage.ru_maxrss * 1024)


def run_steps(steps: Sequence[Step], folder: Path) -> Cost:
    """Run commands in turn; times add up, the peak is the highest."""
    costs = [run_step(step, folder) for step in steps]
    return Cost(
        cpu_s=sum(cost.cpu_s for cost in costs),
        wall_s=sum(cost.wall_s for cost in costs),
        peak_bytes=max(cost.peak_bytes for cost in costs),
    )


def spread(figures: Sequence[float]) -> Spread:
    """Return median, minimum and maximum of at least one figure."""
    return Spread(middle=median(figures), least=min(figures), most=max(figures))


def ratios(over: Sequence[float], under: Sequence[float]) -> Spread:
    """Divide pairwise, the i-th by the i-th, and return the spread of the quotients."""
    return spread([a / b for a, b in zip(over, under, strict=True)])
