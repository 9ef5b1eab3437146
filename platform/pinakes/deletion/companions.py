"""Records that belong to withdrawn ones, in all files of their crawl.

    every file, once ─▶ links: which record names which ─▶ a spool, 45 bytes a link
                                                          ─▶ read until nothing more is found

Sidecars do not show all that a record names, so files are read.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import IntEnum
from struct import Struct
from typing import IO, NamedTuple

from pinakes.dedupe.write.replaced_records import records_of
from pinakes.index.beside import BESIDE_RECORDS
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.warc.field_names import (
    WARC_CONCURRENT_TO,
    WARC_REFERS_TO_KEY,
    WARC_SEGMENT_ORIGIN_ID_KEY,
)
from pinakes.warc.header import strip_brackets
from pinakes.warc.source import Source
from pinakes.warc.tombstone import withdrawn_type

_IN_MEMORY_BYTES = 1 << 24
_BATCH_LINKS = 4096
# From a capture that goes to its request, and from that to another capture.
_NEAR = 2 * BESIDE_RECORDS
_LINK = Struct("<IQB16s16s")
_NOBODY = bytes(16)
_BELONGING_TO = (WARC_REFERS_TO_KEY, WARC_SEGMENT_ORIGIN_ID_KEY)


class _Kind(IntEnum):
    CAPTURE = 0
    REQUEST = 1
    OTHER = 2


class _Link(NamedTuple):
    """A record, and one that it names; by WARC-Concurrent-To if it is a capture."""

    file: int
    ordinal: int
    kind: int
    own: bytes
    to: bytes


class _Beside(NamedTuple):
    """A request or a capture near one that goes, and what it names by WARC-Concurrent-To."""

    ordinal: int
    own: bytes
    target_uri: str | None
    date: str | None
    names: frozenset[bytes]


def find_companions(
    files: Iterable[tuple[str, Source]], going: Mapping[str, AbstractSet[int]]
) -> dict[str, set[int]]:
    """The records that belong to these of a crawl, by file: requests, metadata, conversions,
    further segments, and what belongs to such.

    Of a capture: what names it by WARC-Concurrent-To, WARC-Refers-To or WARC-Segment-Origin-ID,
    what it names by WARC-Concurrent-To, unless a capture that stays does, too, and a request that
    neither names nor is named, of its URI and next to it (`_answer_of`).  Of these: what names
    them, but requests.  A capture or warcinfo never belongs to one.  Tombstones among `going`
    count as what they stand for.

    Each file is read once.  Memory: what is found; a link of every record is spooled.
    """
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as spool:
        links = _Links(spool)
        for name, source in files:
            links.read(name, source, going.get(name, frozenset()))
        return links.found()


class _Links:
    """What names what in the files of a crawl."""

    def __init__(self, spool: IO[bytes]) -> None:
        self._spool = spool
        self._files: list[str] = []
        self._found: dict[str, set[int]] = defaultdict(set)
        self._captures: set[bytes] = set()
        self._others: set[bytes] = set()
        self._named: set[bytes] = set()
        self._nameless: list[_Link] = []

    def read(self, name: str, source: Source, going: AbstractSet[int]) -> None:
        """Note the links of a file, and the ids of what goes."""
        near = {at + by for at in going for by in range(-_NEAR, _NEAR + 1)}
        captures: list[_Beside] = []
        requests: list[_Beside] = []
        for record in records_of(source):
            stands_for = withdrawn_type(record.header)
            kind = _kind_of(stands_for or record.type)
            if kind is None:
                continue
            own = _key(record.record_id)
            to = set(map(_key, record.header.get_all(WARC_CONCURRENT_TO)))
            if record.ordinal in near and kind is not _Kind.OTHER and stands_for is None:
                beside = _Beside(
                    record.ordinal, own, record.target_uri, record.date_text, frozenset(to)
                )
                (captures if kind is _Kind.CAPTURE else requests).append(beside)
            if record.ordinal in going:
                (self._captures if kind is _Kind.CAPTURE else self._others).add(own)
                if kind is _Kind.CAPTURE:
                    self._named |= to
            elif stands_for is None:
                if kind is not _Kind.CAPTURE:
                    to |= {_key(record.header.field(key)) for key in _BELONGING_TO}
                self._note(record.ordinal, kind, own, to)
        ids = {request.own for request in requests} - {_NOBODY}
        captures = [one for one in captures if ids.isdisjoint(one.names)]  # others have theirs
        self._nameless += [
            _Link(len(self._files), request.ordinal, _Kind.REQUEST, request.own, _NOBODY)
            for request in requests
            if not request.names and _answer_of(request, captures) in going
        ]
        self._files.append(name)

    def _note(self, ordinal: int, kind: _Kind, own: bytes, to: set[bytes]) -> None:
        for one in to:
            self._spool.write(_LINK.pack(len(self._files), ordinal, kind, own, one))

    def _links(self) -> Iterator[_Link]:
        self._spool.seek(0)
        while batch := self._spool.read(_LINK.size * _BATCH_LINKS):
            yield from map(_Link._make, _LINK.iter_unpack(batch))

    def found(self) -> dict[str, set[int]]:
        """What belongs to what goes."""
        stays = self._named_by_what_stays()
        named = self._named - stays - {_NOBODY}
        captures, ids = self._captures - {_NOBODY}, self._captures | self._others
        found: set[tuple[int, int]] = set()

        def add(link: _Link) -> None:
            found.add((link.file, link.ordinal))
            ids.add(link.own)

        for request in self._nameless:
            if request.own not in stays:
                add(request)
        count = -1
        while count < len(found):
            count = len(found)
            ids.discard(_NOBODY)
            for link in self._links():
                belongs_to = captures if link.kind == _Kind.REQUEST else ids
                if link.kind != _Kind.CAPTURE and (link.to in belongs_to or link.own in named):
                    add(link)
        of_file = defaultdict(set)
        for file, ordinal in found:
            of_file[self._files[file]].add(ordinal)
        return of_file

    def _named_by_what_stays(self) -> set[bytes]:
        """Of the records that may belong to what goes by their place or by its naming them."""
        asked = self._named | {request.own for request in self._nameless}
        return {
            link.to for link in self._links() if link.kind == _Kind.CAPTURE and link.to in asked
        }


def _kind_of(record_type: str) -> _Kind | None:
    """None: it stays, regardless of what it names."""
    if record_type in CAPTURE_TYPES:
        return _Kind.CAPTURE
    if record_type == "warcinfo":
        return None
    return _Kind.REQUEST if record_type == "request" else _Kind.OTHER


def _key(record_id: str | None) -> bytes:
    plain = strip_brackets(record_id)
    if not plain:
        return _NOBODY
    if plain[:9].lower() == "urn:uuid:":  # equal in any case: RFC 8141 §3.1, RFC 9562 §4
        plain = plain.lower()
    return hashlib.blake2b(plain.encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _answer_of(request: _Beside, captures: Iterable[_Beside]) -> int | None:
    """The ordinal of the capture that a nameless request was answered by: of those next to it, of
    its URI, that name no request, one of its date before others, then the nearest."""
    beside = [
        (capture.date != request.date, abs(capture.ordinal - request.ordinal), capture.ordinal)
        for capture in captures
        if capture.target_uri == request.target_uri
        and abs(capture.ordinal - request.ordinal) <= BESIDE_RECORDS
    ]
    return min(beside)[2] if beside else None
