"""The command, its verbs and their actions as plain values, and as a manual page (roff, man(7)).

Read from the parsers, so that nothing is listed by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pinakes import __version__


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
    """`pinakes`, a verb, or an action of one: its words after `pinakes`, and what follows them."""

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


def manual_page(root: Command) -> str:
    """The page `pinakes(1)`."""
    return "\n".join(_page(root)) + "\n"


def _page(root: Command) -> Iterator[str]:
    common = {argument.flags for argument in root.arguments}
    yield f'.TH PINAKES 1 "" "Pinakes {__version__}" "User Commands"'
    yield from (".SH NAME", "pinakes \\- catalogue and deduplicate web archives")
    yield from (".SH SYNOPSIS", f".B {_roff(root.usage)}")
    yield from (".SH DESCRIPTION", _roff(root.help))
    yield ".SH OPTIONS"
    yield from _described(root.arguments)
    yield ".SH VERBS"
    for command in root:
        if not command.words:
            continue
        own = [one for one in command.arguments if one.flags not in common]
        yield from (f".SS {_roff(' '.join(command.words))}", _roff(command.help))
        yield from (".PP", f".B {_roff(command.usage)}")
        yield from _described(own)
    yield from (".SH EXIT STATUS", _roff(root.epilog))


def _described(arguments: Iterable[Argument]) -> Iterator[str]:
    for one in arguments:
        yield ".TP"
        names = [f"{flag} {one.value}".rstrip() for flag in one.flags] or [one.value]
        yield f".B {_roff(', '.join(names))}"
        yield _roff(one.help)


def _roff(text: str) -> str:
    """Text as roff prints it: no escape, no request, hyphens that can be copied."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text
