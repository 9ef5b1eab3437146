"""`pinakes completion`: print the completion script of a shell."""

from __future__ import annotations

import argparse

from pinakes.cli.frame.command_tree import read_command
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.shell_completion import SCRIPTS
from pinakes.cli.parsers import whole_parser
from pinakes.cli.verbs import VERBS


def configure(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SCRIPTS), help="bash, zsh or fish")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the script."""
    script = SCRIPTS[arguments.shell](read_command(whole_parser(VERBS)))
    console.binary_out.write(script.encode())
    return Exit.DONE
