"""Read the command line, run one verb, turn what comes of it into an exit code.

Only the verb that is called is imported, and only once the parser reaches it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from pinakes.cli.frame.command_parser import CommandParser
from pinakes.cli.frame.exits import Exit, Terminated
from pinakes.cli.frame.output import Console, notices
from pinakes.cli.parsers import command_parser
from pinakes.cli.verbs import VERBS, Verb


def build_parser(table: Mapping[str, Verb] = VERBS) -> CommandParser:
    """The parser of the whole command; no verb is imported."""
    return command_parser(table)


def run(argv: Sequence[str] | None = None, table: Mapping[str, Verb] = VERBS) -> int:
    """Parse, run the verb, return the exit code; never raises."""
    console = Console.standard()
    try:
        with _signals_raise():
            arguments = _parse(argv, table)
            console = Console.standard(
                json=arguments.json,
                log_json=arguments.log_format == "json",
                quiet=arguments.quiet,
                verbose=arguments.verbose,
            )
            with notices(console), _repeats_counted(console):
                code = Exit(arguments.verb_module.run(arguments, console))
    except SystemExit as stop:  # argparse: --help, --version, a wrong call
        code = Exit(stop.code) if isinstance(stop.code, int) else Exit.DONE
    except BaseException as error:  # noqa: BLE001  the one place where everything ends
        code = console.fail(error)
    return int(_flushed(code, console))


@contextmanager
def _repeats_counted(console: Console) -> Iterator[None]:
    """However the verb ends, warnings that were not named are counted."""
    try:
        yield
    finally:
        console.warn_of_repeats()


def _flushed(code: Exit, console: Console) -> Exit:
    """The code, or that of standard output failing at the last: results that no one got."""
    try:
        console.flush()
    except OSError as error:
        # Python flushes standard output at exit, and would complain of the same again.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return console.fail(error) if code in (Exit.DONE, Exit.FOUND) else code
    return code


def _parse(argv: Sequence[str] | None, table: Mapping[str, Verb]) -> argparse.Namespace:
    preset = argparse.Namespace(
        quiet=False, verbose=False, json=False, log_format="text", config=None
    )
    return build_parser(table).parse_args(argv, preset)


@contextmanager
def _signals_raise() -> Iterator[None]:
    """SIGTERM and SIGHUP raise where Ctrl-C would, so that `finally` blocks run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # What was ignored stays ignored: `nohup pinakes ...`.
    wanted = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, _raise) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(signal.Signals(number).name)
