"""Inputs as arguments: names, lists of names, a piped archive file."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pinakes.application.inputs import PIPED, ArchiveInputs, OnEvent, report_left_out
from pinakes.cli.frame.options import options_of
from pinakes.config import Configuration
from pinakes.errors import ConfigError, InputRefused
from pinakes.ingest.inputs import Input, LeftOut, sorted_out
from pinakes.profile import open_folder

# gzip, bzip2, zstd; a version line; the URL of an ARC file's first record.
_ARCHIVE = re.compile(rb"\x1f\x8b|BZh[1-9]1AY|\x28\xb5\x2f\xfd|WARC/\d+\.\d+\r?\n|filedesc:")
_LONGEST_LINE = 1 << 16


def add_inputs(
    parser: argparse.ArgumentParser, metavar: str, words: str, *, each: str = "paths"
) -> None:
    """Inputs as arguments, `-` for a list of them on standard input, or `--files-from FILE`."""
    parser.add_argument(
        "inputs",
        metavar=metavar,
        nargs="*",
        help=f"{words}; -: read {each} from standard input, one per line",
    )
    options_of(parser)("--files-from FILE", f"read more {each} from FILE, one per line")


OnArchive = Callable[[bytes, BinaryIO], None]
"""Is called with the first bytes of an archive file on standard input, and the rest."""


def inputs_of(arguments: argparse.Namespace, on_archive: OnArchive | None = None) -> Iterator[str]:
    """Every input, in the order given, lazily; names as they were given.

    Raises ConfigError where there is none at all, and where standard input holds an archive file
    and there is no `on_archive`; InputRefused where FILE cannot be read.
    """
    count = 0
    for name in _names(arguments.inputs, arguments.files_from, on_archive):
        count += 1
        yield name
    if not count:
        raise ConfigError("no inputs: name some, or give - or --files-from FILE")


def _names(
    inputs: Iterable[str], files_from: str | None, on_archive: OnArchive | None
) -> Iterator[str]:
    for name in inputs:
        if name == PIPED:
            yield from _piped_names(on_archive)
        else:
            yield name
    if files_from is not None:
        try:
            with Path(files_from).open(errors="surrogateescape") as lines:
                yield from _lines(lines)
        except OSError as error:
            raise InputRefused(error.strerror or str(error), file=files_from) from error


def _piped_names(on_archive: OnArchive | None) -> Iterator[str]:
    """A name per line of standard input; or `PIPED`, where it is an archive file."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:  # not a file, but an object with lines
        yield from _lines(sys.stdin)
        return
    first = stream.readline(_LONGEST_LINE)
    if not _is_list(first):
        if on_archive is None or not _ARCHIVE.match(first):
            what = "an archive file" if _ARCHIVE.match(first) else "binary"
            raise ConfigError(
                f"standard input holds {what}, not a list with one name per line: give its path "
                "(`ls`, `filter`, `unpack`, `cdx`, `manifest`, `check` read one archive file there)"
            )
        on_archive(first, stream)
        yield PIPED
        return
    lines = (os.fsdecode(line).replace("\r\n", "\n") for line in chain((first,), stream))
    for name in _lines(lines):
        if "\0" in name:
            raise ConfigError("standard input holds binary, not a list with one name per line")
        yield name


def _is_list(first: bytes) -> bool:
    whole = first.endswith(b"\n") or len(first) < _LONGEST_LINE
    return whole and b"\0" not in first and not _ARCHIVE.match(first)


def _lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        name = line.rstrip("\n")
        if name:
            yield name


def archive_inputs_of(arguments: argparse.Namespace, folder: Path | None) -> ArchiveInputs:
    """What `add_inputs` has added, for a verb that only reads; a context manager.

    `folder` is where what is piped in is kept, none: the system's.
    """
    inputs = ArchiveInputs(folder)
    inputs.names = inputs_of(arguments, on_archive=inputs.keep)
    return inputs


def is_folder_for_tasks(name: str) -> bool:
    """Whether this is hdfs://… or file://… with a slash at its end."""
    return "://" in name and name.endswith("/")


def files_below(folder: str, configuration: Configuration, on_event: OnEvent) -> list[str]:
    """The archive files of such a folder, by the names that tasks open; skipped ones are reported.

    Raises:
        ConfigError: there is none, or it is in no place that has folders.
        StoreUnavailable: that cannot be reached.
    """
    left = LeftOut()
    with open_folder(folder, configuration) as store:
        given = (Input(f"{folder.rstrip('/')}/{name}", name) for name, _ in store.list())
        found = [item.place for each in given for item in sorted_out(each, left)]
    report_left_out(left, on_event)
    if not found:
        raise ConfigError("no archive files in this folder", file=folder)
    return found
