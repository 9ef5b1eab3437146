"""`pinakes zstd`: archive files in Zstandard."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs import zstd_convert, zstd_slice, zstd_train


class _Action(NamedTuple):
    words: str
    configure: Callable[[argparse.ArgumentParser], None]


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each of them."""
    nested = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, action in _ACTIONS.items():
        words = action.words
        one = nested.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        action.configure(one)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    return _RUN[arguments.action](arguments, console)


_ACTIONS = {
    "train": _Action(
        "train a dictionary with records, of the size that saves most",
        zstd_train.configure,
    ),
    "compress": _Action(
        "write archive files in Zstandard, a frame a record",
        zstd_convert.configure_compress,
    ),
    "decompress": _Action(
        "write archive files in gzip, a member a record, or uncompressed",
        zstd_convert.configure_decompress,
    ),
    "slice": _Action(
        "write the uncompressed bytes of a record, by its place in its file",
        zstd_slice.configure,
    ),
}
_RUN = {
    "train": zstd_train.run,
    "compress": zstd_convert.run,
    "decompress": zstd_convert.run,
    "slice": zstd_slice.run,
}
