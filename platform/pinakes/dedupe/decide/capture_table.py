"""The captures of a manifest in columns, where they are grouped, joined and sorted.

DuckDB, in memory up to a bound and in temporary files beyond it.  What the rules compare is in
columns; the line itself is one of them, as bytes, and becomes an object again only where a rule
in Python or a reader wants it.  Texts are bytes that sort as the texts do, lone surrogates
included: SQL only ever compares them.
"""

from __future__ import annotations

import marshal
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pinakes.errors import StoreUnavailable
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import ManifestLine, place_of
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey

from .clusters import parse_flags
from .trust import second_digest

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_BATCH_ROWS = 8192
_LEAST_BYTES = 128 << 20
"""What DuckDB wants for sorts that spill."""
_COLUMNS: Mapping[str, str] = {
    "n": "int64",
    "place": "int64",
    "file": "int64",
    "start": "int64",
    "inner_start": "int64",
    "length": "int64",
    "urlkey": "text",
    "second": "int64",
    "digest": "text",
    "extension": "int64",
    "size": "int64",
    "second_digest": "text",
    "status": "int64",
    "variety": "text",
    "reason": "text",
    "takes_part": "bool",
    "is_revisit": "bool",
    "flags": "int64",
    "record_id": "text",
    "refers_id": "text",
    "line": "binary",
}
# The manifest's `type` and `ctype`: nearly always neither.
_TYPE, _CTYPE = ManifestLine._fields.index("type"), ManifestLine._fields.index("ctype")
_make = ManifestLine._make
_load: Callable[[bytes], list[Any]] = marshal.loads


class CaptureTable:
    """A table `captures`, a row for each line; a context manager.

        n, place        number in the order given, and by file, offset, inner offset, n
        file, start, inner_start, length    number of the file; offset, inner offset, length
        urlkey, second  where replay looks for it; `second` is 14 digits, or NULL
        digest, extension, size, second_digest, status    as the line has them
        variety         type and Content-Type, where it has either
        takes_part      whether its body may be compared; is_revisit: whether it is one
        reason          `skip`, else `type`; NULL of a response that takes part
        flags           `clusters.FLAGS`
        record_id, refers_id, line

    Memory: `space`, and no less than 128 MB; beyond that in a folder that goes
    with the table.
    """

    def __init__(self, space: SortSpace) -> None:
        import duckdb

        folder = Path(space.folder or tempfile.gettempdir())
        self._database = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "memory_limit": f"{max(space.memory_bytes, _LEAST_BYTES)}B",
                # DuckDB makes it when memory is full, and deletes it when it is closed.
                "temp_directory": str(folder / f"pinakes-{uuid4().hex}"),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            },
        )
        self._database.execute("SET enable_progress_bar = false")  # on standard output
        self._columns_of: dict[str, Mapping[str, str]] = {}
        self._count = 0
        self.file_numbers: dict[str, int] = {}
        self.has_repeated = False
        """Whether two lines are about one record."""
        self.has_revisits = False

    def __enter__(self) -> CaptureTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give memory and files back; in the process that opened it, or DuckDB breaks."""
        self._database.close()

    def load(self, lines: Iterable[ManifestLine], *, anew: bool = False) -> None:
        """Take all lines; once.  `anew`: all that take part get extension 0, the others none."""
        self.create("captures", _COLUMNS)
        source = iter(lines)
        last, is_ordered = ("", -1, -1), True
        while batch := list(islice(source, _BATCH_ROWS)):
            places = [place_of(line) for line in batch]
            for place in places:
                if place <= last:
                    self.has_repeated = self.has_repeated or place == last
                    is_ordered = is_ordered and place == last
                last = place
            self.insert("captures", self._columns(batch, places, anew))
            self._count += len(batch)
        if not is_ordered:
            self._number_places()

    def _columns(
        self, batch: list[ManifestLine], places: list[tuple[str, int, int]], anew: bool
    ) -> list[Iterable[Any]]:
        numbers = range(self._count, self._count + len(batch))
        number_of = self.file_numbers
        fields = list(zip(*batch, strict=True))
        self.has_revisits = self.has_revisits or "revisit" in fields[_TYPE]
        takes_part = [line.skip is None and line.type != "revisit" for line in batch]
        return [
            numbers,
            numbers,
            [number_of.setdefault(name, len(number_of)) for name, _, _ in places],
            fields[1],
            [inner for _, _, inner in places],
            fields[2],
            [urlkey(uri) for uri in fields[3]],
            [None if (second := second_of(date)) is None else int(second) for date in fields[4]],
            fields[5],
            [0 if takes else None for takes in takes_part] if anew else fields[6],
            [line.size for line in batch],
            [second_digest(line) for line in batch],
            [line.status for line in batch],
            [
                None if line[_TYPE] is line[_CTYPE] is None else f"{line.type} {line.ctype}"
                for line in batch
            ],
            [line.skip or line.type for line in batch],
            takes_part,
            [line.type == "revisit" for line in batch],
            [parse_flags(line.marks) if line.marks else 0 for line in batch],
            [line.record_id for line in batch],
            [line.refers_id for line in batch],
            map(marshal.dumps, map(tuple, batch)),
        ]

    def _number_places(self) -> None:
        """Lines came in another order than their places'."""
        self.create("ranks", {"file": "int64", "rank": "int64"})
        ordered = sorted(self.file_numbers)
        self.insert("ranks", [[self.file_numbers[name] for name in ordered], range(len(ordered))])
        self.execute(
            "CREATE TABLE placed AS SELECT captures.* REPLACE "
            "(row_number() OVER (ORDER BY rank, start, inner_start, n) - 1 AS place) "
            "FROM captures JOIN ranks USING (file)"
        )
        self.execute("DROP TABLE captures")
        self.execute("ALTER TABLE placed RENAME TO captures")
        self.has_repeated = bool(
            self.value(
                "SELECT count(*) FROM (SELECT 1 FROM captures GROUP BY file, start, inner_start "
                "HAVING count(*) > 1 LIMIT 1)"
            )
        )

    def create(self, name: str, columns: Mapping[str, str]) -> None:
        """An empty table of these columns: `int64`, `bool`, `text` or `binary`."""
        kinds = {"int64": "BIGINT", "bool": "BOOLEAN", "text": "BLOB", "binary": "BLOB"}
        fields = ", ".join(f"{column} {kinds[kind]}" for column, kind in columns.items())
        self.execute(f"CREATE TABLE {name} ({fields})")
        self._columns_of[name] = columns

    def insert(self, name: str, columns: Iterable[Iterable[Any]]) -> None:
        """Append rows, given by column, to a table that `create` has made."""
        import pyarrow as pa

        kinds = self._columns_of[name]
        arrays = [
            _texts(values) if kind == "text" else pa.array(values, type=kind)
            for values, kind in zip(columns, kinds.values(), strict=True)
        ]
        batch = pa.table(arrays, names=list(kinds))
        self._database.from_arrow(batch).insert_into(name)

    def insert_rows(self, name: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """The same, given by row."""
        source = iter(rows)
        while batch := list(islice(source, _BATCH_ROWS)):
            self.insert(name, list(zip(*batch, strict=True)))

    def execute(self, statement: str, **parameters: Any) -> None:
        """Run a statement; `$name` in it is the parameter of that name, texts as bytes.

        Raises:
            StoreUnavailable: where there is no room for temporary files.
        """
        self._run(self._database, statement, parameters)

    def value(self, query: str, **parameters: Any) -> Any:
        """The one value that a query gives."""
        (row,) = self.rows(query, **parameters)
        return row[0]

    def rows(self, query: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        """What a query gives, of the tables as they are when the first is drawn."""
        answer = self._run(self._database.cursor(), query, parameters)
        while rows := answer.fetchmany(_BATCH_ROWS):
            yield from rows

    def _run(
        self, database: duckdb.DuckDBPyConnection, statement: str, parameters: dict[str, Any]
    ) -> duckdb.DuckDBPyConnection:
        import duckdb

        try:
            return database.execute(statement, parameters or None)
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            raise StoreUnavailable(f"no room to sort captures: {error}") from error


def line_of(stored: bytes) -> ManifestLine:
    """The line that a value of the column `line` holds."""
    return _make(_load(stored))


def text_of(stored: bytes) -> str:
    """The text that a value of a column of texts holds."""
    return stored.decode("utf-8", "surrogatepass")


def blob_of(text: str) -> bytes:
    """A text as columns hold it."""
    return text.encode("utf-8", "surrogatepass")


def _texts(values: Iterable[str | None]) -> pa.Array:
    import pyarrow as pa

    texts = values if isinstance(values, (list, tuple)) else list(values)
    try:
        return pa.array(texts, type=pa.string()).cast(pa.binary())
    except UnicodeEncodeError:
        return pa.array([None if t is None else blob_of(t) for t in texts], type=pa.binary())
