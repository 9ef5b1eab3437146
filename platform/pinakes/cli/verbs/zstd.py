"""`pinakes zstd`: archive files in Zstandard."""

from __future__ import annotations

import argparse

from pinakes.cli.frame.actions import Action, add_actions
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs import zstd_job, zstd_slice, zstd_train


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each of them."""
    add_actions(parser, _ACTIONS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    return _RUN[arguments.action](arguments, console)


_ACTIONS = {
    "train": Action(
        "train a dictionary with records, of the size that saves most",
        zstd_train.configure,
    ),
    "compress": Action(
        "write archive files in Zstandard, a frame a record",
        zstd_job.configure_compress,
    ),
    "decompress": Action(
        "write archive files in gzip, a member a record, or uncompressed",
        zstd_job.configure_decompress,
    ),
    "slice": Action(
        "write the uncompressed bytes of a record, by its place in its file",
        zstd_slice.configure,
    ),
}
_RUN = {
    "train": zstd_train.run,
    "compress": zstd_job.run,
    "decompress": zstd_job.run,
    "slice": zstd_slice.run,
}
