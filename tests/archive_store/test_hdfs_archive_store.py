"""HDFS, on real servers: both contracts, and what is its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from archive_contract import FILES, ArchiveReaderContract, ArchiveStoreContract, put_file
from hdfs_opener import folder_of_its_own, removed
from shared_cluster import RunningCluster

from pinakes.archive_store.hdfs import HdfsArchiveStore
from pinakes.archive_store.hdfs_connection import HdfsConnection


@pytest.fixture
def connection(cluster: RunningCluster) -> Iterator[HdfsConnection]:
    with removed(folder_of_its_own(cluster.layout)) as connection:
        yield connection


@pytest.fixture
def store(connection: HdfsConnection) -> Iterator[HdfsArchiveStore]:
    with closing(HdfsArchiveStore(connection)) as store:
        yield store


@pytest.fixture(scope="module")
def filled(shared_cluster: RunningCluster) -> Iterator[HdfsConnection]:
    """A folder with FILES.  The cluster is not held in between: others may want it alone."""
    connection = folder_of_its_own(shared_cluster.layout)
    with shared_cluster.used(alone=False), closing(HdfsArchiveStore(connection)) as store:
        for name, content in FILES.items():
            put_file(store, name, content)
    yield connection
    with shared_cluster.used(alone=False), removed(connection):
        pass


class TestHdfsReader(ArchiveReaderContract):
    @pytest.fixture
    def reader(self, cluster: RunningCluster, filled: HdfsConnection) -> Iterator[HdfsArchiveStore]:
        with closing(HdfsArchiveStore(filled)) as store:
            yield store


class TestHdfsStore(ArchiveStoreContract):
    pass
