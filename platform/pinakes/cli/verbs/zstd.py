"""`pinakes zstd`: archive files in Zstandard."""

from __future__ import annotations

import argparse

from pinakes.archive_store.located import open_place
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import Action, add_actions
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs import zstd_compress, zstd_train
from pinakes.errors import ConfigError
from pinakes.warc.slices import iter_slice


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each of them."""
    add_actions(parser, _ACTIONS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    return _RUN[arguments.action](arguments, console)


def _configure_slice(parser: argparse.ArgumentParser) -> None:
    """A file, and a stretch of it."""
    parser.add_argument("file", metavar="FILE", help="archive file, in any compression")
    parser.add_argument(
        "offset", metavar="OFFSET", type=int, help="where the record begins, as an index has it"
    )
    parser.add_argument(
        "length", metavar="LENGTH", type=int, help="bytes of the file that it takes"
    )


def slice_of(arguments: argparse.Namespace, console: Console) -> Exit:
    """Bytes, and nothing else."""
    if console.json:
        raise ConfigError("slice writes bytes: leave out --json (`pinakes ls` has it)")
    if arguments.offset < 0 or arguments.length < 1:
        raise ConfigError("an offset is at least 0, a length at least 1")
    with open_place(arguments.file) as source:
        try:
            console.binary_out.writelines(iter_slice(source, arguments.offset, arguments.length))
        finally:
            console.binary_out.flush()
    return Exit.DONE


_ACTIONS = {
    "train": Action(
        "train a dictionary with records, of the size that saves most",
        zstd_train.configure,
    ),
    "compress": Action(
        "write archive files in Zstandard, a frame a record",
        zstd_compress.configure_compress,
    ),
    "decompress": Action(
        "write archive files in gzip, a member a record, or uncompressed",
        zstd_compress.configure_decompress,
    ),
    "slice": Action(
        "write the uncompressed bytes of a record, by its place in its file",
        _configure_slice,
    ),
}
_RUN = {
    "train": zstd_train.run,
    "compress": zstd_compress.run,
    "decompress": zstd_compress.run,
    "slice": slice_of,
}
