"""What is said while an act goes on and at its end, and whether all of it went well."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from types import TracebackType

from pinakes.application.events import Begin, Notice, Others, Skipped
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress, SilentProgress
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import PinakesError
from pinakes.warc.file_progress import Advance


class EventPrinter:
    """Says what it is called with; `failed` is whether an error was among it."""

    def __init__(self, console: Console) -> None:
        self.failed = False
        self._console = console

    def __call__(self, event: PinakesError | Skipped | Others | Notice) -> None:
        """Name a problem, or a file that is left; say how many files are no archive files."""
        if isinstance(event, PinakesError):
            self._console.warn(event)
            self.failed = True
        elif isinstance(event, Skipped):
            self._console.warn(f"{event.place}: {event.why}", kind=event.kind)
        elif isinstance(event, Others):
            self._say_others(event)
        else:
            self._say(event)

    def exit(self, rest: Exit = Exit.DONE) -> Exit:
        """Of a verb whose other work ended so."""
        return Exit.SOME_FAILED if self.failed else rest

    def _say_others(self, others: Others) -> None:
        left = others.left
        more = ", …" if left.others > len(left.examples) else ""
        names = ", ".join(map(printable, left.examples))
        why = "not named as archive files, or behind links to folders"
        self._console.say(f"{count_of(left.others, 'file')} skipped ({why}): {names}{more}")

    def _say(self, notice: Notice) -> None:
        text = printable(notice.text)
        if notice.level == "warning":
            self._console.warn(text)
        elif notice.level == "detail":
            self._console.detail(text)
        else:
            self._console.say(text)


def left_full_text(left: Mapping[str, int]) -> str:
    """After a sentence: how many, by reason; nothing where there are none."""
    if not left:
        return ""
    return "; left full: " + ", ".join(
        f"{count} {reason}" for reason, count in sorted(left.items())
    )


@contextmanager
def shown_later(console: Console, what: str, total: int) -> Iterator[Begin]:
    """Progress in bytes, from the first call on until the end of the `with`."""
    with ExitStack() as stack:

        @lru_cache(maxsize=1)
        def begin() -> Advance:
            return stack.enter_context(console.progress(what, total=total)).advance

        yield begin


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


def store_place(configuration: Configuration) -> str:
    """Its folder, or its tables."""
    if configuration.profile == "embedded":
        return str(configuration.store)
    return f"{configuration.hbase_prefix}* on {configuration.hbase}"


def next_command(words: str, configuration: Configuration, *settings: str) -> str:
    """A command for the same store, as a shell takes it: with `--config`, `--store` and these other
    settings, where this call had them."""
    parts = [f"pinakes {words}"]
    if configuration.file is not None:
        parts.append(f"--config {shlex.quote(str(configuration.file))}")
    for name in ("store", *settings):
        option = f"--{name.replace('_', '-')}"
        if configuration.origins.get(name) == f"option {option}":
            parts.append(f"{option} {shlex.quote(str(getattr(configuration, name)))}")
    return " ".join(parts)
