"""Where the originals of a set of revisits are.

Two passes: the references that are wanted are collected first, then the full records
of the given files are looked through and the wanted ones kept.  Memory grows with the
number of references, some 300 bytes each, not with the archive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from pinakes.errors import UnresolvedReference
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.header import Header
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source


class Place(NamedTuple):
    """A full record in an archive file."""

    file: str
    offset: int
    inner_offset: int
    record_id: str | None
    payload_size: int | None
    """None where an index does not say."""


class Wanted(NamedTuple):
    """What a reference is looked up by: the target's URI and its second (14 digits)."""

    target_uri: str
    second: str


def wanted_by(header: Header) -> Wanted | None:
    """What this revisit refers to; None where it does not say by URI and date."""
    uri, written_date, _ = header.refers_to()
    date = parse_date(written_date or "")
    return Wanted(uri, format_14(date)) if uri and date else None


def place_of(name: str, record: Record) -> tuple[Wanted, Place] | None:
    """What a full record of the file `name` is looked up by, and where it is.

    None where nothing can refer to it, or it is not whole.
    """
    moment = parse_date(record.date_text or "")
    whole = all(finding.code == "member" for finding in record.findings)
    if moment is None or record.target_uri is None or not whole:
        return None
    place = Place(name, record.offset, record.inner_offset, record.record_id, record.payload_size)
    return Wanted(record.target_uri, format_14(moment)), place


class Originals:
    """Full records by the URI and second that references name them by."""

    def __init__(self) -> None:
        self._wanted: set[Wanted] = set()
        self._places: dict[Wanted, list[Place]] = defaultdict(list)

    def want(self, wanted: Wanted) -> None:
        """Ask for a record before the files are looked through."""
        self._wanted.add(wanted)

    def look_through(self, source: Source) -> None:
        """Note the wanted records of one archive file."""
        for record in iter_records(source, digests=()):
            if isinstance(record, Record) and record.type in ("response", "resource"):
                self.note(source.name, record)

    def note(self, name: str, record: Record) -> None:
        """Note a full record, if it is wanted."""
        found = place_of(name, record)
        if found is not None:
            self.note_place(*found)

    def note_place(self, wanted: Wanted, place: Place) -> None:
        """Note where a full record is said to be, if it is wanted."""
        if wanted in self._wanted:
            self._places[wanted].append(place)

    def places(self, header: Header) -> Iterable[Place]:
        """Where the original of this revisit may be, the one with its record id first.

        Raises:
            UnresolvedReference: where it is nowhere.
        """
        wanted = wanted_by(header)
        found = self._places.get(wanted, []) if wanted else []
        if not found:
            raise _missing(wanted)
        _, _, record_id = header.refers_to()
        return sorted(found, key=lambda place: place.record_id != record_id)


def _missing(wanted: Wanted | None) -> UnresolvedReference:
    if wanted is None:
        return UnresolvedReference("the revisit does not say what it refers to")
    why = "is in none of the files: name its folder with --dir"
    return UnresolvedReference(
        f"the original {wanted.target_uri} of {wanted.second} {why}", kind=f"the original {why}"
    )
