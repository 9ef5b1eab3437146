"""The parsers of the command and of its verbs, each of which is imported only when it is used."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from pinakes import SOFTWARE
from pinakes.cli.frame.command_parser import CommandParser
from pinakes.cli.frame.output import Console


class VerbEntry(Protocol):
    """A line of the table of verbs."""

    @property
    def module(self) -> str:
        """The module of the verb."""

    @property
    def help(self) -> str:
        """What it does, in one line."""


class VerbModule(Protocol):
    """What a module `pinakes.cli.VERB` offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's own arguments; nested verbs are `parser.add_subparsers()`."""

    def run(self, arguments: argparse.Namespace, console: Console) -> int:
        """Do it; an `Exit`.  Errors may be raised: `pinakes.cli.command.run` maps them."""


class VerbParser(CommandParser):
    """The parser of one verb, which loads the verb's module when it is first used."""

    def __init__(self, *args: Any, module: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._module = module
        self._verb: VerbModule | None = None

    def load(self) -> VerbModule:
        """Import the verb's module and add its arguments; once."""
        if self._verb is None:
            self._verb = cast(VerbModule, import_module(self._module))
            self._verb.configure(self)
            self.set_defaults(verb_module=self._verb)
        return self._verb

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        return super().parse_known_args(args, namespace)

    def add_subparsers(self, **kwargs: Any) -> Any:
        kwargs.setdefault("parser_class", CommandParser)
        return super().add_subparsers(**kwargs)


def command_parser(table: Mapping[str, VerbEntry]) -> CommandParser:
    """The parser of the whole command; no verb is imported."""
    parser = CommandParser(
        prog="pinakes",
        description="Catalogue web archives, remove their duplicates without losing a byte.",
        epilog="Exit: 0 done; 1 done, with something found; 2 wrong call, configuration or "
        "schema; 3 some inputs failed, each named; 4 a store is not reachable or full; "
        "5 stopped, safe to run again.  `pinakes VERB --help` says more.",
    )
    parser.add_argument("--version", action="version", version=SOFTWARE)
    verbs = parser.add_subparsers(
        title="verbs", metavar="VERB", dest="verb", required=True, parser_class=VerbParser
    )
    for name, verb in table.items():
        description = verb.help[0].upper() + verb.help[1:] + "."
        verbs.add_parser(name, module=verb.module, help=verb.help, description=description)
    return parser


def whole_parser(table: Mapping[str, VerbEntry]) -> CommandParser:
    """The same with the arguments of every verb, which imports them all."""
    parser = command_parser(table)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                verb.load()
    return parser
