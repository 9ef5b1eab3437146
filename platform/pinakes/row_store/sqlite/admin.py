"""Makes and upgrades the embedded store, and reads its schema back.

Of a family's attributes SQLite uses only the number of versions; the others are for HBase, and
are read back as unknown.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from pinakes.errors import SchemaError, StoreUnavailable
from pinakes.hbase_schema.tables import FoundFamily, FoundSchema, Schema, Table

from .file import APPLICATION_ID, TIMEOUT_S, SqliteFile, stored_version

_NAME = re.compile(r"[a-z][a-z_]*\Z")
_META = (
    """CREATE TABLE IF NOT EXISTS pinakes_families(
        tab TEXT, family TEXT, versions INTEGER, PRIMARY KEY(tab, family)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS pinakes_tombstones(
        tab TEXT, row BLOB, col BLOB, ts INTEGER, PRIMARY KEY(tab, row, col)) WITHOUT ROWID""",
)


class EmbeddedSchemaAdmin:
    """A `SchemaAdmin` of one SQLite file, which it makes if there is none."""

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S) -> None:
        self._file = SqliteFile(path, timeout_s=timeout_s)

    def apply(self, schema: Schema) -> list[str]:
        done = []
        if not self._file.path.exists():
            self._make_folder()
            done.append(f"made {self._file.path}")
        self._file.create()
        version = stored_version(self._file)
        if version is not None and version > schema.version:
            raise SchemaError(
                f"the store has schema version {version}, this Pinakes knows {schema.version}: "
                "use the newer Pinakes",
                file=str(self._file.path),
            )
        with self._file.write() as connection:
            for statement in _META:
                connection.execute(statement)
            for table in schema.tables:
                done += _apply_table(connection, table)
            if version != schema.version:
                connection.execute(f"PRAGMA user_version={schema.version:d}")
                connection.execute(f"PRAGMA application_id={APPLICATION_ID:d}")
                done.append(f"schema version {schema.version}")
        return done

    def describe(self) -> FoundSchema:
        version = stored_version(self._file)
        tables: dict[str, tuple[FoundFamily, ...]] = {}
        if version is not None:
            sql = "SELECT tab, family, versions FROM pinakes_families ORDER BY tab, family"
            for table, family, versions in self._file.read(sql):
                found = FoundFamily(name=family, versions=versions)
                tables[table] = (*tables.get(table, ()), found)
        return FoundSchema(version=version, tables=tables)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _make_folder(self) -> None:
        folder = self._file.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"the folder of the store cannot be created: {error.strerror}", file=str(folder)
            ) from error


def _apply_table(connection: sqlite3.Connection, table: Table) -> list[str]:
    if not _NAME.match(table.name):
        raise SchemaError(f"not a table name: {table.name!r}")
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table.name}(row BLOB NOT NULL, col BLOB NOT NULL,"
        " ts INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY(row, col, ts)) WITHOUT ROWID"
    )
    sql = "SELECT family, versions FROM pinakes_families WHERE tab = ?"
    found = dict(connection.execute(sql, (table.name,)).fetchall())
    done = []
    for family in table.families:
        if found.get(family.name) != family.versions:
            connection.execute(
                "INSERT OR REPLACE INTO pinakes_families VALUES (?, ?, ?)",
                (table.name, family.name, family.versions),
            )
            verb = "changed" if family.name in found else "made"
            done.append(f"{verb} {table.name}:{family.name}, versions {family.versions}")
    return done
