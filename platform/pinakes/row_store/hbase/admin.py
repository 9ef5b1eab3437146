"""Makes and upgrades the tables in HBase, and reads their attributes back, over Thrift 2.

The version of the schema is written last, into a row of a table of our own: if it is found, the
whole schema exists.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pinakes.errors import SchemaError, StoreUnavailable
from pinakes.hbase_schema.tables import Family, FoundFamily, FoundSchema, Schema, Table

from .calls import HBaseCalls, waits_s
from .connection import HBaseConnection
from .own_table import OWN_TABLE, VERSION_COLUMN, VERSION_ROW, parse_version
from .shell import BLOOM_PREFIX, is_as_declared
from .wire import tables_interface

_BLOOM_PREFIX = BLOOM_PREFIX.encode("ascii")
_LONGEST_S = 120.0
"""Creating a table waits for its regions, and altering one for all of them to be reopened."""


class HBaseSchemaAdmin:
    """A `SchemaAdmin` of the tables under one prefix.

    `splits` are the split keys of new tables, by table.  `on_wait` is called with the request
    that has not been answered, whenever it waits for one.
    """

    def __init__(
        self,
        connection: HBaseConnection,
        *,
        splits: Mapping[str, Sequence[bytes]] | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._connection = replace(connection, timeout_s=max(connection.timeout_s, _LONGEST_S))
        servers = connection.admin_servers
        self._calls = HBaseCalls(tables_interface, "THBaseService", servers, self._connection)
        self._thrift = self._calls.interface
        self._splits = splits or {}
        self._on_wait = on_wait

    def apply(self, schema: Schema) -> list[str]:
        done = self._make_namespace()
        descriptors = self._descriptors()
        version = self._version(descriptors)
        if version is not None and version > schema.version:
            raise SchemaError(
                f"the store has schema version {version}, this Pinakes knows {schema.version}: "
                "use the newer Pinakes"
            )
        for table in (OWN_TABLE, *schema.tables):
            done += self._apply_table(table, descriptors.get(table.name))
        if version != schema.version:
            self._write_version(schema.version)
            done.append(f"schema version {schema.version}")
        return done

    def describe(self) -> FoundSchema:
        descriptors = self._descriptors()
        return FoundSchema(
            version=self._version(descriptors),
            tables={
                name: tuple(map(self._found_family, families.values()))
                for name, families in sorted(descriptors.items())
                if name != OWN_TABLE.name
            },
        )

    def close(self) -> None:
        """Close the connections."""
        self._calls.close()

    # --- existing tables

    def _descriptors(self) -> dict[str, dict[bytes, Any]]:
        """The families of every table under our prefix, by name."""
        prefix = self._connection.prefix
        pattern = prefix.replace(".", "[.]").encode("ascii") + b"[^:]*"
        found = self._calls.call(lambda c: c.getTableDescriptorsByPattern(pattern, False))
        tables = {}
        for descriptor in found:
            space, name = descriptor.tableName.ns, descriptor.tableName.qualifier
            full = (name if space == b"default" else space + b":" + name).decode("utf-8")
            families = sorted(descriptor.columns, key=lambda family: bytes(family.name))
            tables[full.removeprefix(prefix)] = {family.name: family for family in families}
        return tables

    def _version(self, descriptors: Mapping[str, object]) -> int | None:
        if OWN_TABLE.name not in descriptors:
            return None
        name = self._connection.table(OWN_TABLE.name)
        found = self._calls.call(lambda c: c.get(name, self._thrift.TGet(row=VERSION_ROW)))
        return parse_version(found.columnValues[0].value) if found.columnValues else None

    def _found_family(self, found: Any) -> FoundFamily:
        thrift = self._thrift
        return FoundFamily(
            name=found.name.decode("utf-8"),
            versions=found.maxVersions,
            compression=_name(thrift.TCompressionAlgorithm, found.compressionType),
            encoding=_name(thrift.TDataBlockEncoding, found.dataBlockEncoding),
            bloom_filter=_name(thrift.TBloomFilterType, found.bloomnFilterType),
            bloom_prefix_bytes=_number((found.configuration or {}).get(_BLOOM_PREFIX)),
            block_cache=found.blockCacheEnabled,
            block_size_bytes=found.blockSize,
            in_memory=found.inMemory,
        )

    # --- changes

    def _change(self, what: str, ask: Callable[[Any], object], is_done: Callable[[], bool]) -> None:
        """Request a change; if no answer comes, check whether it is done, or request it again.

        A busy master may take longer than the time-out, and still do it; requested again
        in that time, it reports that it exists, or waits.  All that may take `retry_s`, from the
        first missing answer.
        """
        retry_s = self._connection.retry_s
        failed_s: float | None = None
        waits = waits_s(retry_s, lambda: time.monotonic() - (failed_s or 0.0), random.random)
        done = False
        while not done:
            try:
                self._calls.call_once(ask)
                done = True
            except StoreUnavailable as error:
                failed_s = failed_s or time.monotonic()
                wait_s = next(waits, None)
                if wait_s is None:
                    raise
                self._on_wait(f"{what}: {error}; checking whether it is done, or trying again")
                time.sleep(wait_s)
                done = is_done()

    def _make_namespace(self) -> list[str]:
        space, colon, _ = self._connection.prefix.partition(":")
        if not colon:
            return []
        name = space.encode("ascii")

        def is_there() -> bool:
            found = self._calls.call(lambda c: c.listNamespaceDescriptors())
            return name in {descriptor.name for descriptor in found}

        if is_there():
            return []
        made = self._thrift.TNamespaceDescriptor(name=name)
        self._change(f"namespace {space}", lambda c: c.createNamespace(made), is_there)
        return [f"made namespace {space}"]

    def _apply_table(self, table: Table, found: Mapping[bytes, Any] | None) -> list[str]:
        if found is None:
            made = self._thrift.TTableDescriptor(
                tableName=self._table_name(table.name),
                columns=[self._descriptor(family) for family in table.families],
            )
            splits = list(self._splits.get(table.name, ())) or None
            self._change(
                f"table {table.name}",
                lambda c: c.createTable(made, splits),
                lambda: table.name in self._descriptors(),
            )
            return [_line("made", table, family) for family in table.families]
        return [
            line
            for family in table.families
            for line in self._apply_family(table, family, found.get(family.name.encode("ascii")))
        ]

    def _apply_family(self, table: Table, family: Family, there: Any) -> list[str]:
        name = self._table_name(table.name)
        if there is not None and is_as_declared(family, self._found_family(there)):
            return []
        wanted = self._descriptor(family, there)

        def is_done() -> bool:
            found = self._descriptors()[table.name].get(family.name.encode("ascii"))
            return found is not None and is_as_declared(family, self._found_family(found))

        what = f"family {table.name}:{family.name}"
        if there is None:
            self._change(what, lambda c: c.addColumnFamily(name, wanted), is_done)
            return [_line("made", table, family)]
        self._change(what, lambda c: c.modifyColumnFamily(name, wanted), is_done)
        return [_line("changed", table, family)]

    def _descriptor(self, family: Family, there: Any = None) -> Any:
        """HBase's descriptor of a family; attributes that we do not declare are kept."""
        thrift = self._thrift
        descriptor = there or thrift.TColumnFamilyDescriptor(name=family.name.encode("ascii"))
        descriptor.maxVersions = family.versions
        descriptor.compressionType = getattr(thrift.TCompressionAlgorithm, family.compression)
        descriptor.dataBlockEncoding = getattr(thrift.TDataBlockEncoding, family.encoding)
        descriptor.bloomnFilterType = getattr(thrift.TBloomFilterType, family.bloom_filter)
        if family.bloom_prefix_bytes is not None:
            prefix = {_BLOOM_PREFIX: b"%d" % family.bloom_prefix_bytes}
            descriptor.configuration = (descriptor.configuration or {}) | prefix
        descriptor.blockCacheEnabled = family.block_cache
        descriptor.blockSize = family.block_size_bytes
        descriptor.inMemory = family.in_memory
        return descriptor

    def _write_version(self, version: int) -> None:
        family, _, qualifier = VERSION_COLUMN.partition(b":")
        value = self._thrift.TColumnValue(family, qualifier, b"%d" % version)
        put = self._thrift.TPut(VERSION_ROW, [value])
        name = self._connection.table(OWN_TABLE.name)
        self._calls.call(lambda c: c.put(name, put))

    def _table_name(self, table: str) -> Any:
        space, _, name = self._connection.table(table).rpartition(b":")
        return self._thrift.TTableName(ns=space or b"default", qualifier=name)


def _name(names: Any, number: int | None) -> str | None:
    return None if number is None else str(names._VALUES_TO_NAMES[number])


def _number(text: bytes | None) -> int | None:
    return None if text is None else int(text)


def _line(verb: str, table: Table, family: Family) -> str:
    return f"{verb} {table.name}:{family.name}, versions {family.versions}"
