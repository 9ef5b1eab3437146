"""What backups are made of and into, by profile: the wiring of `backup` and `restore-backup`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from uuid import uuid4

from pinakes.backup.cluster_places import ClusterPlaces
from pinakes.backup.embedded import EmbeddedRestorer, EmbeddedSnapshots
from pinakes.backup.port import RowsRestorer, Snapshots
from pinakes.config import Configuration
from pinakes.profile import hadoop_tools, hbase_connection, hdfs_connection, schema_of


@contextmanager
def open_snapshots(configuration: Configuration) -> Iterator[Snapshots]:
    """Who holds the store's rows and files at a moment."""
    if configuration.profile == "embedded":
        yield EmbeddedSnapshots(configuration.store)
        return
    from pinakes.backup.cluster_snapshots import ClusterSnapshots

    with closing(ClusterSnapshots(cluster_places(configuration))) as snapshots:
        yield snapshots


@contextmanager
def open_restorer(configuration: Configuration) -> Iterator[RowsRestorer]:
    """Who makes the rows of an empty store."""
    schema = schema_of(configuration)
    if configuration.profile == "embedded":
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
