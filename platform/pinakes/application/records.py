"""One record, by a capture's key or its place: in the store, or in a file that is in none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.located import folder_of, open_place
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.declared import has_declared_digest, may_stand_for
from pinakes.catalog.file_records import capture_at, name_in_store
from pinakes.catalog.payloads import open_body, open_placed, open_record
from pinakes.catalog.sound_records import require_sound
from pinakes.catalog.withdrawals import require_none_at
from pinakes.dedupe.references.originals import (
    FullRecordPlace,
    Originals,
    named_by,
    names_original,
    wanted_by,
)
from pinakes.errors import (
    ConfigError,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    UnresolvedReference,
)
from pinakes.hbase_schema.capture_cells import Location
from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.ingest.inputs import LeftOut, iter_inputs
from pinakes.profile import Stores
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source


class RecordPlace(NamedTuple):
    """FILE:OFFSET, as errors and findings print it; +INNER where records share a member."""

    file: str
    offset: int
    inner_offset: int | None = None

    @property
    def inside(self) -> int:
        """Where in its member the record is, the first where nothing says so."""
        return self.inner_offset or 0


_PLACE = re.compile(r"(.+):(\d{1,18})(?:\+(\d{1,18}))?\Z", re.ASCII | re.DOTALL)


def key_or_place(text: str) -> bytes | RecordPlace:
    """The row key that a CAPTURE is, or the place that it names.

    Raises:
        ConfigError: where it is neither.
    """
    try:
        key = text.encode("ascii")
        decode_capture_key(key)
    except (MalformedRecord, UnicodeEncodeError):
        found = _PLACE.match(text)
        if found is None:
            if "://" in text:
                raise ConfigError(
                    f"{text!r} is a URL, not a capture: `pinakes timeline {shlex.quote(text)}` "
                    "lists its captures; give one as it stands at the end of a line, three words "
                    "in quotes"
                ) from None
            raise ConfigError(
                f"{text!r} is neither a CAPTURE, as `pinakes timeline URL` prints it, nor "
                "FILE:OFFSET"
            ) from None
        return RecordPlace(found[1], int(found[2]), int(found[3]) if found[3] else None)
    return key


def read_placed(stores: Stores, key: bytes) -> Placed:
    """Where a capture is now.  Raises InputRefused where there is none of this key."""
    found = get_captures(stores.rows, [key])
    placed = next(place_captures(stores.rows, found.values()), None)
    if placed is None:
        raise InputRefused("no such capture", file=key.decode("ascii"))
    return placed


# --- in the store


def key_at(stores: Stores, named: bytes | RecordPlace) -> bytes | RecordPlace:
    """The key of a capture that is named by its place; else the place, as the store has it.

    Raises:
        ConfigError: there is no such file, or more than one.
    """
    if isinstance(named, bytes):
        return named
    place = named._replace(file=name_in_store(stores.rows, stores.archive, named.file))
    return capture_at(stores.archive, *place) or place


@contextmanager
def open_at(
    stores: Stores, place: RecordPlace, *, raw: bool, head: bool = False
) -> Iterator[Record]:
    """The record at a place of the store; `raw`: whether or not it is as it landed; `head`: as
    `open_record`.

    Raises:
        InputRefused: what is there was withdrawn, or there is no such file.
        MalformedRecord: no record begins there.
        DigestMismatch: it is not as it landed.
    """
    require_none_at(stores.rows, stores.archive, place.file, place.offset, place.inside)
    location = Location(offset=place.offset, length=0, inner_offset=place.inside)
    archive, rows = stores.archive, stores.rows
    with open_record(archive, place.file, location, rows=rows, raw=raw, head=head) as record:
        yield record


@contextmanager
def open_stored(
    stores: Stores, named: bytes | RecordPlace, *, body: bool, raw: bool
) -> Iterator[Record]:
    """The record of a capture or place; with `body` that with its body, of a revisit its
    original's."""
    if isinstance(named, RecordPlace):
        place = named._replace(file=name_in_store(stores.rows, stores.archive, named.file))
        key = capture_at(stores.archive, *place) if body else None
        if key is None:
            with open_at(stores, place, raw=raw, head=not body) as record:
                yield record
            return
        named = key
    placed = read_placed(stores, named)
    rows, archive = stores.rows, stores.archive
    if body:
        opened = open_body(rows, archive, placed, raw=raw)
    else:
        opened = open_placed(rows, archive, placed, raw=raw, head=True)
    with opened as record:
        yield record


# --- in a file that is in no store


@contextmanager
def open_local(place: RecordPlace) -> Iterator[tuple[Source, Record]]:
    """The record at a place of a file, with the open file.

    Raises:
        MalformedRecord: no record begins there.
    """
    with open_place(place.file) as source:
        record = read_record(source, place.offset, inner_offset=place.inside)
        if not isinstance(record, Record) or record.offset != place.offset:
            raise MalformedRecord("no record begins here", file=place.file, offset=place.offset)
        yield source, record


@contextmanager
def open_on_disk(
    place: RecordPlace, *, body: bool, raw: bool, folder: str | None
) -> Iterator[Record]:
    """As `open_stored`; originals are looked for in `folder`, None: that of the file.

    Raises:
        UnresolvedReference: the original of a revisit is in none of its files.
        DigestMismatch: it is damaged, and so is each other that might stand for it.
    """
    with open_local(place) as (source, record):
        if not raw:
            require_sound(source, record)
        if not (body and record.type == "revisit"):
            yield record
            return
    with _original_of(record, place, folder, raw=raw) as original:
        yield original


@contextmanager
def _original_of(
    revisit: Record, place: RecordPlace, folder: str | None, *, raw: bool
) -> Iterator[Record]:
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
    folder = folder or folder_of(place.file)
    for path in _files_beside(place.file, folder):
        with open_place(path) as source:
            for record in iter_records(source, digests=()):
                if not (isinstance(record, Record) and _is_meant(record, revisit)):
                    continue
                try:
                    if not raw:
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


def _with_digest(revisit: Record, file: str, folder: str) -> FullRecordPlace | None:
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
