"""`pinakes completion`: print the completion script of a shell, made by shtab of the parsers."""

from __future__ import annotations

import argparse
from typing import Any

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.parsers import whole_parser
from pinakes.cli.verbs import VERBS

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the script."""
    import shtab

    parser = whole_parser(VERBS)
    _offer(shtab.FILE, parser)
    console.binary_out.write(shtab.complete(parser, arguments.shell).encode())
    return Exit.DONE


def _offer(files: Any, parser: argparse.ArgumentParser) -> None:
    """Have files offered for each value that has no choices: shtab offers nothing by itself."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for nested in action.choices.values():
                _offer(files, nested)
        elif action.choices is None and action.nargs != 0:
            action.complete = files  # type: ignore[attr-defined]
