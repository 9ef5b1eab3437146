"""What is kept of each record, to check records against each other.

A private SQLite database in a temporary file: its cache bounds the memory, for any
number of records; each takes some 120 bytes of disk.  Ids and URIs are kept as 16-byte
hashes: equal hashes count as equal texts.

    record    one row per record, in the order given
    link      WARC-Concurrent-To and WARC-Warcinfo-ID, one row each
    segment   the records of segmented series, under the id of their origin
    revisit   revisits of a known profile, and what they refer to
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

from pinakes.warc.dates import format_14, parse_warc_date
from pinakes.warc.field_names import (
    WARC_CONCURRENT_TO_KEY,
    WARC_DATE_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_PROFILE_KEY,
    WARC_RECORD_ID_KEY,
    WARC_REFERS_TO_DATE_KEY,
    WARC_REFERS_TO_KEY,
    WARC_REFERS_TO_TARGET_URI_KEY,
    WARC_SEGMENT_NUMBER_KEY,
    WARC_SEGMENT_ORIGIN_ID_KEY,
    WARC_SEGMENT_TOTAL_LENGTH_KEY,
    WARC_WARCINFO_ID_KEY,
)
from pinakes.warc.header import strip_brackets

from .revisits import IDENTICAL, profile_of
from .subject import Subject
from .syntax import digits

CACHE_KIB = 1 << 15
_LARGEST = (1 << 63) - 1
_SCHEMA = """
CREATE TABLE record (
  file INT, ordinal INT, offset INT, inner INT, version TEXT, type TEXT,
  id BLOB, uri BLOB, date TEXT, second TEXT, digest TEXT);
CREATE TABLE link (
  file INT, ordinal INT, offset INT, inner INT, version TEXT, type TEXT,
  kind TEXT, target BLOB, written TEXT, date TEXT);
CREATE TABLE segment (
  file INT, ordinal INT, offset INT, inner INT, version TEXT, type TEXT,
  origin BLOB, number INT, total INT, size INT, uri BLOB, behind TEXT);
CREATE TABLE revisit (
  file INT, ordinal INT, offset INT, inner INT, version TEXT, type TEXT,
  identical INT, target BLOB, uri BLOB, names_uri INT, date TEXT, second TEXT,
  digest TEXT, own_date TEXT);
"""
_INSERTS = {
    "record": "INSERT INTO record VALUES (?,?,?,?,?,?, ?,?,?,?,?)",
    "link": "INSERT INTO link VALUES (?,?,?,?,?,?, ?,?,?,?)",
    "segment": "INSERT INTO segment VALUES (?,?,?,?,?,?, ?,?,?,?,?,?)",
    "revisit": "INSERT INTO revisit VALUES (?,?,?,?,?,?, ?,?,?,?,?,?,?,?)",
}
_INDEXES = """
CREATE INDEX record_id ON record (id, file, ordinal) WHERE id IS NOT NULL;
CREATE INDEX record_uri ON record (uri, second)
  WHERE type IN ('response', 'resource', 'revisit');
CREATE INDEX segment_origin ON segment (origin, number);
"""


class RecordColumns(NamedTuple):
    """A record's place: the columns that every table begins with."""

    file: int
    ordinal: int
    offset: int
    inner: int
    version: str | None
    type: str


class References:
    """The tables; `close` drops them.  Used by one thread.

    What exceeds `CACHE_KIB` is written to `folder`, by default the system's folder for
    temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        place = str(folder or gettempdir())
        # Deleted while it is open: nothing stays of it, however this process ends.
        with TemporaryDirectory(prefix="pinakes-check-", dir=place) as name:
            self._database = sqlite3.connect(f"{name}/references", isolation_level=None)
            # Where sorting spills; an SQLite built without this pragma ignores it.
            self._database.execute(f"PRAGMA temp_store_directory = {_quoted(place)}")
            self._database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            self._database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;"
                + _SCHEMA
            )
        self._database.execute("BEGIN")
        self._file = -1
        self._foregoing: set[str] = set()

    def close(self) -> None:
        """Drop everything."""
        self._database.execute("PRAGMA temp_store_directory = ''")
        self._database.close()

    def begin_file(self, number: int) -> None:
        """Records noted from now on are of this file."""
        self._file = number
        self._foregoing = set()

    def note(self, subject: Subject) -> None:
        """Keep what a record says about itself and about other records."""
        record = subject.record
        place = place_of(self._file, subject)
        date = subject.first(WARC_DATE_KEY)
        digest = subject.first(WARC_PAYLOAD_DIGEST_KEY)
        uri = _hash(record.target_uri)
        own = _hash(subject.uri(WARC_RECORD_ID_KEY))
        self._insert("record", place, own, uri, date, second_of(date), digest)
        for kind in (WARC_CONCURRENT_TO_KEY, WARC_WARCINFO_ID_KEY):
            for written in subject.fields.get(kind, ()):
                target = _hash(strip_brackets(written))
                self._insert("link", place, kind, target, written[:200], date)
        if subject.is_segment:
            self._note_segment(subject, place, own, uri)
        if subject.type == "revisit":
            self._note_revisit(subject, place, uri, date, digest)
        self._foregoing.add(record.type)

    def _note_segment(
        self, subject: Subject, place: RecordColumns, own: bytes | None, uri: bytes | None
    ) -> None:
        later = subject.type == "continuation"
        self._insert(
            "segment",
            place,
            _hash(subject.uri(WARC_SEGMENT_ORIGIN_ID_KEY)) if later else own,
            _number(subject.first(WARC_SEGMENT_NUMBER_KEY)),
            _number(subject.first(WARC_SEGMENT_TOTAL_LENGTH_KEY)),
            subject.record.content_length,
            uri,
            next(iter(sorted(self._foregoing - {"warcinfo"})), None),
        )

    def _note_revisit(
        self,
        subject: Subject,
        place: RecordColumns,
        uri: bytes | None,
        date: str | None,
        digest: str | None,
    ) -> None:
        profile = profile_of(subject.uri(WARC_PROFILE_KEY))
        if profile is None:
            return
        target_date = subject.first(WARC_REFERS_TO_DATE_KEY)
        target_uri = subject.uri(WARC_REFERS_TO_TARGET_URI_KEY)
        self._insert(
            "revisit",
            place,
            profile == IDENTICAL,
            _hash(subject.uri(WARC_REFERS_TO_KEY)),
            _hash(target_uri) or uri,
            target_uri is not None,
            target_date,
            second_of(target_date),
            digest,
            date,
        )

    def _insert(self, table: str, place: RecordColumns, *values: object) -> None:
        self._database.execute(_INSERTS[table], [_storable(v) for v in (*place, *values)])

    def build_indexes(self) -> None:
        """Build the indexes: after the last record and before the first query."""
        self._database.executescript(_INDEXES)

    def rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one at a time."""
        yield from self._database.execute(query, values)


def place_of(file: int, subject: Subject) -> RecordColumns:
    """The place of a record: the number of its file, and where in that."""
    record = subject.record
    return RecordColumns(
        file, record.ordinal, record.offset, record.inner_offset, subject.version, record.type
    )


def second_of(date: str | None) -> str | None:
    """A date cut to the second, 14 digits in UTC; None where it is unreadable."""
    moment = parse_warc_date(date or "")
    return format_14(moment) if moment else None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _storable(value: object) -> object:
    """SQLite refuses lone surrogates, which stand for bytes that are not UTF-8."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _number(text: str | None) -> int | None:
    return min(int(text[:18]), _LARGEST) if text and digits(text) is None else None


def _hash(text: str | None) -> bytes | None:
    if not text:
        return None
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).digest()
