"""A parser of arguments that takes the global options, and says what is wrong in one line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

from pinakes.cli.frame.output import printable
from pinakes.errors import did_you_mean

# What argparse says, and what we say; the name of an argument is kept.
_SENTENCES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"the following arguments are required: (.+)", r"missing: \1"),
    (r"one of the arguments (.+) is required", lambda m: f"missing: {_either(m[1].split())}"),
    (r"argument (\S+): expected one argument", r"\1 needs a value"),
    (r"argument (\S+): expected at least one argument", r"\1 needs at least one value"),
    (r"argument (\S+): expected (\d+) arguments", r"\1 needs \2 values"),
    (r"argument (\S+): ignored explicit argument (.+)", r"\1 takes no value, and \2 was given"),
    (r"argument (\S+): not allowed with argument (\S+)", r"\1 and \2 cannot be combined"),
    (r"argument (\S+): (?:invalid \w+ value: )?(.+)", r"\1: \2"),
)
_FEW = 8
_KINDS = {int: "a whole number", float: "a number"}


class CommandParser(argparse.ArgumentParser):
    """A parser that takes the global options at every level (`crawl list --json`).

    Options are never abbreviated: a script must not break when one is added.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})
        self.color = False  # of Python 3.14: its help has no colours on the others
        group = self.add_argument_group("on every verb")
        # Suppressed defaults: an inner level must not undo what an outer one was given.
        switch: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
        group.add_argument("-q", "--quiet", **switch, help="results, warnings and errors only")
        group.add_argument(
            "-v", "--verbose", **switch, help="details, all warnings, tracebacks of errors"
        )
        group.add_argument("--json", **switch, help="results as JSON, one object per line")
        group.add_argument(
            "--log-format",
            choices=("text", "json"),
            default=argparse.SUPPRESS,
            help="messages on standard error: text, or one JSON object per line (default: text)",
        )
        group.add_argument(
            "--config",
            metavar="PATH",
            type=Path,
            default=argparse.SUPPRESS,
            help="configuration file (default: pinakes.toml here or in a folder above)",
        )

    def error(self, message: str) -> NoReturn:
        """End with one line: the whole usage would hide it."""
        for theirs, ours in _SENTENCES:
            message, count = re.subn(rf"\A{theirs}\Z", ours, message, flags=re.DOTALL)
            if count:
                break
        end = "" if message.endswith("?") else f"; see {self.prog} --help"
        self.exit(2, f"pinakes: error: {printable(message)}{end}\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Nothing is unknown: the parser that meets it knows which names are near."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._unknown(unknown[0]))
        return found, unknown

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"unexpected argument {word!r}"
        option = word.partition("=")[0]
        return f"unknown option {option}{did_you_mean(option, self._option_string_actions)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        if isinstance(action, Subcommands) and value in action.old_names:
            return
        known = list(map(str, action.choices))
        if isinstance(action, argparse._SubParsersAction):
            # Of a few, all are named: the nearest by its letters may be far from what is meant.
            near = (
                did_you_mean(str(value), known) if len(known) > _FEW else f": use {_either(known)}"
            )
            raise _Wrong(f"unknown {str(action.metavar).lower()} {value}{near}")
        name = "/".join(action.option_strings) or str(action.metavar)
        raise _Wrong(f"{name} is {value!r}, and should be {_either(known)}")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        if not arg_string and action.default != "" and action.nargs != argparse.PARSER:
            # As a path it would be the working directory: `-o "$OUT"` with OUT not set.
            raise _Wrong(f"{'/'.join(action.option_strings) or action.metavar} is empty")
        kind = _KINDS.get(action.type) if isinstance(action.type, type) else None
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if kind is None:
                raise
            name = "/".join(action.option_strings)
            raise _Wrong(f"{name} is {arg_string!r}, and should be {kind}") from None


class Subcommands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Subcommands, some of which had other names: these go on working, and `--help` lists them
    not.  `arguments.old_name` is the one that was given."""

    old_names: Mapping[str, str] = MappingProxyType({})
    """By the old name, the one of today."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: Any,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Parse the rest by the parser of a subcommand."""
        given, *rest = values
        namespace.old_name = given if given in self.old_names else None
        name = self.old_names.get(given, given)
        super().__call__(parser, namespace, [name, *rest], option_string)


class _Wrong(argparse.ArgumentError):
    """A wrong argument, in a whole sentence of ours."""

    def __init__(self, message: str) -> None:
        super().__init__(None, message)


def _either(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
