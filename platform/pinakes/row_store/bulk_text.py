r"""Rows as text, from which HBase's ImportTsv makes HFiles; or loaded by puts.

    row key TAB cell timestamp in ms TAB value of the first column TAB ... LF

Pure.  A line is a row with all of a table's columns, at one time.  Keys are printable and values
are compact JSON, which writes control characters as `\u` escapes; so nothing is escaped here, and
rows with a tab or a line end are refused.  Bytes beyond ASCII are not changed: ImportTsv splits
lines as bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pinakes.errors import SchemaError

from .port import Put, RowStore

_BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTable:
    """A table for bulk loading, and the columns that each of its rows has."""

    name: str
    columns: tuple[bytes, ...]

    @property
    def import_columns(self) -> str:
        """The columns of the lines, for ImportTsv."""
        columns = (column.decode("ascii") for column in self.columns)
        return ",".join(("HBASE_ROW_KEY", "HBASE_TS_KEY", *columns))

    def encode(self, puts: Iterable[Put]) -> bytes:
        """Lines, one per put.

        Raises:
            SchemaError: a put has other columns, no timestamp, a tab or a line end.
        """
        columns = self.columns
        lines = []
        for put in puts:
            if put.timestamp_ms is None or len(put.cells) != len(columns):
                raise self._unfit(put)
            try:
                values = [put.cells[column] for column in columns]
            except KeyError:
                raise self._unfit(put) from None
            lines.append(b"\t".join((put.row, b"%d" % put.timestamp_ms, *values)))
        text = b"\n".join(lines)
        # Checked once for all lines: this is the inner loop of landing.
        if (
            text.count(b"\t") != len(lines) * (len(columns) + 1)
            or (lines and text.count(b"\n") != len(lines) - 1)
            or b"\r" in text
        ):
            raise SchemaError(f"a row of {self.name} contains a tab or a line end")
        return text + b"\n" if lines else b""

    def decode(self, line: bytes) -> Put:
        """The put of this line, which is given without its line end."""
        row, time, *values = line.split(b"\t")
        return Put(row, dict(zip(self.columns, values, strict=True)), int(time))

    def _unfit(self, put: Put) -> SchemaError:
        return SchemaError(
            f"{put.row!r} of {self.name} cannot be loaded in bulk: {put.cells.keys()}"
        )


def load_by_puts(
    store: RowStore,
    parts: Mapping[BulkTable, Sequence[Path]],
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Put every row of these files, each with its timestamp, into a store without bulk loading.

    `meanwhile` is called after each batch.  Memory: a batch of rows.
    """
    for table, files in parts.items():
        for file in files:
            with gzip.open(file, "rb") as lines:
                while batch := [table.decode(line[:-1]) for line in islice(lines, _BATCH_ROWS)]:
                    store.mutate(table.name, batch)
                    meanwhile()
