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
from pinakes.row_store.hbase_connection import HBaseConnection, Sasl, Tls, parse_servers
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


def hbase_connection(configuration: Configuration) -> HBaseConnection:
    """How the configuration says that HBase is reached; `Raises` ConfigError."""
    if configuration.hbase is None:
        raise ConfigError("hbase names no Thrift server, and the cluster profile needs one")
    tls = Tls(
        ca_file=configuration.hbase_ca_file,
        certificate_file=configuration.hbase_certificate_file,
        key_file=configuration.hbase_key_file,
    )
    service = configuration.hbase_kerberos_service
    try:
        return HBaseConnection(
            servers=parse_servers(configuration.hbase),
            admin_servers=parse_servers(configuration.hbase_admin)
            if configuration.hbase_admin
            else (),
            prefix=configuration.hbase_prefix,
            transport=configuration.hbase_transport,  # type: ignore[arg-type]
            compact=configuration.hbase_protocol == "compact",
            http_path=configuration.hbase_http_path,
            tls=tls if configuration.hbase_tls == "on" else None,
            sasl=Sasl(service=service) if service else None,
            do_as=configuration.hbase_do_as,
            timeout_s=configuration.hbase_timeout_s,
            patience_s=configuration.hbase_patience_s,
            connections=configuration.hbase_connections,
        )
    except ValueError as error:
        raise ConfigError(f"hbase or hbase_admin should be {error}") from error


def _require_embedded(configuration: Configuration) -> None:
    if configuration.profile != "embedded":
        raise MissingExtra(
            "the cluster profile is not built yet: this version works with profile = embedded"
        )
