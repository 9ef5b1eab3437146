"""Cells decoded from rows: one that cannot be decoded is named by its table, row and column."""

from __future__ import annotations

from contextlib import suppress

from pinakes.errors import MalformedRecord, SchemaError
from pinakes.hbase_schema.cells import C, decode_cell
from pinakes.hbase_schema.name_keys import decode_file_key

from .port import Row

_OF_FILES = frozenset({"files", "inflight"})


def read_cell(cls: type[C], table: str, row: Row | None, column: bytes | None = None) -> C | None:
    """The cell of this class in a row; None if there is none.

    `column` is given where it is not that of the class (`f:generation.2`).

    Raises:
        SchemaError, MalformedRecord: as `decode_cell`, with table, row and column.
    """
    column = cls.COLUMN if column is None else column
    value = row.value(column) if row is not None else None
    if row is None or value is None:
        return None
    return decode_stored(cls, table, row.key, column, value)


def require_cell(cls: type[C], table: str, row: Row) -> C:
    """The cell of this class in a row that has it; Raises as `read_cell`, also where it is
    missing."""
    return decode_stored(cls, table, row.key, cls.COLUMN, row.value(cls.COLUMN) or b"")


def decode_stored(cls: type[C], table: str, key: bytes, column: bytes, value: bytes) -> C:
    """The cell that stands in a column of a row; Raises as `read_cell`."""
    try:
        return decode_cell(cls, value)
    except SchemaError as error:
        raise SchemaError(
            f"{_place(table, key, column)}: {error.message}; if no newer Pinakes has written to "
            "this store, the cell is damaged: `pinakes fsck --full` names all such cells"
        ) from error
    except MalformedRecord as error:
        raise MalformedRecord(
            f"{_place(table, key, column)}: {error.message}: `pinakes fsck --full` names all such "
            "cells"
        ) from error


def _place(table: str, key: bytes, column: bytes) -> str:
    row = key.decode("ascii", "backslashreplace")
    if table in _OF_FILES:
        # Else the key as it is names the row, too.
        with suppress(MalformedRecord, ValueError):
            row = decode_file_key(key)
    return f"table {table}, row {row}, column {column.decode('ascii', 'backslashreplace')}"
