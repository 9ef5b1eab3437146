"""Arguments that several verbs share: settings, inputs, dry runs."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pinakes.config import SETTINGS, Configuration, load_configuration
from pinakes.errors import ConfigError, InputRefused

# gzip, bzip2, zstd; a version line; the URL of an ARC file's first record.
_ARCHIVE = re.compile(rb"\x1f\x8b|BZh[1-9]1AY|\x28\xb5\x2f\xfd|WARC/\d+\.\d+\r?\n|filedesc:")
_LONGEST_LINE = 1 << 16
_VALUES = {
    "admin": "HOST:PORT",
    "as": "USER",
    "cache": "FILE",
    "command": "COMMAND",
    "config": "DIR",
    "connections": "N",
    "from": "PLACES",
    "hbase": "HOST:PORT",
    "hdfs": "URL",
    "jar": "FILE",
    "jobs": "N",
    "redis": "URL",
    "replication": "N",
    "s": "SECONDS",
    "saving": "FRACTION",
    "tls": "on|off",
    "versions": "N",
    "web": "URL",
}
"""What `--help` calls the value of a setting, by the last word of its name, if not by that word."""


def add_settings(parser: argparse.ArgumentParser, *names: str, title: str = "settings") -> None:
    """Let options override these settings: `min_saving_bytes` by `--min-saving-bytes`."""
    group = parser.add_argument_group(
        title,
        "override the configuration (`pinakes config`); a default is for what neither sets",
    )
    for name in names:
        setting = SETTINGS[name]
        default = "unset" if setting.default in (None, "") else setting.default
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar=_VALUES.get(name.rpartition("_")[2], name.rpartition("_")[2].upper()),
            help=f"{setting.help} (default: {default})".replace("%", "%%"),
        )


def configuration_of(arguments: argparse.Namespace) -> Configuration:
    """The configuration in force under these arguments.  Raises ConfigError."""
    given = {name: getattr(arguments, name, None) for name in SETTINGS}
    return load_configuration(arguments.config, options=given)


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
    parser.add_argument(
        "--files-from", metavar="FILE", help=f"read more {each} from FILE, one per line"
    )


PIPED = "-"
"""The argument that stands for standard input, and the name of an archive file that is there."""
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
    if stream is None:  # not a file, but somebody's lines
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


def add_raw(parser: argparse.ArgumentParser) -> None:
    """`--raw`: give out what is stored, also where it is damaged."""
    parser.add_argument(
        "--raw",
        action="store_true",
        help="do not compare the bytes with checksums and digests: give a damaged record, too",
    )


def add_accept_damaged(parser: argparse.ArgumentParser) -> None:
    """`--accept-damaged`: of packages, members that are not what they are said to be."""
    parser.add_argument(
        "--accept-damaged",
        action="store_true",
        help="of WACZ packages: land members whose CRC-32 and SHA-256 are both of other bytes",
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """`--dry-run`, for a verb that writes."""
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be done; write nothing"
    )
