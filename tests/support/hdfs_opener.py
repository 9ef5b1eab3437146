"""How tests, and the processes they start, open a store on HDFS: each a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from hdfs_native import Client

from local_cluster.layout import Layout
from pinakes.archive_store.hdfs.connection import HdfsConnection


def folder_of_its_own(layout: Layout) -> HdfsConnection:
    """A folder that is not there yet."""
    return HdfsConnection(
        url=f"hdfs://{layout.address('namenode')}/tests/{token_hex(6)}",
        web=(f"http://{layout.address('namenode-http')}",),
    )


@contextmanager
def removed(connection: HdfsConnection) -> Iterator[HdfsConnection]:
    """The connection; its folder is gone afterwards."""
    try:
        yield connection
    finally:
        Client(connection.server).delete(connection.folder, recursive=True)
