"""`pinakes cat`: a record as it is stored, its headers, or its body, to standard output."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from pinakes.application.records import RecordPlace, key_or_place, open_on_disk, open_stored
from pinakes.archive_store.located import is_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_raw, add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError, MalformedRecord
from pinakes.profile import open_stores
from pinakes.warc.http.codings import Undecodable, decoded
from pinakes.warc.record import Record
from pinakes.warc.write import record_pieces

Pieces = Iterable[bytes | memoryview]


def configure(parser: argparse.ArgumentParser) -> None:
    """A capture or a place in a file, and what to write of it."""
    parser.add_argument(
        "capture",
        metavar="CAPTURE",
        help="as printed by timeline, or FILE:OFFSET as printed by ls (in quotes)",
    )
    what = options_of(parser.add_mutually_exclusive_group())
    what("--record", "the whole record, uncompressed (default)")
    what("--headers", "its WARC header and its HTTP head")
    what("--payload", "the stored body; of a revisit, its original's")
    option = options_of(parser)
    option("--decoded", "with --payload: without chunks and codings (gzip, deflate, br, zstd)")
    add_raw(parser)
    option(
        "--dir DIR",
        "look for the original of a revisit in the files of this folder (default: the folder "
        "of FILE)",
    )
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Bytes, and nothing else."""
    body, raw = arguments.payload, arguments.raw
    if arguments.decoded and not body:
        raise ConfigError("--decoded needs --payload")
    if console.json:
        raise ConfigError("cat writes bytes: leave out --json (`pinakes show` has it)")
    pieces = _headers if arguments.headers else Record.payload if body else _whole
    pieces = decoded if arguments.decoded else pieces
    named = key_or_place(arguments.capture)
    if isinstance(named, RecordPlace) and is_at(named.file):
        with open_on_disk(named, body=body, raw=raw, folder=arguments.dir) as record:
            _write(record, pieces, console)
        return Exit.DONE
    with (
        open_stores(configuration_of(arguments)) as stores,
        open_stored(stores, named, body=body, raw=raw) as record,
    ):
        _write(record, pieces, console)
    return Exit.DONE


def _headers(record: Record) -> Pieces:
    return [record.header.raw, record.http.raw if record.http is not None else b""]


def _whole(record: Record) -> Pieces:
    return record_pieces(record.header.raw, record.chunks())


def _write(record: Record, pieces: Callable[[Record], Pieces], console: Console) -> None:
    out = console.binary_out
    try:
        out.writelines(pieces(record))
    except Undecodable as error:
        raise MalformedRecord(
            f"{error}: leave out --decoded for the bytes as stored", offset=record.offset
        ) from error
    finally:
        out.flush()
