r"""Rows as text that HBase's ImportTsv makes HFiles of.

    row key TAB cell timestamp in ms TAB value of the first column TAB ... LF

Pure.  One line is one row with all of a table's columns, at one time.  Keys are printable and
values compact JSON, which writes the controls as `\u` escapes; so nothing is escaped here, and
whatever has a tab or the end of a line in it is refused.  Bytes beyond ASCII stay as they are:
ImportTsv takes lines apart as bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pinakes.errors import SchemaError

from .port import Put


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTable:
    """A table that takes rows in bulk, and the columns that each of them has."""

    name: str
    columns: tuple[bytes, ...]

    @property
    def import_columns(self) -> str:
        """What ImportTsv is told of the lines."""
        columns = (column.decode("ascii") for column in self.columns)
        return ",".join(("HBASE_ROW_KEY", "HBASE_TS_KEY", *columns))

    def encode(self, puts: Iterable[Put]) -> bytes:
        """Lines, one a put.

        Raises:
            SchemaError: a put has other columns, no time, or a byte that ends lines or fields.
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
        # Looked for once, in all of it: this is the inner loop of landing.
        if (
            text.count(b"\t") != len(lines) * (len(columns) + 1)
            or (lines and text.count(b"\n") != len(lines) - 1)
            or b"\r" in text
        ):
            raise SchemaError(f"a row of {self.name} has a tab or an end of line in it")
        return text + b"\n" if lines else b""

    def decode(self, line: bytes) -> Put:
        """The put that this line was made of, without the end of the line."""
        row, time, *values = line.split(b"\t")
        return Put(row, dict(zip(self.columns, values, strict=True)), int(time))

    def _unfit(self, put: Put) -> SchemaError:
        return SchemaError(
            f"{put.row!r} of {self.name} cannot be loaded in bulk: {put.cells.keys()}"
        )
