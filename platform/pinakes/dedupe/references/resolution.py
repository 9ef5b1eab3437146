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
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pinakes.warc.record import Record

from .outcomes import Full, Revisit, judge_at, judge_others
from .values import as_bytes, full_of, indexed_full, revisit_of

_SCHEMA = """
CREATE TABLE full (uri BLOB, second TEXT, id BLOB, declared TEXT, written TEXT, body TEXT,
                   stays INTEGER, file INTEGER);
CREATE TABLE reference (file INTEGER, ordinal INTEGER, kind TEXT, uri BLOB, second TEXT,
                        id BLOB, declared TEXT, written TEXT, body TEXT,
                        own_uri BLOB, own_second TEXT);
CREATE TABLE file (number INTEGER PRIMARY KEY, name BLOB);
"""
_INDEXES = """
CREATE INDEX IF NOT EXISTS full_by_uri ON full (uri, second);
CREATE INDEX IF NOT EXISTS full_by_declared ON full (uri, declared, stays, second);
CREATE INDEX IF NOT EXISTS full_by_id ON full (id);
"""
_FULL = "SELECT id, second, declared, written, body, stays "
_BATCH_ROWS = 2000
_CACHE_KIB = 65536


class Reference(NamedTuple):
    """One revisit, where it stands, and what became of its reference."""

    file: str
    ordinal: int
    target_uri: str
    target_second: str
    outcome: str


def reference_of(revisit: Revisit, outcome: str) -> Reference:
    """What to tell of a revisit."""
    return Reference(
        _text(revisit.name),
        revisit.ordinal,
        _text(revisit.uri or revisit.own_uri),
        revisit.second or "",
        outcome,
    )


class Resolution:
    """Collects full records and references, then tells of each reference; a context manager."""

    def __init__(self, *, temporary_folder: Path | None = None) -> None:
        # Deleted while it is open: nothing stays of it, however this process ends.
        with TemporaryDirectory(prefix="pinakes-", dir=temporary_folder) as folder:
            self._database = sqlite3.connect(f"{folder}/references")
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
        """Free what it has on disk."""
        self._database.close()

    def add_file(self, name: str) -> int:
        """See `FoundReferences`."""
        self._names += 1
        self._database.execute("INSERT INTO file VALUES (?, ?)", (self._names, as_bytes(name)))
        return self._names

    def add_full(self, record: Record, body: str, *, stays: bool) -> None:
        """See `FoundReferences`."""
        uri, full = full_of(record, body, stays=stays)
        self._add(uri, full)

    def add_indexed(
        self,
        target_uri: str | None,
        date: str | None,
        digest: str | None,
        *,
        record_id: str | None = None,
        file: int | None = None,
    ) -> None:
        """A full record as an index knows it: `digest` as it is looked up by.

        `file` is for `edges`.
        """
        uri, full = indexed_full(target_uri, date, digest, record_id)
        self._add(uri, full, file)

    def _add(self, uri: bytes | None, full: Full, file: int | None = None) -> None:
        self._full.append((uri, full.second, full.id, *full[2:], file))
        if len(self._full) >= _BATCH_ROWS:
            self._flush()

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        """See `FoundReferences`."""
        self._references.append((file, *revisit_of(record, kind, body)[:-1]))
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
        self._database.executescript(_INDEXES)
        query = (
            "SELECT ordinal, kind, uri, second, id, declared, written, body, own_uri, own_second,"
            " name FROM reference JOIN file ON number = file ORDER BY file, ordinal"
        )
        for row in self._database.execute(query):
            revisit = Revisit(*row)
            yield reference_of(revisit, self._judge(revisit))

    def edges(self) -> Iterator[tuple[str, str]]:
        """Which file refers to which: names as given to `add_file`, each pair once."""
        self._flush()
        self._database.executescript(_INDEXES)
        query = (
            "SELECT DISTINCT a.name, b.name FROM reference r"
            " JOIN full f ON f.uri = r.uri AND f.second = r.second"
            " JOIN file a ON a.number = r.file JOIN file b ON b.number = f.file"
            " WHERE r.file <> f.file ORDER BY a.name, b.name"
        )
        for name, other in self._database.execute(query):
            yield _text(name), _text(other)

    def _judge(self, revisit: Revisit) -> str:
        if revisit.uri is None:
            return judge_others(revisit, list(self._before(revisit)), [])
        outcome = judge_at(revisit, self._at(revisit.uri, revisit.second))
        return outcome or judge_others(revisit, [], self._of(revisit.uri, revisit.declared))

    def _at(self, uri: bytes | None, second: str | None) -> list[Full]:
        return self._read("FROM full WHERE uri = ? AND second = ?", uri, second)

    # One record for each answer, and one that stays first: a URI may have very many of both.

    def _of(self, uri: bytes, declared: str | None) -> list[Full]:
        return self._read(
            "FROM full INDEXED BY full_by_declared WHERE uri = ? AND declared IS ?"
            " AND second IS NOT NULL ORDER BY stays DESC LIMIT 1",
            uri,
            declared,
        )

    def _before(self, revisit: Revisit) -> Iterator[Full]:
        bounds = (revisit.own_uri, revisit.own_second or "")
        first = "uri = ? AND second <= ? AND stays = ? LIMIT 1"
        for stays in (1, 0):
            if revisit.declared is None:
                yield from self._read(f"FROM full WHERE {first}", *bounds, stays)
                continue
            for declared in (None, revisit.declared):
                source = "FROM full INDEXED BY full_by_declared WHERE declared IS ? AND "
                yield from self._read(source + first, declared, *bounds, stays)
            if revisit.id is not None:
                source = "FROM full INDEXED BY full_by_id WHERE id = ? AND "
                yield from self._read(source + first, revisit.id, *bounds, stays)

    def _read(self, source: str, *values: object) -> list[Full]:
        return [Full(*row) for row in self._database.execute(_FULL + source, values)]


def _text(blob: bytes | None) -> str:
    return "" if blob is None else blob.decode("utf-8", "surrogateescape")
