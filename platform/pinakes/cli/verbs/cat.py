"""`pinakes cat`: a record as it is stored, its headers, or its body, to standard output."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pinakes.archive_store.located import folder_of, is_at, open_place
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.declared import has_declared_digest, may_stand_for
from pinakes.catalog.file_records import capture_at, name_in_store
from pinakes.catalog.payloads import open_body, open_placed, open_record
from pinakes.catalog.sound_records import require_sound
from pinakes.catalog.withdrawals import require_none_at
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_raw, add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.captures import Place, key_or_place
from pinakes.dedupe.references.originals import (
    Originals,
    named_by,
    names_original,
    wanted_by,
)
from pinakes.dedupe.references.originals import Place as FoundPlace
from pinakes.errors import (
    ConfigError,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    UnresolvedReference,
)
from pinakes.hbase_schema.capture_cells import Location
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.profile import Stores, open_stores
from pinakes.warc.http.codings import Undecodable, decoded
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.write import record_pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class CatRequest:
    """What to write of which record."""

    payload: bool
    decoded: bool
    headers: bool
    raw: bool
    originals: str | None
    """The folder for originals of revisits on disk; None: the folder of the file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """A capture or a place in a file, and what to write of it."""
    parser.add_argument(
        "capture",
        metavar="CAPTURE",
        help="as printed by timeline, or FILE:OFFSET as printed by ls (in quotes)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--record", action="store_true", help="the whole record, uncompressed (default)"
    )
    what.add_argument("--headers", action="store_true", help="its WARC header and its HTTP head")
    what.add_argument(
        "--payload", action="store_true", help="the stored body; of a revisit, its original's"
    )
    parser.add_argument(
        "--decoded",
        action="store_true",
        help="with --payload: without chunks and codings (gzip, deflate, br, zstd)",
    )
    add_raw(parser)
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="look for the original of a revisit in the files of this folder (default: the folder "
        "of FILE)",
    )
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Bytes, and nothing else."""
    if arguments.decoded and not arguments.payload:
        raise ConfigError("--decoded needs --payload")
    if console.json:
        raise ConfigError("cat writes bytes: leave out --json (`pinakes show` has it)")
    request = CatRequest(
        payload=arguments.payload,
        decoded=arguments.decoded,
        headers=arguments.headers,
        raw=arguments.raw,
        originals=arguments.dir,
    )
    named = key_or_place(arguments.capture)
    if isinstance(named, Place) and is_at(named.file):
        with _on_disk(named, request) as record:
            _write(record, request, console)
        return Exit.DONE
    with open_stores(configuration_of(arguments)) as stores:
        if isinstance(named, Place):
            named = named._replace(file=name_in_store(stores.rows, stores.archive, named.file))
        with _in_store(stores, named, request) as record:
            _write(record, request, console)
    return Exit.DONE


def _write(record: Record, request: CatRequest, console: Console) -> None:
    out = console.binary_out
    try:
        for piece in _pieces(record, request):
            out.write(piece)
    except Undecodable as error:
        raise MalformedRecord(
            f"{error}: leave out --decoded for the bytes as stored", offset=record.offset
        ) from error
    finally:
        out.flush()


def _pieces(record: Record, request: CatRequest) -> Iterable[bytes | memoryview]:
    if request.payload:
        return decoded(record) if request.decoded else record.payload()
    if request.headers:
        return [record.header.raw, record.http.raw if record.http is not None else b""]
    return record_pieces(record.header.raw, record.chunks())


# --- in the store


@contextmanager
def _in_store(stores: Stores, named: bytes | Place, request: CatRequest) -> Iterator[Record]:
    rows, archive, raw = stores.rows, stores.archive, request.raw
    if isinstance(named, bytes):
        key = named
    else:
        found = capture_at(archive, *named) if request.payload else None
        if found is None:
            place = (named.file, named.offset, named.inner_offset or 0)
            require_none_at(rows, archive, *place)
            location = Location(offset=named.offset, length=0, inner_offset=named.inner_offset or 0)
            with open_record(archive, named.file, location, rows=rows, raw=raw) as record:
                yield record
            return
        key = found
    placed = _placed(stores, key)
    open_it = open_body if request.payload else open_placed
    with open_it(rows, archive, placed, raw=raw) as record:
        yield record


def _placed(stores: Stores, key: bytes) -> Placed:
    found = get_captures(stores.rows, [key])
    placed = next(place_captures(stores.rows, found.values()), None)
    if placed is None:
        raise InputRefused("no such capture", file=key.decode("ascii"))
    return placed


# --- on disk


@contextmanager
def _on_disk(place: Place, request: CatRequest) -> Iterator[Record]:
    with open_place(place.file) as source:
        record = read_record(source, place.offset, inner_offset=place.inner_offset or 0)
        if not isinstance(record, Record) or record.offset != place.offset:
            raise MalformedRecord("no record begins here", file=place.file, offset=place.offset)
        if not request.raw:
            require_sound(source, record)
        if not (request.payload and record.type == "revisit"):
            yield record
            return
    with _original_of(record, place, request) as original:
        yield original


@contextmanager
def _original_of(revisit: Record, place: Place, request: CatRequest) -> Iterator[Record]:
    """The full record that a revisit refers to, proven by its digest; a whole one, if any is.

    The files are read until the one that it names; if none is, once more for those that have its
    digest, of its own URI first.

    Raises:
        UnresolvedReference: where it is in none of the files.
        DigestMismatch: where it is damaged.
    """
    header, damage = revisit.header, None
    if not named_by(header):
        raise UnresolvedReference(
            "the revisit names no original: no URI and date, no record id, no digest",
            file=place.file,
            offset=place.offset,
        )
    folder = request.originals or folder_of(place.file)
    for path in _files_beside(place.file, folder):
        with open_place(path) as source:
            for record in iter_records(source, digests=()):
                if not (isinstance(record, Record) and _is_meant(record, revisit)):
                    continue
                try:
                    if not request.raw:
                        require_sound(source, record)
                except DigestMismatch as error:
                    damage = damage or error
                    continue
                yield record
                return
    wanted = wanted_by(header)
    if wanted is None:
        found = _with_digest(revisit, place.file, folder)
        if found is not None:
            with open_place(found.file) as source:
                again = read_record(source, found.offset, inner_offset=found.inner_offset)
                if isinstance(again, Record) and has_declared_digest(header.payload_digest, again):
                    yield again
                    return
    what = f", {wanted.target_uri} of {wanted.second}," if wanted else f" ({header.payload_digest})"
    raise damage or UnresolvedReference(
        f"its original{what} is not among the files of {folder}: say where with --dir",
        file=place.file,
        offset=place.offset,
    )


def _with_digest(revisit: Record, file: str, folder: str) -> FoundPlace | None:
    """Where the likeliest record is that the digest of a revisit may mean."""
    originals = Originals()
    originals.want(*named_by(revisit.header))
    for path in _files_beside(file, folder):
        with open_place(path) as source:
            originals.look_through(source)
    return next(originals.places_meant(revisit.header), None)


def _files_beside(file: str, folder: str) -> Iterator[str]:
    """The file itself, then the others of the folder."""
    others = (found.place for found in iter_inputs([folder], LeftOut()))
    return chain([file], (place for place in others if Path(place) != Path(file)))


def _is_meant(record: Record, revisit: Record) -> bool:
    return (
        record.type in ("response", "resource")
        and names_original(revisit.header, record)
        and may_stand_for(revisit.header.payload_digest, record)
    )
