"""`pinakes zstd slice`: the uncompressed bytes of a record, by its offset and length."""

from __future__ import annotations

import argparse

from pinakes.archive_store.located import open_place
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError
from pinakes.warc.slices import iter_slice


def configure(parser: argparse.ArgumentParser) -> None:
    """A file, and a stretch of it."""
    parser.add_argument("file", metavar="FILE", help="archive file, in any compression")
    parser.add_argument(
        "offset", metavar="OFFSET", type=int, help="where the record begins, as an index has it"
    )
    parser.add_argument(
        "length", metavar="LENGTH", type=int, help="bytes of the file that it takes"
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Bytes, and nothing else."""
    if console.json:
        raise ConfigError("slice writes bytes: leave out --json (`pinakes ls` has it)")
    if arguments.offset < 0 or arguments.length < 1:
        raise ConfigError("an offset is at least 0, a length at least 1")
    _write_slice(arguments.file, arguments.offset, arguments.length, console)
    return Exit.DONE


def _write_slice(file: str, offset: int, length: int, console: Console) -> None:
    with open_place(file) as source:
        try:
            for piece in iter_slice(source, offset, length):
                console.binary_out.write(piece)
        finally:
            console.binary_out.flush()
