"""The command, its verbs and their actions as plain values, read from the parsers.

What completes or describes them is made of these, so that nothing is listed by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An option, or with no flags what stands alone."""

    flags: tuple[str, ...]
    value: str
    """What its value is called; empty: it takes none."""
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`pinakes`, a verb, or an action of one: its words behind `pinakes`, and what follows them."""

    words: tuple[str, ...]
    help: str
    usage: str
    epilog: str
    arguments: tuple[Argument, ...]
    commands: tuple[Command, ...]

    def __iter__(self) -> Iterator[Command]:
        """Yield itself and everything below, in order."""
        yield self
        for command in self.commands:
            yield from command


def read_command(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Command:
    """The command of a parser, whose verbs are loaded."""
    arguments: list[Argument] = []
    commands: list[Command] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands += [read_command(p, (*words, name)) for name, p in action.choices.items()]
        elif action.help != argparse.SUPPRESS:
            arguments.append(_argument(parser, action))
    return Command(
        words=words,
        help=parser.description or "",
        usage=" ".join(parser.format_usage().removeprefix("usage: ").split()),
        epilog=parser.epilog or "",
        arguments=tuple(arguments),
        commands=tuple(commands),
    )


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Argument:
    choices = tuple(map(str, action.choices or ()))
    name = action.metavar or ("|".join(choices) if choices else action.dest.upper())
    return Argument(
        flags=tuple(action.option_strings),
        value="" if action.nargs == 0 else str(name),
        choices=choices,
        # As in --help: with what it has in place of `%(default)s`.
        help=parser._get_formatter()._expand_help(action),
    )
