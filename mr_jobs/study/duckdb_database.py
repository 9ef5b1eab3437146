"""DuckDB as the engine of a study: in this process, in bounded memory, without network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.extras import missing_extra
from pinakes.mr_jobs.study.database import VIEW
from pinakes.mr_jobs.study.index_columns import COLUMNS
from pinakes.mr_jobs.study.study import ORIGINAL

try:
    import duckdb
except ImportError as error:
    raise missing_extra(f"study needs {error.name}", "study") from error

_MEMORY = "1GiB"
_TIMEOUT_S = 0.05
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": _MEMORY,
    "preserve_insertion_order": "false",
    # Parquet and time zones are in the wheel; no other extension is ever downloaded.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_FIELDS = ", ".join(f"'{name}': {name}" for name in ORIGINAL)
# Spark's functions, in DuckDB's words; a struct is of the fields that a study makes it of.
_MACROS = (
    "unix_timestamp(t) AS CAST(epoch(date_trunc('second', CAST(t AS timestamp))) AS bigint)",
    f"struct({', '.join(ORIGINAL)}) AS {{{_FIELDS}}}",
)


class DuckDatabase:
    """A database of DuckDB's: `load` it first."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def load(
        self,
        batches: Iterable[pa.RecordBatch],
        columns: Sequence[str],
        advance: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Make the table of captures of these columns, batch by batch."""
        described = ", ".join(f"{column} {COLUMNS[column]}" for column in columns)
        self._connection.execute(f"CREATE TABLE {VIEW} ({described})")
        self._connection.begin()
        for batch in batches:
            # A batch that is registered by a name is held until the transaction ends.
            table = pa.Table.from_batches([batch])
            self._connection.from_arrow(table).insert_into(VIEW)
            advance(batch.num_rows)
        self._connection.commit()

    def rows(self, query: str) -> list[dict[str, Any]]:
        return list(self.iter_rows(query)[1])

    def iter_rows(self, query: str) -> tuple[list[str], Iterator[dict[str, Any]]]:
        """The names of the columns, and rows as they are fetched."""
        cursor = self._execute(query)
        names = [column[0] for column in cursor.description or ()]
        fetched = iter(cursor.fetchone, None)
        return names, (dict(zip(names, row, strict=True)) for row in fetched)

    def keep(self, name: str, query: str) -> None:
        self._execute(f"CREATE TABLE {name} AS {query}")

    def put(self, name: str, rows: Mapping[str, Sequence[str]]) -> None:
        columns = {column: pa.array(cells, pa.string()) for column, cells in rows.items()}
        self._connection.register(name, pa.table(columns))

    def drop(self, name: str) -> None:
        self._connection.execute(f"DROP TABLE {name}")

    def _execute(self, query: str) -> duckdb.DuckDBPyConnection:
        """Run a query in another thread: this one would not see signals while DuckDB works."""
        with ThreadPoolExecutor(1) as beside:
            running = beside.submit(self._connection.execute, query)
            try:
                return running.result()
            finally:
                while not running.done():
                    self._connection.interrupt()  # lost on a query that has not begun
                    wait([running], timeout=_TIMEOUT_S)


@contextmanager
def duckdb_database(folder: Path | None) -> Iterator[DuckDatabase]:
    """A database in a file below `folder` (the system's for temporary files where it is None),
    which goes at the end.  Memory: 1 GiB.

    Raises:
        ConfigError: for a query that cannot be answered.
        StoreUnavailable: where there is no room, in memory or on disk.
    """
    with TemporaryDirectory(prefix="pinakes-study-", dir=folder) as name:
        path = Path(name)
        settings = {**_SETTINGS, "temp_directory": str(path / "spilled")}
        with (
            _errors_translated(),
            closing(duckdb.connect(path / "study.duckdb", config=settings)) as connection,
        ):
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_progress_bar = false")  # on standard output
            for macro in _MACROS:
                connection.execute(f"CREATE MACRO {macro}")
            yield DuckDatabase(connection)


@contextmanager
def _errors_translated() -> Iterator[None]:
    try:
        yield
    except duckdb.OperationalError as error:  # out of memory, or of disk
        raise StoreUnavailable(f"DuckDB failed: {_first_line(error)}") from error
    except duckdb.Error as error:
        raise ConfigError(_first_line(error)) from error


def _first_line(error: duckdb.Error) -> str:
    return str(error).partition("\n")[0]
