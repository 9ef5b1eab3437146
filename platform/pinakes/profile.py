"""Opens the stores that a configuration names.

    profile        embedded               cluster
    rows           STORE/rows.sqlite      tables of HBase
    archive files  STORE/archive/         a folder in HDFS        sidecars beside them
    runs           STORE/runs/            STORE/runs/             their intermediate results

Layer: below `application`, above everything that works on stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from pinakes.archive_store.hdfs.connection import HdfsConnection, parse_web
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.config import Configuration
from pinakes.errors import ConfigError
from pinakes.hadoop_tools import HadoopTools, parse_command
from pinakes.hbase_schema.tables import Schema, declared_schema
from pinakes.index.external_sort import SortSpace
from pinakes.ingest.tally import ARCHIVE_RETRIES, ROW_RETRIES, Tally
from pinakes.row_store.hbase.bulk import BulkLoading
from pinakes.row_store.hbase.connection import HBaseConnection, Sasl, Tls, parse_servers
from pinakes.row_store.port import RowStore, SchemaAdmin
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

ROWS = "rows.sqlite"
ARCHIVE = "archive"
RUNS = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """A row store and its archive store, and what acts on them need besides."""

    rows: RowStore
    archive: ArchiveStore
    runs_folder: Path
    tally: Tally
    """What is counted while they are open: repeated calls, and what acts add."""
    reopen: Callable[[], AbstractContextManager[Stores]]
    """Opens them in another process, with a tally of its own."""
    space: SortSpace
    """Where sorts write, and how much memory they may use before; its folder holds temporary
    files."""
    bulk_loading: Callable[[], BulkLoading] | None
    """How rows are loaded into servers in bulk (`Raises` ConfigError); None: rows are in a file
    here."""
    are_remote: bool
    """Whether a call waits for servers."""


@contextmanager
def open_stores(
    configuration: Configuration, *, tally: Tally | None = None, serving: bool = False
) -> Iterator[Stores]:
    """The configured stores, closed at the end; `tally` counts repeated calls.

    `serving`: for a process that reads very often, and is started again when it dies.

    Raises:
        ConfigError: there is no store yet.
        SchemaError: its schema differs.
    """
    tally = tally or Tally()
    is_embedded = configuration.profile == "embedded"
    with (
        closing(_open_rows(configuration, tally, serving=serving)) as rows,
        open_archive(configuration, tally=tally) as archive,
    ):
        yield Stores(
            rows=rows,
            archive=archive,
            runs_folder=configuration.store / RUNS,
            tally=tally,
            reopen=partial(open_stores, configuration),
            space=SortSpace(memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir),
            bulk_loading=None if is_embedded else partial(bulk_loading, configuration),
            are_remote=not is_embedded,
        )


def _open_rows(configuration: Configuration, tally: Tally, *, serving: bool) -> RowStore:
    if configuration.profile == "cluster":
        from pinakes.row_store.hbase.store import HBaseRowStore

        return HBaseRowStore(
            hbase_connection(configuration),
            schema_of(configuration),
            on_retry=tally.counting(ROW_RETRIES),
        )
    folder = configuration.store
    if not (folder / ROWS).exists():
        raise ConfigError(f"there is no store at {folder}: make one with `pinakes init`")
    return EmbeddedRowStore(folder / ROWS, serving=serving)


def has_embedded_store(configuration: Configuration) -> bool:
    """Whether there is a store in a folder: opening it costs nothing."""
    return configuration.profile == "embedded" and (configuration.store / ROWS).exists()


@contextmanager
def open_archive(
    configuration: Configuration, *, tally: Tally | None = None
) -> Iterator[ArchiveStore]:
    """The archive store alone, which need not exist yet; `tally` counts repeated calls."""
    if configuration.profile == "embedded":
        yield LocalArchiveStore(configuration.store / ARCHIVE)
        return
    from pinakes.archive_store.hdfs.store import HdfsArchiveStore

    on_retry = (tally or Tally()).counting(ARCHIVE_RETRIES)
    with closing(HdfsArchiveStore(hdfs_connection(configuration), on_retry=on_retry)) as archive:
        yield archive


def local_folder(place: str) -> Path | None:
    """The folder of this host that a path or `file://…` names; None for any other URL."""
    path = place.removeprefix("file://")
    return Path(path) if path != place or "://" not in place else None


@contextmanager
def open_folder(place: str, configuration: Configuration) -> Iterator[ArchiveStore]:
    """An archive store in another folder than the store's own, which need not exist yet.

    `place` is a path, `file://…`, or, with the cluster profile, `hdfs://…`, on any cluster.

    Raises:
        ConfigError: `place` is anything else.
    """
    folder_here = local_folder(place)
    if folder_here is not None:
        yield LocalArchiveStore(folder_here)
        return
    if configuration.profile == "embedded" or not place.startswith("hdfs://"):
        raise ConfigError("not a folder, nor, with profile = cluster, hdfs://…", file=place)
    from pinakes.archive_store.hdfs.store import HdfsArchiveStore

    # It may be another cluster, with other web servers: so written files are read back.
    connection = replace(hdfs_connection(configuration), url=place, web=())
    with closing(HdfsArchiveStore(connection)) as folder:
        yield folder


def schema_of(configuration: Configuration) -> Schema:
    """The schema that this configuration declares."""
    return declared_schema(configuration.cell_versions)


@contextmanager
def open_schema_admin(
    configuration: Configuration,
    *,
    splits: Mapping[str, Sequence[bytes]] | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[SchemaAdmin]:
    """Creates and upgrades the tables; on HBase, `splits` are the split keys of new ones.

    `on_wait` is called with what is waited for when HBase is slow.

    Raises:
        ConfigError: the cluster profile has no Thrift 2 server.
    """
    if configuration.profile == "embedded":
        yield EmbeddedSchemaAdmin(configuration.store / ROWS)
        return
    from pinakes.row_store.hbase.admin import HBaseSchemaAdmin

    connection = hbase_connection(configuration)
    if not connection.admin_servers:
        raise ConfigError(
            "hbase_admin names no Thrift 2 server, and only through one can the tables be made "
            "or compared: start one for it, or give the lines of `pinakes init --print` to an "
            "administrator of HBase"
        )
    with closing(HBaseSchemaAdmin(connection, splits=splits, on_wait=on_wait)) as admin:
        yield admin


def create_stores(
    configuration: Configuration,
    *,
    splits: Mapping[str, Sequence[bytes]] | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """Create the stores, or bring their schema up to date; a line for each thing done.

    Writes where archive files will lie: who may not, or has no room, learns it today.  The
    options, and `Raises`, as `open_schema_admin`.
    """
    with open_schema_admin(configuration, splits=splits, on_wait=on_wait) as admin:
        done = admin.apply(schema_of(configuration))
    if configuration.profile == "embedded":
        (configuration.store / ARCHIVE).mkdir(exist_ok=True)
        return done
    with open_archive(configuration) as archive, archive.create_aside(f"init-{uuid4().hex}") as it:
        it.file.write(b"written by pinakes init, to see whether it can be\n")
        it.crc32()
    return done


def hadoop_tools(configuration: Configuration) -> HadoopTools:
    """The commands of Hadoop and HBase, as the configuration names them."""
    return HadoopTools(
        hbase=parse_command(configuration.hbase_command),
        hadoop=parse_command(configuration.hadoop_command),
    )


def bulk_loading(configuration: Configuration) -> BulkLoading:
    """How rows are loaded into HBase in bulk; `Raises` ConfigError."""
    return BulkLoading(
        tools=hadoop_tools(configuration),
        connection=hbase_connection(configuration),
        folder=configuration.bulk_folder,
        mapreduce=configuration.bulk_mapreduce,
        processes=configuration.jobs,
    )


def hbase_connection(configuration: Configuration) -> HBaseConnection:
    """The configured connection to HBase; `Raises` ConfigError."""
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
            retry_s=configuration.hbase_retry_s,
            connections=configuration.hbase_connections,
        )
    except ValueError as error:
        raise ConfigError(f"hbase or hbase_admin should be {error}") from error


def hdfs_connection(configuration: Configuration) -> HdfsConnection:
    """The configured connection to HDFS; `Raises` ConfigError."""
    if configuration.hdfs is None:
        raise ConfigError("hdfs names no folder in HDFS, and the cluster profile needs one")
    try:
        web = parse_web(configuration.hdfs_web) if configuration.hdfs_web else ()
    except ValueError as error:
        raise ConfigError(f"hdfs_web should be {error}") from error
    return HdfsConnection(
        url=configuration.hdfs,
        web=web,
        config_folder=configuration.hdfs_config,
        principal=configuration.hdfs_principal,
        keytab=configuration.hdfs_keytab,
        ticket_cache=configuration.hdfs_ticket_cache,
        replication=configuration.hdfs_replication,
        block_bytes=configuration.hdfs_block_bytes,
        retry_s=configuration.hdfs_retry_s,
    )
