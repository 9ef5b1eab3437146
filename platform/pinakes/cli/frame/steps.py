"""Progress of what is done in steps: one after the other, each with a total of its own."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType

from pinakes.cli.frame.output import Console
from pinakes.cli.frame.progress import Progress, SilentProgress


class Steps:
    """Shows the step that is under way, in bytes; a context manager."""

    def __init__(self, console: Console, what: str) -> None:
        self._console = console
        self._what = what
        self._shown = ExitStack()
        self._progress: Progress = SilentProgress()

    def begin(self, step: str, total_bytes: int) -> None:
        """The step before is done, and another begins."""
        self._shown.close()
        shown = self._console.progress(f"{self._what}, {step}", total=total_bytes or None)
        self._progress = self._shown.enter_context(shown)

    def advance(self, count: int) -> None:
        """So many more bytes are done."""
        self._progress.advance(count)

    def __enter__(self) -> Steps:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._shown.__exit__(kind, error, traceback)
