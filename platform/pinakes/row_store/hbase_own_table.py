"""A table beside those of the schema, for values that HBase does not store itself.

schema    l:version   the version of the schema, written when all tables conform to it
clock     l:now       written and read back: HBase's time is in its timestamp
"""

from __future__ import annotations

from pinakes.errors import SchemaError
from pinakes.hbase_schema.tables import Family, Table

VERSION_ROW, VERSION_COLUMN = b"schema", b"l:version"
CLOCK_ROW, CLOCK_COLUMN = b"clock", b"l:now"

OWN_TABLE = Table(
    name="pinakes",
    row_key="schema or clock",
    families=(
        Family(
            name="l",
            holds="version of the schema, HBase's clock",
            act_time=False,
            versions=1,
            compression="NONE",
        ),
    ),
)


def parse_version(cell: bytes) -> int:
    """The version of the schema in a cell; SchemaError if it is not a number."""
    if not cell.isdigit():
        raise SchemaError(
            f"the schema version in the store is not a number: {cell[:40]!r} in "
            f"{VERSION_COLUMN.decode()} of the row {VERSION_ROW.decode()}"
        )
    return int(cell)
