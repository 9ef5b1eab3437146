"""Where the originals of a set of revisits are.

Two passes: the references that are wanted are collected first, then the full records
of the given files are looked through and the wanted ones kept.  Memory grows with the
number of references, some 300 bytes each, not with the archive.

A revisit of ours names its original by URI and second.  One by a crawler may name it by these, by
its record id alone (ISO 28500:2009 §6.7.2), or by nothing but the digest of its payload.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pinakes.errors import UnresolvedReference
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.header import Header
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .values import FULL_TYPES, digest_of, normal_digest

_MOST_PLACES = 64


class FullRecordPlace(NamedTuple):
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


class WithId(NamedTuple):
    """A full record by its id, without brackets."""

    record_id: str


class WithDigest(NamedTuple):
    """A full record by its payload digest, in our spelling, and its URI; None: of any URI."""

    digest: str
    target_uri: str | None


Name = Wanted | WithId | WithDigest


def wanted_by(header: Header) -> Wanted | None:
    """What this revisit refers to; None where it does not say by URI and date."""
    uri, written_date, _ = header.refers_to()
    date = parse_date(written_date or "")
    return Wanted(uri, format_14(date)) if uri and date else None


def named_by(header: Header) -> list[Name]:
    """By what the original of a crawler's revisit may be found, the surest first."""
    uri, _, record_id = header.refers_to()
    found: list[Name] = []
    wanted = wanted_by(header)
    if wanted is not None:
        found.append(wanted)
    if record_id:
        found.append(WithId(record_id))
    digest = parse_digest(header.payload_digest or "")
    if digest is not None:
        own = uri or header.outline()[0]
        found += [WithDigest(str(digest), one) for one in dict.fromkeys((own, None))]
    return found


def sure_names(header: Header) -> tuple[Name, ...]:
    """By which of these the original of a revisit is that record, and no other's: URI and second;
    else its id, or its digest at the URI of the revisit."""
    wanted = wanted_by(header)
    if wanted is not None:
        return (wanted,)
    named = named_by(header)
    return tuple(name for name in named if not isinstance(name, WithDigest) or name.target_uri)


def names_of(record: Record) -> set[Name]:
    """By what revisits may name a full record: its digest as declared, else its SHA-1.

    None of one that is not whole.
    """
    found = place_of("", record)
    if found is None:
        return set()
    names: set[Name] = {found[0]}
    if record.record_id is not None:
        names.add(WithId(record.record_id))
    digest = normal_digest(digest_of(record))
    if digest is not None:
        names.add(WithDigest(digest, record.target_uri))
    return names


def names_original(header: Header, original: Record) -> bool:
    """Whether a revisit says by URI and second, or by id, that it means this record."""
    _, _, record_id = header.refers_to()
    if record_id is not None and record_id == original.record_id:
        return True
    found = place_of("", original)
    return found is not None and found[0] == wanted_by(header)


def place_of(name: str, record: Record) -> tuple[Wanted, FullRecordPlace] | None:
    """What a full record of the file `name` is looked up by, and where it is.

    None where nothing can refer to it, or it is not whole.
    """
    moment = parse_date(record.date_text or "")
    whole = all(finding.code == "member" for finding in record.findings)
    if moment is None or record.target_uri is None or not whole:
        return None
    place = FullRecordPlace(
        name, record.offset, record.inner_offset, record.record_id, record.payload_size
    )
    return Wanted(record.target_uri, format_14(moment)), place


class _Found(NamedTuple):
    second: str
    place: FullRecordPlace


class Originals:
    """Full records by what references name them by."""

    def __init__(self) -> None:
        self._wanted: set[Name] = set()
        self._algorithms: set[str] = set()
        self._places: dict[Name, list[_Found]] = defaultdict(list)

    def want(self, *wanted: Name) -> None:
        """Ask for a record before the files are looked through."""
        self._wanted.update(wanted)
        self._algorithms.update(
            name.digest.partition(":")[0] for name in wanted if isinstance(name, WithDigest)
        )

    def look_through(self, source: Source) -> None:
        """Note the wanted records of one archive file.

        Bodies are hashed where a digest is wanted: what a record declares may be that of another.
        """
        for record in iter_records(source, digests=sorted(self._algorithms)):
            if isinstance(record, Record) and record.type in FULL_TYPES:
                self.note(source.name, record)

    def note(self, name: str, record: Record) -> None:
        """Note a full record, if it is wanted."""
        found = place_of(name, record)
        if found is None:
            return
        wanted, place = found
        self.note_place(wanted, place)
        if place.record_id is not None:
            self.note_place(WithId(place.record_id), place, wanted.second)
        for digest in self._digests_of(record):
            self.note_digest(digest, wanted, place)

    def _digests_of(self, record: Record) -> Iterator[str]:
        """Those by which revisits may mean it: declared, and computed."""
        if not self._algorithms:
            return
        digests = {parse_digest(record.header.payload_digest or "")}
        for algorithm in self._algorithms:
            digests |= {record.payload_digest(algorithm), record.dechunked_digest(algorithm)}
        yield from sorted(str(digest) for digest in digests if digest is not None)

    def note_digest(self, digest: str, wanted: Wanted, place: FullRecordPlace) -> None:
        """Note a full record by its digest, in our spelling."""
        for uri in (wanted.target_uri, None):
            self.note_place(WithDigest(digest, uri), place, wanted.second)

    def note_place(self, wanted: Name, place: FullRecordPlace, second: str | None = None) -> None:
        """Note where a full record is said to be, if it is wanted.

        `second` is when it was captured.  Of those of one digest the latest are kept.
        """
        if wanted not in self._wanted:
            return
        if second is None:
            second = wanted.second if isinstance(wanted, Wanted) else ""
        places = self._places[wanted]
        places.append(_Found(second, place))
        if isinstance(wanted, WithDigest) and len(places) > 2 * _MOST_PLACES:
            places.sort(key=lambda found: found.second)
            del places[1:-_MOST_PLACES]

    def places(self, header: Header) -> Iterable[FullRecordPlace]:
        """Where the original of this revisit may be: at the URI and second that it names, the one
        with its record id first.

        Raises:
            UnresolvedReference: where it is nowhere.
        """
        wanted = wanted_by(header)
        found = self._places.get(wanted, []) if wanted else []
        if not found:
            raise _missing(wanted)
        _, _, record_id = header.refers_to()
        places = (one.place for one in found)
        return sorted(places, key=lambda place: place.record_id != record_id)

    def places_meant(self, header: Header) -> Iterator[FullRecordPlace]:
        """Where the original of a crawler's revisit may be, by all that it says: the surest first,
        and of one digest the latest, none later than the revisit."""
        moment = parse_date(header.outline()[1] or "")
        own = format_14(moment) if moment is not None else "~"
        _, _, record_id = header.refers_to()
        seen = set()
        for name in named_by(header):
            found = [one for one in self._places.get(name, ()) if one.second <= own]
            found.sort(key=lambda one: one.second, reverse=True)
            for _, place in sorted(found, key=lambda one: one.place.record_id != record_id):
                if place[:3] not in seen:
                    seen.add(place[:3])
                    yield place


def _missing(wanted: Wanted | None) -> UnresolvedReference:
    if wanted is None:
        return UnresolvedReference("the revisit does not say what it refers to")
    why = "is in none of the files: name its folder with --dir"
    return UnresolvedReference(
        f"the original {wanted.target_uri} of {wanted.second} {why}", kind=f"the original {why}"
    )
