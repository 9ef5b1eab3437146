"""What a verb says: results to standard output, everything else to standard error.

A script reads results and nothing else: text, or with `--json` one object a line.
Names and URIs out of archives are untrusted bytes, and never reach a terminal
with their control characters.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timezone
from pathlib import Path
from typing import BinaryIO, TextIO

from pinakes.cli.frame.exits import Exit, Repeats, describe, exit_for, kind_of
from pinakes.cli.frame.progress import LineProgress, LiveArea, Progress, SilentProgress
from pinakes.errors import StoreUnavailable

LOGGER = "pinakes"
"""The logger that messages of the console itself are said to come from."""

# C0 but tab and newline, DEL, C1, bidirectional overrides, line separators, lone surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


_MOST_KINDS = 1000


def escape_controls(text: str) -> str:
    r"""Text with every control character as `\xNN` or `\uNNNN`; tabs and newlines stay."""
    return _CONTROLS.sub(_escape, text)


def printable(value: object) -> str:
    """An untrusted value (a name, a URI) on one line: newlines and tabs escaped as well."""
    return escape_controls(str(value)).replace("\n", "\\n").replace("\t", "\\t")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class Console:
    """Where a verb speaks.  Never closes its streams.

    With `json` a result is one JSON object on one line; with `log_json` so is each message;
    with `quiet` only results, warnings and errors are printed; with `verbose`, details and
    tracebacks too.
    """

    def __init__(
        self,
        *,
        out: TextIO,
        err: TextIO,
        json: bool = False,
        log_json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self.json = json
        self.log_json = log_json
        self.quiet = quiet
        self.verbose = verbose
        self._out = out
        self._err = err
        self._live: LiveArea | None = None
        self._repeats = Repeats[str](_MOST_KINDS)

    @classmethod
    def standard(
        cls,
        *,
        json: bool = False,
        log_json: bool = False,
        quiet: bool = False,
        verbose: bool = False,
    ) -> Console:
        """The console of this process.  A character that the locale cannot write is escaped.

        A stream that the caller closed (`>&-`) is taken as one that nothing reads.
        """
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="backslashreplace")
        out, err = sys.stdout or _nowhere(), sys.stderr or _nowhere()
        return cls(out=out, err=err, json=json, log_json=log_json, quiet=quiet, verbose=verbose)

    def flush(self) -> None:
        """Write out what is buffered.  Raises OSError, as any write may."""
        self._out.flush()

    @property
    def binary_out(self) -> BinaryIO:
        """Standard output for bytes (`show --payload`, a manifest); flush is the caller's."""
        self._out.flush()
        return self._out.buffer

    def result(self, value: object, text: str | None = None) -> None:
        """Print one result: a mapping, a dataclass, or a string.

        `text` is how people read it; without, a mapping is printed as `key: value` lines.
        """
        if self.json:
            if isinstance(value, str):
                value = {"text": value}
            line = _ENCODER.encode(value)
        else:
            line = escape_controls(text if text is not None else _as_text(value))
        self._write(self._out, line)

    def results(self, values: Iterable[object]) -> None:
        """Print each of these as a result."""
        for value in values:
            self.result(value)

    def say(self, text: str) -> None:
        """Tell people what is being done; silent with -q."""
        if not self.quiet:
            self._message("info", text)

    def detail(self, text: str) -> None:
        """Say what only -v asks for."""
        if self.verbose and not self.quiet:
            self._message("debug", text)

    def warn(self, problem: BaseException | str, *, kind: str | None = None) -> None:
        """Name something that went wrong and did not end the run; -q does not silence it.

        Of one kind (by default as `kind_of` says) the first three are named, with -v all.
        """
        kind = kind or kind_of(problem)
        if self.verbose or kind is None or self._repeats.is_named(kind):
            self._problem("warning", problem)

    def warn_of_repeats(self) -> None:
        """Say how many warnings of each kind were not named."""
        for kind, count in self._repeats.take_counted():
            self._problem("warning", f"{count:,} more: {kind}; --verbose names them all")

    def log(self, line: str) -> None:
        """Write a line that `log_line` made."""
        self._write(self._err, line)

    def log_line(self, level: str, text: str, logger: str = LOGGER) -> str:
        """A message of a library or of a process next to this one, as this console writes it."""
        if self.log_json:
            return _json_line(level, text, logger)
        return f"pinakes: {level}: {printable(text)}"

    def fail(self, error: BaseException) -> Exit:
        """Name the error that ended the run; the exit code it is."""
        code = exit_for(error)
        if isinstance(error, BrokenPipeError):
            return code
        again = isinstance(error, StoreUnavailable) and "run it again" not in error.message
        text = f"{error}; safe to run again" if again else describe(error)
        self._problem("" if code is Exit.STOPPED else "error", text)
        if self.verbose and code is not Exit.STOPPED:
            text = "".join(traceback.format_exception(error)).rstrip("\n")
            self._message("error", text)
        return code

    @contextmanager
    def progress(
        self, what: str, *, total: int | None = None, unit: str = "bytes"
    ) -> Iterator[Progress]:
        """Show progress for the length of a `with`: a bar on a terminal, else lines."""
        if self.quiet:
            yield SilentProgress()
        elif self._err.isatty() and not self.log_json:
            from pinakes.cli.frame.bar import BarProgress  # rich only where there is a terminal

            with BarProgress(what, total=total, unit=unit, stream=self._err) as bar:
                self._live = bar
                try:
                    yield bar
                finally:
                    self._live = None
        else:
            lines = LineProgress(what, total=total, unit=unit, say=self.say)
            yield lines
            lines.close()

    def _problem(self, label: str, problem: BaseException | str) -> None:
        text = problem if isinstance(problem, str) else describe(problem)
        if self.log_json:
            self._message(label or "info", text)
        else:
            head = f"pinakes: {label}: " if label else "pinakes: "
            self._write(self._err, head + printable(text))

    def _message(self, level: str, text: str) -> None:
        line = _json_line(level, text, LOGGER) if self.log_json else escape_controls(text)
        self._write(self._err, line)

    def _write(self, stream: TextIO, line: str) -> None:
        if self._live is not None and stream.isatty():
            self._live.print_above(line)
        else:
            stream.write(line + "\n")
            if stream is self._err:
                stream.flush()


class ConsoleHandler(logging.Handler):
    """What is logged, as messages of a console.

    A process that was forked has no part in the console's bar, and writes plain lines.
    """

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._pid = os.getpid()

    def emit(self, record: logging.LogRecord) -> None:
        level, text = record.levelname.lower(), record.getMessage()
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        line = self._console.log_line(level, text, record.name)
        if os.getpid() == self._pid:
            self._console.log(line)
        else:
            os.write(2, f"{line}\n".encode())


@contextmanager
def notices(console: Console) -> Iterator[None]:
    """The console says what Pinakes logs; as JSON, all that libraries warn of, too."""
    logger = logging.getLogger(None if console.log_json else LOGGER)
    handler = ConsoleHandler(console)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _json_line(level: str, text: str, logger: str) -> str:
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"time": now, "level": level, "logger": logger, "message": text})


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _as_text(value: object) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {printable(item)}" for key, item in value.items())
    return str(value)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):  # and datetime
        return value.isoformat()
    if isinstance(value, (bytes, memoryview)):
        return value.hex()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


# json.dumps would make one for each result.
_ENCODER = json.JSONEncoder(default=_plain)
