"""Which references resolve: full records and references to them, joined on disk.

Memory is bounded by SQLite's cache, whatever the collection's size.  A reference that
we wrote resolves to one full record: that of its target URI and second, with its
record id, its digest as written, and the body that the replaced record had.  Of one
that others wrote only the header is known: it resolves to a full record of that URI
and second with that digest, or else, as replay tools do, to any of that URI with it;
an old one without URI and date to an earlier one of its own URI.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record

_SCHEMA = """
CREATE TABLE full (uri BLOB, second TEXT, id BLOB, declared TEXT, written TEXT, body TEXT,
                   stays INTEGER, file INTEGER);
CREATE TABLE reference (file INTEGER, ordinal INTEGER, kind TEXT, uri BLOB, second TEXT,
                        id BLOB, declared TEXT, written TEXT, body TEXT,
                        own_uri BLOB, own_second TEXT);
CREATE TABLE file (number INTEGER PRIMARY KEY, name BLOB);
"""
_INDEX = "CREATE INDEX IF NOT EXISTS full_by_uri ON full (uri, second)"
_FULL = "SELECT id, second, declared, written, body, stays FROM full"
_BATCH_ROWS = 2000
_CACHE_KIB = 65536

KEPT, REWRITTEN, RESTORED, CHECKED = "kept", "rewritten", "restored", "checked"
"""A revisit that stays as it was; one of ours that took a full record's place; one that
was turned back, and whose reference must have led to the body that is there now; one of
which nothing is known but itself, and that must resolve all the same."""


class Reference(NamedTuple):
    """One revisit, where it stands, and what became of its reference."""

    file: str
    ordinal: int
    target_uri: str
    target_second: str
    outcome: str


OUTCOMES = {
    "resolves": "the original is there, whole, and not later",
    "missing": "the original is not in this set, and was not before",
    "dangling": "the original is not in this set: give all files of the collection",
    "gone": "the original was there before, and is not any more",
    "other-body": "a record is there, but its body is another one",
    "other-record": "the record that is there has another record id",
    "other-digest": "the revisit does not carry its original's digest",
    "itself": "the reference names the revisit's own URI and second",
    "later": "the original is a later capture",
    "ambiguous": "two records of that URI and second have unequal bodies",
}
HARMLESS = frozenset({"resolves", "missing"})


class _Full(NamedTuple):
    id: bytes | None
    second: str | None
    declared: str | None
    written: str | None
    body: str | None
    stays: int


class _Revisit(NamedTuple):
    ordinal: int
    kind: str
    uri: bytes | None
    second: str | None
    id: bytes | None
    declared: str | None
    written: str | None
    body: str | None
    own_uri: bytes | None
    own_second: str | None
    name: bytes


class Resolution:
    """Collects full records and references, then tells of each reference; a context manager."""

    def __init__(self, *, temporary_folder: Path | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pinakes-", dir=temporary_folder)
        self._database = sqlite3.connect(Path(self._folder.name) / "references.sqlite")
        self._database.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-{_CACHE_KIB};"
            + _SCHEMA
        )
        self._full: list[tuple[object, ...]] = []
        self._references: list[tuple[object, ...]] = []
        self._names = 0

    def __enter__(self) -> Resolution:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what lies on disk."""
        self._database.close()
        self._folder.cleanup()

    def add_file(self, name: str) -> int:
        """A number for the file, to be given with its references."""
        self._names += 1
        self._database.execute("INSERT INTO file VALUES (?, ?)", (self._names, _blob(name)))
        return self._names

    def add_full(self, record: Record, body: str, *, stays: bool) -> None:
        """A full record; `body` is the SHA-256 of its stored body.

        `stays` is false for one that was full before and is a revisit now.
        """
        header = record.header
        declared = header.field("warc-payload-digest")
        self.add_indexed(
            record.target_uri,
            record.date,
            declared or str(record.payload_digest("sha1")),
            record_id=record.record_id,
            body=body,
            stays=stays,
        )

    def add_indexed(
        self,
        target_uri: str | None,
        date: str | None,
        digest: str | None,
        *,
        record_id: str | None = None,
        body: str | None = None,
        stays: bool = True,
        file: int | None = None,
    ) -> None:
        """A full record as an index knows it: `digest` as it is looked up by.

        `file` is for `edges`.
        """
        self._full.append(
            (
                _blob(target_uri),
                _second(date),
                _blob(record_id),
                _normal(digest),
                digest,
                body,
                stays,
                file,
            )
        )
        if len(self._full) >= _BATCH_ROWS:
            self._flush()

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        """A revisit; `body` is what its original's must be (SHA-256), None where nobody knows."""
        header = record.header
        uri = strip_brackets(header.field("warc-refers-to-target-uri"))
        digest = header.field("warc-payload-digest")
        self._references.append(
            (
                file,
                record.ordinal,
                kind,
                _blob(uri),
                _second(header.field("warc-refers-to-date")) if uri else None,
                _blob(strip_brackets(header.field("warc-refers-to"))),
                _normal(digest),
                digest,
                body,
                _blob(record.target_uri),
                _second(record.date),
            )
        )
        if len(self._references) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO full VALUES (?,?,?,?,?,?,?,?)", self._full)
        self._database.executemany(
            "INSERT INTO reference VALUES (?,?,?,?,?,?,?,?,?,?,?)", self._references
        )
        self._full.clear()
        self._references.clear()

    def outcomes(self) -> Iterator[Reference]:
        """Every reference with its outcome, by file and ordinal."""
        self._flush()
        self._database.execute(_INDEX)
        query = (
            "SELECT ordinal, kind, uri, second, id, declared, written, body, own_uri, own_second,"
            " name FROM reference JOIN file ON number = file ORDER BY file, ordinal"
        )
        for row in self._database.execute(query):
            revisit = _Revisit(*row)
            outcome = self._judge(revisit)
            yield Reference(
                _text(revisit.name),
                revisit.ordinal,
                _text(revisit.uri or revisit.own_uri),
                revisit.second or "",
                outcome,
            )

    def edges(self) -> Iterator[tuple[str, str]]:
        """Which file refers to which: names as given to `add_file`, each pair once."""
        self._flush()
        self._database.execute(_INDEX)
        query = (
            "SELECT DISTINCT a.name, b.name FROM reference r"
            " JOIN full f ON f.uri = r.uri AND f.second = r.second"
            " JOIN file a ON a.number = r.file JOIN file b ON b.number = f.file"
            " WHERE r.file <> f.file ORDER BY a.name, b.name"
        )
        for name, other in self._database.execute(query):
            yield _text(name), _text(other)

    def _judge(self, revisit: _Revisit) -> str:
        if revisit.kind == CHECKED and revisit.uri is not None:
            return self._judge_alone(revisit)
        if revisit.kind in (KEPT, CHECKED):
            return self._judge_others(revisit)
        return self._judge_ours(revisit)

    def _judge_alone(self, revisit: _Revisit) -> str:
        if (revisit.uri, revisit.second) == (revisit.own_uri, revisit.own_second):
            return "itself"
        found = self._at(revisit.uri, revisit.second)
        if not found:
            return "dangling"
        if (revisit.second or "~") > (revisit.own_second or ""):
            return "later"
        declared = {full.declared for full in found}
        return "resolves" if revisit.declared in declared else "other-digest"

    def _judge_ours(self, revisit: _Revisit) -> str:
        if (revisit.uri, revisit.second) == (revisit.own_uri, revisit.own_second):
            return "itself"
        found = self._at(revisit.uri, revisit.second)
        standing = [full for full in found if full.stays]
        equal = [full for full in standing if full.body == revisit.body]
        if not equal:
            if found:
                return "other-body" if standing else "gone"
            return "dangling" if revisit.kind == REWRITTEN else "missing"
        if len({full.body for full in found}) > 1:
            return "ambiguous"
        return _judge_details(equal, revisit)

    def _judge_others(self, revisit: _Revisit) -> str:
        if revisit.uri is None:
            found = self._before(revisit.own_uri, revisit.own_second)
        else:
            found = self._at(revisit.uri, revisit.second)
        matching = [full for full in found if _may_be_meant(full, revisit)]
        if not matching and revisit.uri is not None:
            found = self._before(revisit.uri, "~")
            matching = [full for full in found if full.declared == revisit.declared]
        if not matching:
            return "missing"
        return "resolves" if any(full.stays for full in matching) else "gone"

    def _at(self, uri: bytes | None, second: str | None) -> list[_Full]:
        query = _FULL + " WHERE uri = ? AND second = ?"
        return [_Full(*row) for row in self._database.execute(query, (uri, second))]

    def _before(self, uri: bytes | None, second: str | None) -> list[_Full]:
        query = _FULL + " WHERE uri = ? AND second <= ?"
        return [_Full(*row) for row in self._database.execute(query, (uri, second or ""))]


def _judge_details(equal: list[_Full], revisit: _Revisit) -> str:
    if (revisit.second or "~") > (revisit.own_second or ""):
        return "later"
    if revisit.id is not None and all(full.id != revisit.id for full in equal):
        return "other-record"
    if all(full.written != revisit.written for full in equal):
        return "other-digest"
    return "resolves"


def _may_be_meant(full: _Full, revisit: _Revisit) -> bool:
    """Whether a revisit, of which only the header is known, can mean this record."""
    if revisit.id is not None and full.id == revisit.id:
        return True
    return None in (revisit.declared, full.declared) or full.declared == revisit.declared


def _normal(digest: str | None) -> str | None:
    parsed = parse_digest(digest) if digest else None
    return str(parsed) if parsed else digest


def _second(date: str | None) -> str | None:
    moment = parse_date(date) if date else None
    return format_14(moment) if moment else date


def _blob(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(blob: bytes | None) -> str:
    return "" if blob is None else blob.decode("utf-8", "surrogateescape")
