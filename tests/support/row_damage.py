"""Damages by hand of a store's rows and sidecars, by kind; and what puts them right again.

A damage changes the SQL tables, or a file, without the code under test.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pinakes.catalog.sidecar import SidecarRow, read_sidecar, write_sidecar

TABLES = ("captures", "digests", "files", "crawls", "runs", "inflight")
Cell = tuple[bytes, bytes, int, bytes]
Content = dict[str, dict[tuple[bytes, bytes], bytes]]
_OF_FSCK = (b"l:claim",)
"""What every act on a file changes."""


class Harmed:
    """A store whose rows and files are changed by hand; knows how they were."""

    def __init__(self, store: Path, random: Random) -> None:
        self.archive = store / "archive"
        self.random = random
        self._path = store / "rows.sqlite"
        self._cells: list[tuple[str, bytes, list[Cell]]] = []
        self._files: list[tuple[Path, bytes]] = []

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._path)
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def content(self) -> Content:
        """The newest value of every cell, without claims."""
        found: Content = {}
        with self._open() as connection:
            for table in TABLES:
                cells = connection.execute(f"SELECT row, col, value FROM {table} ORDER BY ts")
                found[table] = {(r, c): v for r, c, v in cells if c not in _OF_FSCK}
        return found

    def cells(self, table: str, like: str, *, row: str = "%") -> list[Cell]:
        """The newest cells of columns like this, in rows like this."""
        with self._open() as connection:
            cells = connection.execute(
                f"SELECT row, col, max(ts), value FROM {table}"
                " WHERE CAST(col AS TEXT) LIKE ? AND CAST(row AS TEXT) LIKE ?"
                " GROUP BY row, col ORDER BY row, col",
                (like, row),
            ).fetchall()
        return [tuple(cell) for cell in cells]  # type: ignore[misc]

    def one(
        self,
        table: str,
        like: str,
        *,
        row: str | tuple[str, ...] = "%",
        fits: Callable[[dict], bool] | None = None,
    ) -> Cell:
        """One of the cells, drawn."""
        rows = (row,) if isinstance(row, str) else row
        cells = [cell for one in rows for cell in self.cells(table, like, row=one)]
        if fits is not None:
            cells = [cell for cell in cells if fits(json.loads(cell[3]))]
        return self.random.choice(cells)

    def _keep(self, table: str, row: bytes) -> None:
        with self._open() as connection:
            cells = connection.execute(
                f"SELECT row, col, ts, value FROM {table} WHERE row = ?", (row,)
            ).fetchall()
        self._cells.append((table, row, cells))

    def put(self, table: str, row: bytes, column: bytes, value: bytes, ts: int = 1000) -> None:
        """Write a cell over all that was there of it."""
        self._keep(table, row)
        with self._open() as connection:
            connection.execute(f"DELETE FROM {table} WHERE row = ? AND col = ?", (row, column))
            connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (row, column, ts, value))

    def change(self, table: str, cell: Cell, **fields: object) -> None:
        """Give fields of a cell other values."""
        row, column, ts, value = cell
        content = json.loads(value)
        for name, new in fields.items():
            content[name] = new
        self.put(table, row, column, _encoded(content), ts)

    def spoil(self, table: str, cell: Cell) -> None:
        """Make a cell unreadable."""
        row, column, ts, value = cell
        spoilt = self.random.choice([value[:-1], b"", b"\xff" + value, b'{"v":1,"what":1}', b"[]"])
        self.put(table, row, column, spoilt, ts)

    def drop(self, table: str, row: bytes, column: bytes | None = None) -> None:
        """Delete a cell, or a row, as if it had never been."""
        self._keep(table, row)
        with self._open() as connection:
            if column is None:
                connection.execute(f"DELETE FROM {table} WHERE row = ?", (row,))
            else:
                connection.execute(f"DELETE FROM {table} WHERE row = ? AND col = ?", (row, column))

    def write(self, path: Path, data: bytes | None) -> None:
        """Give a file other bytes, or delete it."""
        self._files.append((path, path.read_bytes()))
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)

    def change_sidecar(
        self,
        change: Callable[[list[SidecarRow]], list[SidecarRow]],
        fits: Callable[[list[SidecarRow]], bool] = lambda rows: len(rows) > 2,
    ) -> None:
        """Write the sidecar of a current generation, with rows that fit, with others."""
        paths = [path for path in self.sidecars() if fits(list(read_sidecar(str(path))))]
        path = self.random.choice(paths)
        rows = change(list(read_sidecar(str(path))))
        old = path.read_bytes()
        with path.open("wb") as file:
            write_sidecar(file, rows)
        self._files.append((path, old))

    def sidecars(self) -> list[Path]:
        """Those of current generations."""
        return [_sidecar(self.archive / name) for name in self.current()]

    def current(self) -> list[str]:
        """The stored files that readers use."""
        found = []
        for row, _, _, value in self.cells("files", "l:generation"):
            crawl, _, path = row.decode().partition("/")
            number = json.loads(value)["generation"]
            found.append(f"{crawl}/{path}" if number == 1 else f"{crawl}/g{number}/{path}")
        return found

    def put_back(self) -> None:
        """Put all that was damaged right again, as a person would from a copy."""
        for path, data in reversed(self._files):
            path.write_bytes(data)
        with self._open() as connection:
            for table, row, cells in reversed(self._cells):
                connection.execute(
                    f"DELETE FROM {table} WHERE row = ? AND col <> ?", (row, b"l:claim")
                )
                kept = [cell for cell in cells if cell[1] != b"l:claim"]
                connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", kept)


def _sidecar(path: Path) -> Path:
    return path.with_name(f"{path.name}.sidecar.parquet")


def _encoded(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of damage: does one, and what `fsck --full` has to say of it.

    `is_mended`: what `--repair` leaves is as it was.  Without it the damage is named for ever, and
    left as it is.  `left` are columns in which what is mended may be other than it was: the
    catalogue alone knew.  `loses_place`: so with where a record lay in a generation that is gone.
    """

    damage: Callable[[Harmed], None]
    codes: frozenset[str]
    is_mended: bool = True
    left: tuple[bytes, ...] = ()
    loses_place: bool = False

    def told(self, content: Content) -> Content:
        """What has to be as it was."""
        gone = _places_gone(content) if self.loses_place else frozenset()
        return {
            table: {
                place: self._told(place[1], value)
                for place, value in cells.items()
                if place[1] not in self.left and place not in gone
            }
            for table, cells in content.items()
        }

    def _told(self, column: bytes, value: bytes) -> bytes:
        if not self.loses_place or column != b"m:capture":
            return value
        names = ("offset", "length", "inner_offset")
        return _encoded({k: v for k, v in json.loads(value).items() if k not in names})


def _places_gone(content: Content) -> frozenset[tuple[bytes, bytes]]:
    """Locations in generations that an act deleted: nothing can tell them again."""
    dropped = {
        (row, column.rpartition(b".")[2])
        for (row, column), value in content["files"].items()
        if column.startswith(b"f:generation.") and json.loads(value).get("dropped")
    }
    captures = content["captures"]
    return frozenset(
        (row, b"m:location." + number)
        for (row, column), value in captures.items()
        if column == b"m:capture"
        for name, number in dropped
        if json.loads(value)["filename"].encode() == name
    )


def _field(table: str, like: str, name: str, value: object, **where: object) -> Callable:
    def damage(store: Harmed) -> None:
        cell = store.one(table, like, **where)  # type: ignore[arg-type]
        old = json.loads(cell[3]).get(name)
        new = value(store.random, old) if callable(value) else value
        assert new != old
        store.change(table, cell, **{name: new})

    return damage


def _spoilt(table: str, like: str, **where: object) -> Callable:
    return lambda store: store.spoil(table, store.one(table, like, **where))


def _dropped(table: str, like: str, **where: object) -> Callable:
    def damage(store: Harmed) -> None:
        row, column, _, _ = store.one(table, like, **where)  # type: ignore[arg-type]
        store.drop(table, row, column)

    return damage


def _row_dropped(table: str, like: str, **where: object) -> Callable:
    def damage(store: Harmed) -> None:
        store.drop(table, store.one(table, like, **where)[0])  # type: ignore[arg-type]

    return damage


def _more(random: Random, old: object) -> object:
    number = int(str(old)) + random.choice([-1, 1, 7])
    number = number if number >= 0 else 1
    return str(number) if isinstance(old, str) else number


def _text(random: Random, old: object) -> str:
    return f"{old}{random.randrange(10)}"


def _another_file(random: Random, old: object) -> str:
    return random.choice([name for name in _FILES if name != old])


_FILES = ("c1/part-0.warc.gz", "c1/part-1.warc.gz", "c2/part-0.warc.gz", "c2/part-1.warc.gz")


def _is_landed(cell: dict) -> bool:
    """Of no capture that was withdrawn, of which cells tell what no sidecar does."""
    return cell["url"] != WITHDRAWN


def _is_full(cell: dict) -> bool:
    return _is_landed(cell) and cell["type"] == "response"


_KEPT = tuple(f"%example)/{number} 2022%" for number in (1, 5, 7, 11))
"""Pages of a file of which no generation was dropped."""
_WHOLE = ("c1/%", "c2/part-1%", "c5/%")
"""Files without withdrawn records, whose types only the catalogue has."""
WITHDRAWN = "http://example.org/0"
"""A page of which one capture is withdrawn."""


def _other_original(store: Harmed) -> None:
    cell = store.one("captures", "d:dedupe", fits=lambda mark: "refers_to_key" in mark)
    keys = [row.decode() for row, *_ in store.cells("captures", "d:pin")]
    own = json.loads(cell[3])["refers_to_key"]
    other = store.random.choice([key for key in keys if key != own])
    store.change("captures", cell, refers_to_key=other)


def _mark_of_nothing(store: Harmed) -> None:
    marked = {row for row, *_ in store.cells("captures", "d:dedupe")}
    plain = [cell for cell in store.cells("captures", "m:capture") if cell[0] not in marked]
    row, _, ts, _ = store.random.choice([cell for cell in plain if _is_landed(json.loads(cell[3]))])
    mark = {"v": 1, "run": "dedupe-9", "hash_extension": 0, "copy_number": 1}
    store.put("captures", row, b"d:dedupe", _encoded(mark), ts)


def _invented_capture(store: Harmed) -> None:
    row, column, ts, value = store.one("captures", "m:capture", fits=_is_landed)
    content = json.loads(value)
    second = store.random.randrange(10, 60)
    new = row[: row.index(b" ")] + b" 203101010101%02d000 " % second + b"AAAAAAA%d" % 7
    content["ordinal"] = store.random.choice([content["ordinal"], 9999])
    store.put("captures", new, column, _encoded(content), ts)


def _invented_unreadable(store: Harmed) -> None:
    row, column, ts, value = store.one("captures", "m:capture")
    store.put("captures", row[:-8] + b"AAAAAAA7", column, value[:-2], ts)


def _cells_alone(store: Harmed) -> None:
    row, _, ts, _ = store.one("captures", "m:capture")
    store.put("captures", row[:-8] + b"AAAAAAA7", b"x:view", b'{"v":1}', ts)


def _extra_cell(column: bytes, value: bytes) -> Callable:
    def damage(store: Harmed) -> None:
        row, _, ts, _ = store.one("captures", "m:capture")
        store.put("captures", row, column, value, ts)

    return damage


def _other_capture(store: Harmed) -> None:
    cell = store.one("digests", "r:capture")
    key = store.random.choice(store.cells("captures", "m:capture"))[0].decode()
    if json.loads(cell[3])["capture_key"] == key:
        key += "x"
    store.change("digests", cell, capture_key=key)


def _invented_digest(store: Harmed) -> None:
    row, column, ts, value = store.one("digests", "r:capture", row="%:sha%")
    parts = row.split(b":")
    place = store.random.choice([2, 3, 4, 6])
    parts[place] = {
        2: parts[2][::-1] if parts[2] != parts[2][::-1] else b"00" * (len(parts[2]) // 2),
        3: b"%d" % (int(parts[3]) + 1),
        4: b"20310101010101",
        6: b"0000009999",
    }[place]
    store.put("digests", b":".join(parts), column, value, ts)


def _malformed_digest(store: Harmed) -> None:
    row, column, ts, value = store.one("digests", "r:capture")
    store.put("digests", row[:-3] + b"abc", column, value, ts)


def _sidecar_field(name: str, value: Callable[[Random, object], object]) -> Callable:
    def fitting(rows: list[SidecarRow]) -> list[SidecarRow]:
        return [row for row in rows if getattr(row, name) is not None and row.skip is None]

    def damage(store: Harmed) -> None:
        def change(rows: list[SidecarRow]) -> list[SidecarRow]:
            chosen = store.random.choice(fitting(rows))
            new = value(store.random, getattr(chosen, name))
            return [row._replace(**{name: new}) if row is chosen else row for row in rows]

        store.change_sidecar(change, fits=lambda rows: bool(fitting(rows)))

    return damage


def _sidecar_rows(change: Callable[[Random, list[SidecarRow]], list[SidecarRow]]) -> Callable:
    return lambda store: store.change_sidecar(lambda rows: change(store.random, rows))


def _without_one(random: Random, rows: list[SidecarRow]) -> list[SidecarRow]:
    at = random.randrange(len(rows))
    return rows[:at] + rows[at + 1 :]


def _with_one_more(random: Random, rows: list[SidecarRow]) -> list[SidecarRow]:
    return [*rows, rows[-1]._replace(ordinal=rows[-1].ordinal + 1)]


def _swapped(random: Random, rows: list[SidecarRow]) -> list[SidecarRow]:
    at = random.randrange(len(rows) - 1)
    return [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]]


def _bytes_changed(random: Random, old: object) -> bytes:
    assert isinstance(old, bytes)
    at = random.randrange(len(old))
    return old[:at] + bytes([old[at] ^ 1]) + old[at + 1 :]


def _lost_generation(store: Harmed) -> None:
    files = [
        path
        for path in store.archive.rglob("*.warc.gz")
        if f"{path.relative_to(store.archive)}" not in store.current()
    ]
    path = store.random.choice(sorted(files))
    store.write(_sidecar(path), None)
    store.write(path, None)


def _counted(random: Random, old: object) -> object:
    assert isinstance(old, dict)
    name = random.choice(sorted(old))
    return {**old, name: old[name] + 1}


def _kind(codes: str, damage: Callable, **more: object) -> Kind:
    return Kind(damage=damage, codes=frozenset(codes.split()), **more)  # type: ignore[arg-type]


_MARKED = {"fits": lambda mark: "refers_to_key" in mark}
_HEX = {"fits": _is_full}
# They name the act that wrote them.
_OF_STATE = (b"l:state", b"l:generation")
KINDS: dict[str, Kind] = {
    "mark gone": _kind("cell", _dropped("captures", "d:dedupe", **_MARKED)),
    "mark names another original": _kind("cell", _other_original),
    "mark names another URI": _kind(
        "cell", _field("captures", "d:dedupe", "refers_to_target_uri", _text, **_MARKED)
    ),
    "mark of another number": _kind(
        "cell", _field("captures", "d:dedupe", "copy_number", _more, **_MARKED)
    ),
    "mark unreadable": _kind("cell", _spoilt("captures", "d:dedupe", **_MARKED)),
    "mark invented": _kind("invented", _mark_of_nothing),
    "pin gone": _kind("pin-missing", _dropped("captures", "d:pin"), left=(b"d:pin",)),
    "pin unreadable": _kind("cell pin-missing", _spoilt("captures", "d:pin"), left=(b"d:pin",)),
    "url": _kind("cell", _field("captures", "m:capture", "url", _text, fits=_is_landed)),
    "status": _kind("cell", _field("captures", "m:capture", "status", _more, fits=_is_full)),
    "digest": _kind("cell", _field("captures", "m:capture", "digest", _text, fits=_is_full)),
    "mime": _kind("cell", _field("captures", "m:capture", "mime", _text, fits=_is_landed)),
    "date": _kind("cell", _field("captures", "m:capture", "date", _text, fits=_is_landed)),
    "file": _kind("cell", _field("captures", "m:capture", "filename", _text, fits=_is_landed)),
    "another file": _kind(
        "cell",
        _field(
            "captures",
            "m:capture",
            "filename",
            lambda random, old: (
                "c1/part-0.warc.gz" if old != "c1/part-0.warc.gz" else "c2/part-0.warc.gz"
            ),
            fits=_is_landed,
        ),
    ),
    "size": _kind("cell", _field("captures", "m:capture", "payload_size", _more, **_HEX)),
    "sha256": _kind("cell", _field("captures", "m:capture", "payload_sha256", _text, **_HEX)),
    "type": _kind("cell", _field("captures", "m:capture", "type", _text, fits=_is_landed)),
    "ordinal": _kind("cell", _field("captures", "m:capture", "ordinal", _more, fits=_is_landed)),
    "record id": _kind(
        "cell", _field("captures", "m:capture", "record_id", _text, fits=_is_landed)
    ),
    "offset": _kind(
        "location", _field("captures", "m:capture", "offset", _more, row="%example)/1 2021%")
    ),
    "capture unreadable": _kind(
        "cell", _spoilt("captures", "m:capture", fits=_is_landed), loses_place=True
    ),
    "capture gone, its cells left": _kind(
        "rows-missing", _dropped("captures", "m:capture", fits=_is_landed), loses_place=True
    ),
    "row gone": _kind(
        "rows-missing",
        _row_dropped("captures", "m:capture", fits=_is_landed),
        left=(b"d:pin",),
        loses_place=True,
    ),
    "row invented": _kind("invented", _invented_capture),
    "row invented, unreadable": _kind("invented", _invented_unreadable),
    "cells of no capture": _kind("invented", _cells_alone),
    "location": _kind("location", _field("captures", "m:location.%", "offset", _more, row=_KEPT)),
    "location unreadable": _kind("cell", _spoilt("captures", "m:location.%", row=_KEPT)),
    "location gone": _kind("location", _dropped("captures", "m:location.%", row=_KEPT)),
    "location invented": _kind(
        "invented", _extra_cell(b"m:location.99", b'{"v":2,"offset":1,"length":2}')
    ),
    "column invented": _kind("invented", _extra_cell(b"m:more", b"{}")),
    "view unreadable": _kind("cell", _extra_cell(b"x:view", b"{")),
    "verdict unreadable": _kind("cell", _extra_cell(b"q:verdict", b"")),
    "withdrawal gone": _kind(
        "rows-missing", _dropped("captures", "m:withdrawn"), left=(b"m:withdrawn",)
    ),
    "withdrawal unreadable": _kind("cell", _spoilt("captures", "m:withdrawn"), is_mended=False),
    "digest gone": _kind("rows-missing", _row_dropped("digests", "r:capture")),
    "digest unreadable": _kind("cell", _spoilt("digests", "r:capture")),
    "digest of another capture": _kind("cell", _other_capture),
    "digest of another body": _kind("cell", _field("digests", "r:capture", "body", "dechunked")),
    "digest invented": _kind("invented", _invented_digest),
    "digest with a bad key": _kind("invented", _malformed_digest),
    "facts": _kind("facts", _field("files", "f:facts", "captures", _more), left=()),
    "facts by type": _kind("facts", _field("files", "f:facts", "records", _counted, row=_WHOLE)),
    "facts unreadable": _kind(
        "unreadable-row facts", _spoilt("files", "f:facts", row=_WHOLE), left=(b"f:facts",)
    ),
    "facts gone": _kind(
        "unreadable-row facts", _dropped("files", "f:facts", row=_WHOLE), left=(b"f:facts",)
    ),
    "first generation unreadable": _kind(
        "unreadable-row facts", _spoilt("files", "f:generation.1"), left=(b"f:generation.1",)
    ),
    "first generation gone": _kind(
        "unreadable-row facts", _dropped("files", "f:generation.1"), left=(b"f:generation.1",)
    ),
    "current generation unreadable": _kind(
        "unreadable-row", _spoilt("files", "f:generation.2"), is_mended=False
    ),
    "landing not counted": _kind("facts", _dropped("files", "f:counts.ingest%")),
    "landing counted wrong": _kind(
        "facts", _field("files", "f:counts.ingest%", "counts", _counted)
    ),
    "counts unreadable": _kind("unreadable-row facts", _spoilt("files", "f:counts.ingest%")),
    "state unreadable": _kind(
        "unreadable-row state-lost", _spoilt("files", "l:state"), left=_OF_STATE
    ),
    "current one unreadable": _kind(
        "unreadable-row state-lost", _spoilt("files", "l:generation"), left=_OF_STATE
    ),
    "state gone": _kind("state-lost", _dropped("files", "l:state"), left=_OF_STATE),
    "current one gone": _kind("state-lost", _dropped("files", "l:generation"), left=_OF_STATE),
    "crawl gone": _kind("crawl-missing", _row_dropped("crawls", "f:facts"), left=(b"l:state",)),
    "crawl without facts": _kind("crawl-missing", _dropped("crawls", "f:facts")),
    "crawl without state": _kind(
        "crawl-missing", _dropped("crawls", "l:state", row="c%"), left=(b"l:state",)
    ),
    "crawl unreadable": _kind("crawl-missing", _spoilt("crawls", "f:facts")),
    "crawl of another collection": _kind(
        "crawl-differs", _field("crawls", "f:facts", "collection", _text)
    ),
    "lease unreadable": _kind("unreadable-row", _spoilt("crawls", "l:lease"), is_mended=False),
    "sidecar: place": _kind("location", _sidecar_field("offset", _more)),
    "sidecar: type": _kind("sidecar-differs", _sidecar_field("type", _text)),
    "sidecar: URI": _kind("location", _sidecar_field("target_uri", _text)),
    "sidecar: date": _kind("sidecar-differs", _sidecar_field("date", _text)),
    "sidecar: status": _kind("sidecar-differs", _sidecar_field("status", _more)),
    "sidecar: media type": _kind("sidecar-differs", _sidecar_field("media_type", _text)),
    "sidecar: size": _kind("sidecar-differs", _sidecar_field("payload_size", _more)),
    "sidecar: SHA-1": _kind("sidecar-differs", _sidecar_field("sha1", _bytes_changed)),
    "sidecar: SHA-256": _kind("sidecar-differs", _sidecar_field("sha256", _bytes_changed)),
    "sidecar: declared": _kind("sidecar-differs", _sidecar_field("declared", _text)),
    "sidecar: row key": _kind("sidecar-differs", _sidecar_field("row_key", _bytes_changed)),
    "sidecar: original": _kind("sidecar-differs", _sidecar_field("original_key", _bytes_changed)),
    "sidecar: a row fewer": _kind("sidecar-differs location", _sidecar_rows(_without_one)),
    "sidecar: a row more": _kind("sidecar-differs", _sidecar_rows(_with_one_more)),
    "sidecar: rows swapped": _kind("sidecar-differs", _sidecar_rows(_swapped)),
    "old generation lost": _kind("generation-missing", _lost_generation, is_mended=False),
}
