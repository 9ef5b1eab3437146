"""How a test, and each process it starts, opens a store.  One class an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pinakes.hbase_schema.tables import declared_schema
from pinakes.row_store.port import RowStore, SchemaAdmin
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

SCHEMA = declared_schema(cell_versions=3)


class StoreOpener(Protocol):
    """Picklable: processes are given one."""

    def open(self) -> RowStore: ...
    def admin(self) -> SchemaAdmin: ...


@dataclass(frozen=True)
class EmbeddedOpener:
    path: Path
    timeout_s: float = 60.0

    def open(self) -> EmbeddedRowStore:
        return EmbeddedRowStore(self.path, SCHEMA, timeout_s=self.timeout_s)

    def admin(self) -> EmbeddedSchemaAdmin:
        return EmbeddedSchemaAdmin(self.path, timeout_s=self.timeout_s)
