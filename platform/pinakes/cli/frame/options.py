"""Arguments that several verbs share: settings, dry runs, actions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from pinakes.config import SETTINGS, Configuration, load_configuration
from pinakes.errors import ConfigError

from .command_parser import Subcommands

T = TypeVar("T")
_VALUES = {
    "admin": "HOST:PORT",
    "as": "USER",
    "cache": "FILE",
    "command": "COMMAND",
    "config": "DIR",
    "connections": "N",
    "from": "PLACES",
    "hbase": "HOST:PORT",
    "hdfs": "URL",
    "jar": "FILE",
    "jobs": "N",
    "redis": "URL",
    "replication": "N",
    "s": "SECONDS",
    "saving": "FRACTION",
    "tls": "on|off",
    "versions": "N",
    "web": "URL",
}
"""What `--help` calls the value of a setting, by the last word of its name, if not by that word."""


Option = Callable[..., None]


def options_of(to: argparse._ActionsContainer) -> Option:
    """What adds an option to a parser or group, spelled as `--help` shows it.

        option = options_of(parser)
        option("-o, --output DIR", "folder for the new files", required=True)
        option("--again", "also what is there already")

    One without a value and without choices is a switch.  What else is given, argparse takes.
    """

    def option(spelling: str, words: str, **more: Any) -> None:
        *others, last = spelling.split(", ")
        name, _, value = last.partition(" ")
        if value:
            more["metavar"] = value
        elif "choices" not in more:
            more["action"] = "store_true"
        to.add_argument(*others, name, help=words, **more)

    return option


def add_settings(parser: argparse.ArgumentParser, *names: str, title: str = "settings") -> None:
    """Let options override these settings: `min_saving_bytes` by `--min-saving-bytes`."""
    group = parser.add_argument_group(
        title,
        "override the configuration (`pinakes config`); a default is for what neither sets",
    )
    for name in names:
        setting = SETTINGS[name]
        default = "unset" if setting.default in (None, "") else setting.default
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar=_VALUES.get(name.rpartition("_")[2], name.rpartition("_")[2].upper()),
            help=f"{setting.help} (default: {default})".replace("%", "%%"),
        )


def configuration_of(arguments: argparse.Namespace) -> Configuration:
    """The configuration in force under these arguments.  Raises ConfigError."""
    given = {name: getattr(arguments, name, None) for name in SETTINGS}
    return load_configuration(arguments.config, options=given)


def parsed(option: str, text: str, parse: Callable[[str], T]) -> T:
    """The value of an option.  Raises ConfigError where it is none."""
    try:
        return parse(text)
    except ValueError as error:
        raise ConfigError(f"{option} is {text!r}, and should be {error}") from error


def number_to(most: int) -> Callable[[str], int]:
    """The type of an option that is a number from 1 to this."""

    def number(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most:,}")
        return int(text)

    return number


def add_raw(parser: argparse.ArgumentParser) -> None:
    """`--raw`: give out what is stored, also where it is damaged."""
    options_of(parser)(
        "--raw", "do not compare the bytes with checksums and digests: give a damaged record, too"
    )


def add_accept_damaged(parser: argparse.ArgumentParser) -> None:
    """`--accept-damaged`: of packages, members that are not what they are said to be."""
    options_of(parser)(
        "--accept-damaged",
        "of WACZ packages: land members whose CRC-32 and SHA-256 are both of other bytes",
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """`--dry-run`, for a verb that writes."""
    options_of(parser)("--dry-run", "show what would be done; write nothing")


class Action(NamedTuple):
    """One of them: what it does, in words, and its arguments."""

    words: str
    configure: Callable[[argparse.ArgumentParser], None]


def add_actions(parser: argparse.ArgumentParser, actions: Mapping[str, Action]) -> None:
    """Add them, each with its arguments."""
    words = {name: action.words for name, action in actions.items()}
    for name, one in action_parsers(parser, words).items():
        actions[name].configure(one)


def action_parsers(
    parser: argparse.ArgumentParser,
    words: Mapping[str, str],
    old_names: Mapping[str, str] | None = None,
) -> dict[str, argparse.ArgumentParser]:
    """A parser for each name, `arguments.action` being the one that was given; see
    `Subcommands.old_names`."""
    nested = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, action=Subcommands
    )
    assert isinstance(nested, Subcommands)
    nested.old_names = old_names or {}
    return {
        name: nested.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.")
        for name, said in words.items()
    }
