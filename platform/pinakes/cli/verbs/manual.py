"""`pinakes manual`: print the manual page."""

from __future__ import annotations

import argparse

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.manual_page import manual_page, read_command
from pinakes.cli.frame.output import Console
from pinakes.cli.parsers import whole_parser
from pinakes.cli.verbs import VERBS


def configure(parser: argparse.ArgumentParser) -> None:
    """It has no arguments."""


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the page, for `man`."""
    console.binary_out.write(manual_page(read_command(whole_parser(VERBS))).encode())
    return Exit.DONE
