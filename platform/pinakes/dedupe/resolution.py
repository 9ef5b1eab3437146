"""Which references resolve: full records and references to them, joined on disk.

Memory is bounded by SQLite's cache, whatever the collection's size.  A reference
resolves to a full record of its target URI and second, with its record id where it
names one, and with the payload that is expected of it; an old one without URI and
date to the latest earlier full record of its own URI with its digest.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record

_SCHEMA = """
CREATE TABLE full (uri BLOB, second TEXT, id BLOB, file INTEGER, ordinal INTEGER,
                   declared TEXT, body TEXT, size INTEGER, stays INTEGER);
CREATE TABLE reference (uri BLOB, second TEXT, id BLOB, file INTEGER, ordinal INTEGER,
                        declared TEXT, body TEXT, own_uri BLOB, own_second TEXT, ours INTEGER);
CREATE TABLE file (number INTEGER PRIMARY KEY, name BLOB);
"""
_INDEX = "CREATE INDEX full_by_uri ON full (uri, second)"
_BATCH_ROWS = 2000
_CACHE_KIB = 65536


class Reference(NamedTuple):
    """One revisit, where it stands, and what became of its reference."""

    file: str
    ordinal: int
    target_uri: str
    target_second: str
    outcome: str


OUTCOMES = {
    "resolves": "the original is there, whole, and not later",
    "gone": "the original was there before, and is not any more",
    "missing": "the original is not in this set, and was not before",
    "other-body": "a record is there, but its body is another one",
    "itself": "the reference names the revisit's own URI and second",
    "later": "the original is a later capture",
    "ambiguous": "two records of that URI and second have unequal bodies",
}
HARMLESS = frozenset({"resolves", "missing"})


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()
        self._folder.cleanup()

    def add_file(self, name: str) -> int:
        """A number for the file, to be given with its records."""
        self._names += 1
        self._database.execute("INSERT INTO file VALUES (?, ?)", (self._names, _blob(name)))
        return self._names

    def add_full(self, file: int, record: Record, body: str, *, stays: bool) -> None:
        """A full record; `body` stands for its stored body (a SHA-256, say).

        `stays` is false for one that was full before and is a revisit now.
        """
        self._full.append(
            (
                _blob(record.target_uri),
                _second(record.date),
                _blob(record.record_id),
                file,
                record.ordinal,
                _declared(record),
                body,
                record.payload_size,
                stays,
            )
        )
        if len(self._full) >= _BATCH_ROWS:
            self._flush()

    def add_reference(self, file: int, record: Record, body: str | None) -> None:
        """A revisit; `body` is what its original's must be, None where nobody knows."""
        header = record.header
        uri = strip_brackets(header.get("WARC-Refers-To-Target-URI"))
        self._references.append(
            (
                _blob(uri),
                _second(header.get("WARC-Refers-To-Date")) if uri else None,
                _blob(strip_brackets(header.get("WARC-Refers-To"))),
                file,
                record.ordinal,
                _declared(record),
                body,
                _blob(record.target_uri),
                _second(record.date),
                body is not None,
            )
        )
        if len(self._references) >= _BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        self._database.executemany("INSERT INTO full VALUES (?,?,?,?,?,?,?,?,?)", self._full)
        self._database.executemany(
            "INSERT INTO reference VALUES (?,?,?,?,?,?,?,?,?,?)", self._references
        )
        self._full.clear()
        self._references.clear()

    def outcomes(self) -> Iterator[Reference]:
        """Every reference with its outcome, by file and ordinal."""
        self._flush()
        self._database.execute(_INDEX)
        query = "SELECT r.*, f.name FROM reference r JOIN file f ON f.number = r.file"
        for row in self._database.execute(query + " ORDER BY r.file, r.ordinal"):
            uri, second, record_id, _, ordinal, declared, body, own_uri, own_second, _, name = row
            wanted = (uri, second) if uri is not None else (own_uri, None)
            candidates = self._candidates(wanted[0], wanted[1], own_second)
            outcome = _judge(
                candidates,
                record_id=record_id,
                declared=declared,
                body=body,
                own=(own_uri, own_second),
                wanted=(uri, second),
            )
            yield Reference(_text(name), ordinal, _text(wanted[0]), second or "", outcome)

    def _candidates(
        self, uri: bytes | None, second: str | None, before: str | None
    ) -> list[tuple[bytes | None, str, str | None, str, bool]]:
        columns = "SELECT id, second, declared, body, stays FROM full WHERE uri = ?"
        if second is not None:
            return self._database.execute(columns + " AND second = ?", (uri, second)).fetchall()
        return self._database.execute(columns + " AND second <= ?", (uri, before or "")).fetchall()


def _judge(
    candidates: Iterable[tuple[bytes | None, str, str | None, str, bool]],
    *,
    record_id: bytes | None,
    declared: str | None,
    body: str | None,
    own: tuple[bytes | None, str | None],
    wanted: tuple[bytes | None, str | None],
) -> str:
    if wanted[0] is not None and wanted == own:
        return "itself"
    found = list(candidates)
    if not found:
        return "missing"
    if body is not None:
        standing = [c for c in found if c[4]]
        equal = [c for c in standing if c[3] == body]
        if equal:
            if len({c[3] for c in found}) > 1:
                return "ambiguous"
            return "later" if (equal[0][1] or "") > (own[1] or "") else "resolves"
        return "other-body" if standing else "gone"
    matching = [c for c in found if _may_be_meant(c, record_id, declared)]
    if not matching:
        return "missing"
    return "resolves" if any(c[4] for c in matching) else "gone"


def _may_be_meant(
    candidate: tuple[bytes | None, str, str | None, str, bool],
    record_id: bytes | None,
    declared: str | None,
) -> bool:
    """Whether an old revisit, of which only its header is known, can mean this record."""
    if record_id is not None and candidate[0] == record_id:
        return True
    return declared is None or candidate[2] is None or candidate[2] == declared


def _declared(record: Record) -> str | None:
    text = record.header.get("WARC-Payload-Digest")
    digest = parse_digest(text) if text else None
    return str(digest) if digest else text


def _second(date: str | None) -> str | None:
    moment = parse_date(date) if date else None
    return format_14(moment) if moment else date


def _blob(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(blob: bytes | None) -> str:
    return "" if blob is None else blob.decode("utf-8", "surrogateescape")
