"""A table beside those of the schema, for what HBase has no place for.

schema    l:version   the version of the schema, written when all tables are as it says
clock     l:now       put to be read again: HBase's time is in its timestamp
"""

from __future__ import annotations

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
