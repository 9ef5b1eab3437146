"""HDFS, on real servers: both contracts, and what is its own."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from archive_contract import FILES, LARGE, ArchiveReaderContract, ArchiveStoreContract, put_file
from hdfs_opener import folder_of_its_own, removed
from lossy_name_node import lossy_name_node
from shared_cluster import RunningCluster

from local_cluster.layout import HOST
from local_cluster.site_files import REPLICATION
from pinakes.archive_store.hdfs.checksums import kept_checksum
from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.archive_store.hdfs.writing import HdfsAsideIO
from pinakes.archive_store.port import ASIDE
from pinakes.errors import InputRefused, StoreUnavailable

BLOCK_BYTES = 1 << 20


@pytest.fixture
def connection(cluster: RunningCluster) -> Iterator[HdfsConnection]:
    with removed(folder_of_its_own(cluster.layout)) as connection:
        yield connection


@pytest.fixture
def store(connection: HdfsConnection) -> Iterator[HdfsArchiveStore]:
    with closing(HdfsArchiveStore(connection)) as store:
        yield store


@pytest.fixture
def open_aside() -> Iterator[Callable[[str], HdfsArchiveStore]]:
    with ExitStack() as stack:

        def open_aside(place: str) -> HdfsArchiveStore:
            return stack.enter_context(closing(HdfsArchiveStore(HdfsConnection(url=place))))

        yield open_aside


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


def names(store: HdfsArchiveStore, prefix: str = "") -> list[str]:
    return [file.name for file in store.list(prefix)]


@pytest.mark.parametrize(
    "size",
    [1, 511, 512, 513, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES + 777],
)
def test_checksum_equals_that_of_hdfs(connection: HdfsConnection, size: int) -> None:
    """In pieces that end anywhere, over blocks, and with Hadoop's padding of many."""
    content = random.Random(size).randbytes(size)
    with closing(HdfsArchiveStore(replace(connection, block_bytes=BLOCK_BYTES))) as store:
        with store.create_aside("t") as aside:
            for start in range(0, size, 300_001):
                aside.file.write(content[start : start + 300_001])
            assert isinstance(aside.file, HdfsAsideIO)
            written = aside.file
            owner = written.finish().owner
            aside.publish("a")
        kept = kept_checksum(connection.web, f"{connection.folder}/a", owner)
        assert kept is not None
        assert kept.comparable
        assert written.kept is not None
        assert written.kept.digest() == kept.digest
        with store.open("a") as file:
            assert file.read() == content


def test_pyarrow_reads_an_open_file(store: HdfsArchiveStore) -> None:
    table = pa.table({"number": range(100_000)})
    with store.create_aside("t") as aside:
        pq.write_table(table, aside.file)
        aside.publish("c/odd #?;.parquet")
    with store.open("c/odd #?;.parquet") as file:
        assert pq.ParquetFile(file).read() == table


def test_file_is_confirmed_by_hdfs_or_read_back(connection: HdfsConnection) -> None:
    nobody = f"http://{HOST}:1"
    for number, web in enumerate([connection.web, (nobody, *connection.web), (nobody,), ()]):
        with closing(HdfsArchiveStore(replace(connection, web=web))) as store:
            with store.create_aside("t") as aside:
                for _ in range(15):
                    aside.file.write(LARGE)
                assert aside.crc32() == zlib.crc32(LARGE * 15)
                aside.publish(str(number))
            assert store.size(str(number)) == 15 * len(LARGE)


def test_each_full_block_is_synced(connection: HdfsConnection) -> None:
    """The name node learns how long a file has become when it is synced, or at the next block."""
    with (
        closing(HdfsArchiveStore(replace(connection, block_bytes=BLOCK_BYTES))) as store,
        store.create_aside("t") as aside,
    ):
        for number in range(1, 4):
            aside.file.write(bytes(BLOCK_BYTES))
            assert [file.size for file in store.list(ASIDE)] == [number * BLOCK_BYTES]


def test_writer_thought_dead_changes_nothing(
    store: HdfsArchiveStore, connection: HdfsConnection
) -> None:
    """One that still writes, and one that only has to publish."""
    with closing(HdfsArchiveStore(connection)) as other:
        writing, closed = other.create_aside("t"), other.create_aside("u")
        first, second = writing.__enter__(), closed.__enter__()
        first.file.write(LARGE)
        second.file.write(LARGE)
        second.crc32()
        with store.create_aside("t") as t, store.create_aside("u") as u:
            t.file.write(b"t")
            u.file.write(b"u")
            u.crc32()
            with pytest.raises(StoreUnavailable, match="another writer"):
                first.crc32()
            with pytest.raises(StoreUnavailable, match="failed"):
                first.publish("a")
            with pytest.raises(InputRefused, match="file not found"):
                second.publish("a")
            writing.__exit__(None, None, None)
            closed.__exit__(None, None, None)
            assert names(store) == []
            t.publish("a")
            u.publish("b")
    assert [store.checksum(name) for name in "ab"] == [
        "e3b98a4da31a127d4bde6e43033f66ba274cab0eb7eb1c70ec41402bf6273dd8",
        "0bfe935e70c321c7ca3afc75ce0d0ca2f98b5422e008bb31c00c6d7f1f1c0ad6",
    ]
    assert names(store, ASIDE) == []


WRITE = """
import sys
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.archive_store.hdfs.connection import HdfsConnection
store = HdfsArchiveStore(HdfsConnection(url=sys.argv[1]))
with store.create_aside("t") as aside:
    while True:
        aside.file.write(b"x" * 1_000_000)
        print("go", flush=True)
"""


@pytest.mark.parametrize("again", [True, False], ids=["the same token", "cleared"])
def test_killed_while_writing(
    store: HdfsArchiveStore, connection: HdfsConnection, again: bool
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITE, connection.url]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"go\n"
        writer.kill()
    assert names(store) == []
    assert names(store, ASIDE) == [f"{ASIDE}/t"]
    if again:
        put_file(store, "a", b"again", token="t")
        assert names(store) == ["a"]
    else:
        store.delete(f"{ASIDE}/t")
    assert names(store, ASIDE) == []


@pytest.mark.parametrize("method", ["create", "complete", "mkdirs", "rename2", "delete"])
def test_lost_answer(cluster: RunningCluster, connection: HdfsConnection, method: str) -> None:
    """The name node did what it was asked, and nobody heard it."""
    layout = cluster.layout
    with lossy_name_node(HOST, layout.port("namenode"), method) as lossy:
        through = replace(connection, url=f"hdfs://{HOST}:{lossy.port}{connection.folder}")
        with closing(HdfsArchiveStore(through)) as store:
            put_file(store, "c/a", LARGE)
            assert lossy.lost == 1
            assert names(store) == ["c/a"]
            assert names(store, ASIDE) == []
            with store.open("c/a") as file:
                assert file.read() == LARGE


def test_lost_writer_publishes_nothing(cluster: RunningCluster, connection: HdfsConnection) -> None:
    layout = cluster.layout
    with lossy_name_node(HOST, layout.port("namenode"), "addBlock") as lossy:
        through = replace(connection, url=f"hdfs://{HOST}:{lossy.port}{connection.folder}")
        with closing(HdfsArchiveStore(through)) as store:
            with pytest.raises(StoreUnavailable), store.create_aside("t") as aside:
                put_until_it_fails(aside.file)
            assert names(store) == names(store, ASIDE) == []
            put_file(store, "a", LARGE)
            assert names(store) == ["a"]


def put_until_it_fails(file: BinaryIO) -> None:
    """Then nothing more is taken."""
    with pytest.raises(StoreUnavailable, match="RPC"):
        file.write(LARGE)
    file.write(b"more")


def test_missing_file_is_not_taken_for_renamed(store: HdfsArchiveStore) -> None:
    put_file(store, "a", b"other")
    with pytest.raises(InputRefused, match="file not found"):
        store.rename("gone", "a")


def test_replaced_file_is_refused(store: HdfsArchiveStore) -> None:
    put_file(store, "a", b"first")
    with store.open("a") as file:
        store.delete("a")
        put_file(store, "a", b"other")
        with pytest.raises(InputRefused, match="replaced"):
            file.read()
    with store.open("a") as file:
        store.delete("a")
        with pytest.raises(InputRefused, match="file not found"):
            file.read()


def test_folder_is_refused_as_file(store: HdfsArchiveStore) -> None:
    put_file(store, "c/a", b"x")
    with pytest.raises(InputRefused, match="folder"):
        store.rename("c", "d")
    store.delete("c")
    assert names(store) == ["c/a"]
    assert names(store, "c/a") == []


@pytest.mark.parametrize("name", ["c/a:b", "c/\udcff"])
def test_names_that_only_hdfs_refuses(store: HdfsArchiveStore, name: str) -> None:
    with pytest.raises(InputRefused, match="HDFS refuses this name"):
        put_file(store, name, b"x")
    assert names(store) == names(store, ASIDE) == []


def test_missing_permission(
    store: HdfsArchiveStore, connection: HdfsConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = put_file(store, "a", b"x")
    with monkeypatch.context() as patch, closing(HdfsArchiveStore(connection)) as other:
        patch.setenv("HADOOP_USER_NAME", "somebody")
        for act in (
            lambda: put_file(other, "b", b"x"),
            lambda: other.rename("a", "b"),
            lambda: other.delete("a"),
        ):
            with pytest.raises(StoreUnavailable, match="no permission"):
                act()
        assert other.checksum("a") == expected
        assert other.size("a/below") is None
    assert names(store) == ["a"]


def test_full_quota(cluster: RunningCluster, connection: HdfsConnection) -> None:
    with closing(HdfsArchiveStore(replace(connection, block_bytes=BLOCK_BYTES))) as store:
        put_file(store, "a", b"x")
        hdfs = cluster.layout.folder / "bin" / "hdfs"
        quota = str(4 * BLOCK_BYTES * REPLICATION)
        command = [hdfs, "dfsadmin", "-setSpaceQuota", quota, connection.folder]
        subprocess.run(command, check=True, capture_output=True)
        with pytest.raises(StoreUnavailable, match="quota"):
            put_file(store, "b", LARGE * 10)
        assert names(store) == ["a"]
        assert names(store, ASIDE) == []
        put_file(store, "small", b"x")


def test_forked_process_opens_its_own_client(store: HdfsArchiveStore) -> None:
    """Even just after the parent has read, whose connections would be the child's as well."""

    def read_and_write(number: int) -> None:
        put_file(store, f"of {number}", LARGE, token=f"t{number}")
        assert store.checksum("a") == expected

    expected = put_file(store, "a", LARGE)
    fork = multiprocessing.get_context("fork")
    with store.open("a") as file:
        assert file.read() == LARGE
        children = [fork.Process(target=read_and_write, args=(number,)) for number in range(3)]
        for child in children:
            child.start()
        file.seek(0)
        assert file.read() == LARGE
        for child in children:
            child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    read_and_write(3)
    assert names(store) == ["a", *(f"of {number}" for number in range(4))]
