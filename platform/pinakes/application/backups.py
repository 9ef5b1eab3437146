"""Backups of a store: made, verified, and made a store again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.backup.cluster_places import ClusterPlaces
from pinakes.backup.contents import FileLine
from pinakes.backup.embedded import EmbeddedRestorer, EmbeddedSnapshots, restoring_alone
from pinakes.backup.making import BackupMaker, BackupReport
from pinakes.backup.port import RowsRestorer, Snapshots
from pinakes.backup.restoring import BackupRestoring, RestoreReport
from pinakes.backup.verifying import verify_backup
from pinakes.config import Configuration
from pinakes.errors import ConfigError, PinakesError
from pinakes.profile import (
    RUNS,
    Stores,
    hadoop_tools,
    hbase_connection,
    hdfs_connection,
    local_folder,
    open_archive,
    open_folder,
    schema_of,
)
from pinakes.warc.file_progress import Advance, no_advance


def back_up(
    stores: Stores, configuration: Configuration, place: str, *, advance: Advance = no_advance
) -> BackupReport:
    """Back up the store of this configuration, or go on with a backup that was broken off.

    `place` is an empty or new folder; `advance` is called for each file.

    Raises:
        ConfigError: `place` is in the store, which the backup should outlive.
        Others as `BackupMaker`.
    """
    _require_elsewhere(configuration, stores.archive, place)
    with (
        open_folder(place, configuration) as target,
        _open_snapshots(configuration) as snapshots,
    ):
        maker = BackupMaker(
            stores.rows,
            stores.archive,
            snapshots,
            target,
            Actor(),
            profile=configuration.profile,
            software=SOFTWARE,
            place=place,
            runs_folder=stores.runs_folder,
            jobs=configuration.jobs,
        )
        return maker.make(_counting(advance))


def find_changed(
    configuration: Configuration, place: str, *, advance: Advance = no_advance
) -> Iterator[PinakesError]:
    """Yield an error for each file of a backup that is not what was written; reads them all.

    Raises as `verify_backup`.
    """
    with open_folder(place, configuration) as backup:
        yield from verify_backup(backup, place, _counting(advance))


def restore(
    configuration: Configuration, place: str, *, advance: Advance = no_advance
) -> RestoreReport:
    """Fill the empty store of this configuration from a backup.

    Raises:
        ConfigError: the store would be in the backup, which would not be what was written.
        Others as `BackupRestoring`.
    """
    folder, store = local_folder(place), configuration.store
    for one in (folder, store):
        if one is not None:
            _require_may_be_folder(one)
    if folder is not None and _is_in(store, folder):
        raise ConfigError("this is in the backup: name a folder elsewhere", file=str(store))
    schema = schema_of(configuration)
    with (
        open_folder(place, configuration) as backup,
        open_archive(configuration) as archive,
        _open_restorer(configuration) as restorer,
    ):
        restoring = BackupRestoring(
            backup,
            restorer,
            archive,
            place=place,
            profile=configuration.profile,
            schema_version=schema.version,
            software=SOFTWARE,
            runs_folder=configuration.store / RUNS,
        )
        return restoring.restore(_counting(advance))


def _is_in(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _require_elsewhere(configuration: Configuration, archive: ArchiveStore, place: str) -> None:
    folder = local_folder(place)
    if folder is not None:
        _require_may_be_folder(folder)
        is_inside = _is_in(folder, configuration.store) or (
            isinstance(archive, LocalArchiveStore) and archive.holds(folder)
        )
    else:
        url = configuration.hdfs
        is_inside = url is not None and f"{place.rstrip('/')}/".startswith(f"{url.rstrip('/')}/")
    if is_inside:
        raise ConfigError("this is in the store: name a folder elsewhere", file=place)


def _require_may_be_folder(path: Path) -> None:
    if os.path.lexists(path) and not path.is_dir():
        raise ConfigError("is no folder", file=str(path))


def _counting(advance: Advance) -> Callable[[FileLine], None]:
    return lambda line: advance(1)


@contextmanager
def _open_snapshots(configuration: Configuration) -> Iterator[Snapshots]:
    """Who holds the store's rows and files at a moment."""
    if configuration.profile == "embedded":
        yield EmbeddedSnapshots(configuration.store)
        return
    from pinakes.backup.cluster_snapshots import ClusterSnapshots

    with closing(ClusterSnapshots(cluster_places(configuration))) as snapshots:
        yield snapshots


@contextmanager
def _open_restorer(configuration: Configuration) -> Iterator[RowsRestorer]:
    """Who makes the rows of an empty store."""
    schema = schema_of(configuration)
    if configuration.profile == "embedded":
        with restoring_alone(configuration.store):
            yield EmbeddedRestorer(folder=configuration.store, schema=schema, token=uuid4().hex)
        return
    from pinakes.backup.cluster_restorer import ClusterRestorer

    with closing(ClusterRestorer(cluster_places(configuration), schema)) as restorer:
        yield restorer


def cluster_places(configuration: Configuration) -> ClusterPlaces:
    """How the store on a cluster is reached, for its backups."""
    return ClusterPlaces(
        hbase=hbase_connection(configuration),
        hdfs=hdfs_connection(configuration),
        tools=hadoop_tools(configuration),
        mapreduce=configuration.bulk_mapreduce,
    )
