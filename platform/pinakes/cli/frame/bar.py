"""The progress bar of a terminal, by rich.  Imported only where there is a terminal."""

from __future__ import annotations

from types import TracebackType
from typing import TextIO

from rich.console import Console as RichConsole
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichProgress
from rich.text import Text

from pinakes.cli.frame.progress import format_rate


class BarProgress:
    """A bar with count, rate and time left; a context manager."""

    def __init__(self, what: str, *, total: int | None, unit: str, stream: TextIO) -> None:
        counts: tuple[ProgressColumn, ...] = (DownloadColumn(), TransferSpeedColumn())
        if unit != "bytes":
            counts = (MofNCompleteColumn(), TextColumn(unit), _RateColumn(unit))
        self._rich = RichProgress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *counts,
            TimeRemainingColumn(),
            console=RichConsole(file=stream, markup=False, highlight=False, emoji=False),
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._rich.add_task(what, total=total)

    def __enter__(self) -> BarProgress:
        self._rich.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rich.stop()

    def advance(self, count: int = 1) -> None:
        self._rich.advance(self._task, count)

    def set_total(self, total: int) -> None:
        self._rich.update(self._task, total=total)

    def print_above(self, line: str) -> None:
        self._rich.console.print(Text(line), soft_wrap=True)


class _RateColumn(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else format_rate(speed, self._unit))
