"""Opens the stores that a configuration names.

    STORE/rows.sqlite       rows
    STORE/archive/          archive files, crawl by crawl, sidecars beside them
    STORE/runs/             what runs have worked out so far

Layer: below `mr_jobs`, `qa` and `cli`, above everything that works on stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pinakes.archive_store.local import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.errors import ConfigError, MissingExtra
from pinakes.hbase_schema.tables import Schema, declared_schema
from pinakes.row_store.embedded import EmbeddedRowStore
from pinakes.row_store.embedded_admin import EmbeddedSchemaAdmin
from pinakes.row_store.port import RowStore, SchemaAdmin

ROWS = "rows.sqlite"
ARCHIVE = "archive"
RUNS = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """A row store and an archive store that belong together, and room for runs."""

    rows: RowStore
    archive: ArchiveStore
    runs_folder: Path


@contextmanager
def open_stores(configuration: Configuration) -> Iterator[Stores]:
    """The stores in force, closed at the end.

    Raises:
        ConfigError: where there is no store yet.
        SchemaError: where its schema is another.
    """
    _require_embedded(configuration)
    folder = configuration.store
    if not (folder / ROWS).exists():
        raise ConfigError(f"there is no store at {folder}: make one with `pinakes init`")
    rows = EmbeddedRowStore(folder / ROWS)
    try:
        yield Stores(
            rows=rows,
            archive=LocalArchiveStore(folder / ARCHIVE),
            runs_folder=folder / RUNS,
        )
    finally:
        rows.close()


def schema_of(configuration: Configuration) -> Schema:
    """The schema that this configuration declares."""
    return declared_schema(configuration.cell_versions)


def schema_admin(configuration: Configuration) -> SchemaAdmin:
    """Who makes and upgrades the tables."""
    _require_embedded(configuration)
    return EmbeddedSchemaAdmin(configuration.store / ROWS)


def _require_embedded(configuration: Configuration) -> None:
    if configuration.profile != "embedded":
        raise MissingExtra(
            "the cluster profile is not built yet: this version works with profile = embedded"
        )
