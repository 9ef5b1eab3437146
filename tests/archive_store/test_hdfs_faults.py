"""The archive store while data nodes are killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from archive_contract import LARGE, put_file
from hdfs_opener import folder_of_its_own, removed
from shared_cluster import RunningCluster

from local_cluster.layout import DATA_NODES
from local_cluster.state import running
from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.archive_store.port import ASIDE, WritingLost
from pinakes.errors import StoreUnavailable

pytestmark = pytest.mark.faults

BLOCK_BYTES = 1 << 20
LONG_S = 300.0


@pytest.fixture
def connection(cluster_alone: RunningCluster) -> Iterator[HdfsConnection]:
    """In small blocks, so that pipelines are made and lost often."""
    found = folder_of_its_own(cluster_alone.layout)
    with removed(replace(found, block_bytes=BLOCK_BYTES, retry_s=20.0)) as connection:
        yield connection


@pytest.fixture
def store(connection: HdfsConnection) -> Iterator[HdfsArchiveStore]:
    with closing(HdfsArchiveStore(connection)) as store:
        yield store


def kill(cluster: RunningCluster, server: str) -> None:
    os.kill(running(cluster.layout)[server].pid, signal.SIGKILL)


@contextmanager
def hanging(cluster: RunningCluster, server: str) -> Iterator[None]:
    """The server answers nothing meanwhile, and is there."""
    pid = running(cluster.layout)[server].pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def put_at_last(store: HdfsArchiveStore, name: str, content: bytes) -> None:
    """Land a file as one would: again, where the store was not available."""
    token = name.replace("/", "-")  # each its own: who takes another's place ends its writing
    end_s = time.monotonic() + LONG_S
    while time.monotonic() < end_s:
        try:
            with store.create_aside(token) as aside:
                for start in range(0, len(content), 50_000):
                    aside.file.write(content[start : start + 50_000])
                assert aside.crc32() == zlib.crc32(content)
                aside.publish(name)
        except StoreUnavailable:
            assert store.size(name) is None  # nothing is half-visible
            time.sleep(0.2)
        else:
            return
    pytest.fail("again and again")


class Landing:
    """Puts files, and reads an older one at random places, until it is told to end."""

    def __init__(self, connection: HdfsConnection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._enough = threading.Event()
        self._begun = threading.Event()
        self.put: list[str] = []

    def write(self) -> None:
        with closing(HdfsArchiveStore(self._connection)) as store:
            while not self._enough.is_set() or not self.put:
                name = f"{self._number}/{len(self.put)}"
                put_at_last(store, name, LARGE * 3)
                self.put.append(name)
                self._begun.set()

    def read(self) -> None:
        chosen = random.Random(self._number)
        with closing(HdfsArchiveStore(self._connection)) as store, store.open("old") as file:
            while not self._enough.is_set():
                offset = chosen.randrange(len(LARGE) * 3)
                file.seek(offset)
                data = file.read(5000)
                assert data == (LARGE * 3)[offset : offset + 5000]

    @contextmanager
    def going_on(self) -> Iterator[None]:
        errors: list[BaseException] = []

        def run(act: object) -> None:
            try:
                act()  # type: ignore[operator]
            except BaseException as error:  # noqa: BLE001  (looked at below)
                errors.append(error)
                self._begun.set()

        threads = [threading.Thread(target=run, args=(act,)) for act in (self.write, self.read)]
        for thread in threads:
            thread.start()
        self._begun.wait()
        try:
            yield
        finally:
            self._enough.set()
            for thread in threads:
                thread.join()
        assert errors == []


@pytest.mark.parametrize("number", range(1, DATA_NODES + 1))
def test_data_node_killed_during_writes_and_reads(
    cluster_alone: RunningCluster, store: HdfsArchiveStore, number: int
) -> None:
    put_file(store, "old", LARGE * 3)
    landing = Landing(store.connection, number)
    with landing.going_on():
        kill(cluster_alone, f"datanode{number}")
        before = len(landing.put)
        put_at_last(store, "meanwhile", LARGE)
        cluster_alone.up()
    assert len(landing.put) >= before
    for name in ["old", *landing.put]:
        with store.open(name) as file:
            assert file.read() == LARGE * 3
    assert [file.name for file in store.list()] == sorted([*landing.put, "meanwhile", "old"])
    assert list(store.list(ASIDE)) == []


def test_data_node_hangs(cluster_alone: RunningCluster, connection: HdfsConnection) -> None:
    """What was being written to it is lost, and can be written anew; reading goes elsewhere."""

    def write_while_one_hangs(store: HdfsArchiveStore) -> None:
        with store.create_aside("lost") as aside:
            aside.file.write(LARGE)
            with hanging(cluster_alone, "datanode2"):
                aside.file.write(LARGE)
                aside.crc32()

    # By the cluster's settings a client waits 20 s for a data node, and not a minute.
    own = replace(connection, config_folder=cluster_alone.layout.conf, replication=DATA_NODES)
    with (
        closing(HdfsArchiveStore(replace(own, retry_s=300.0))) as patient,
        closing(HdfsArchiveStore(replace(own, retry_s=15.0))) as hasty,
    ):
        put_file(patient, "old", LARGE)
        with pytest.raises(WritingLost):
            write_while_one_hangs(hasty)
        with hanging(cluster_alone, "datanode2"):
            put_at_last(patient, "new", LARGE)
            for name in ("new", "old"):
                with patient.open(name) as file:
                    assert file.read() == LARGE
        assert [file.name for file in patient.list()] == ["new", "old"]


def test_name_node_hangs(cluster_alone: RunningCluster, connection: HdfsConnection) -> None:
    with (
        closing(HdfsArchiveStore(replace(connection, retry_s=120.0))) as patient,
        closing(HdfsArchiveStore(replace(connection, retry_s=3.0))) as hasty,
    ):
        put_file(patient, "a", LARGE)
        with hanging(cluster_alone, "namenode"):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                hasty.size("a")
            with pytest.raises(StoreUnavailable, match="does not answer"):
                hasty.open("a")
        with patient.create_aside("t") as aside:
            aside.file.write(LARGE)
            with hanging(cluster_alone, "namenode"):
                finished = threading.Thread(target=aside.crc32)
                finished.start()
                finished.join(1.0)
                assert finished.is_alive()
            finished.join()
            aside.publish("b")
        assert [file.name for file in patient.list()] == ["a", "b"]


def test_name_node_killed_during_write_and_read(
    cluster_alone: RunningCluster, connection: HdfsConnection
) -> None:
    with closing(HdfsArchiveStore(replace(connection, retry_s=300.0))) as store:
        put_file(store, "old", LARGE * 3)
        landing = Landing(store.connection, 0)
        with landing.going_on():
            kill(cluster_alone, "namenode")
            cluster_alone.up()
        for name in ["old", *landing.put]:
            with store.open(name) as file:
                assert file.read() == LARGE * 3
        assert [file.name for file in store.list()] == sorted([*landing.put, "old"])
        assert list(store.list(ASIDE)) == []
