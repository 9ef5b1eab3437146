"""`pinakes ingest` on real HBase and HDFS, while their servers are killed."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cluster_stores import Reader, found, store_on
from ingest_processes import call, start, write_folder
from shared_cluster import RunningCluster
from verbs_here import call_here

from local_cluster.state import running
from pinakes.config import load_configuration

# No data node soon after another: docs/operations.md says what comes of that.
SERVERS = (
    *("namenode", "datanode1", "regionserver", "datanode2"),
    *("master", "datanode3", "zookeeper", "thrift"),
)
ALL = pytest.param(SERVERS, id="all", marks=pytest.mark.faults)
# What knows the files, what has them, what has the rows: `make test` kills these.
SOME = pytest.param(("namenode", "datanode1", "regionserver"), id="some")
# Each server dies when the first file of its folder has landed, and before the last one has.
FILES, FEW, RECORDS = 25, 10, 20


@pytest.fixture(scope="module")
def servers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Those that are killed."""
    killed: tuple[str, ...] = request.param
    return killed


@pytest.fixture(scope="module")
def crawl(servers: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files for each server."""
    folder = tmp_path_factory.mktemp("crawls")
    files = FILES if servers == SERVERS else FEW
    for number, server in enumerate(servers):
        write_folder(folder / server, files=files, records=RECORDS, first=number * files)
    return folder


@pytest.fixture(scope="module")
def plain(
    crawl: Path, servers: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What one process makes of the folders, in an embedded store."""
    folder = tmp_path_factory.mktemp("plain")
    assert call_here(folder, "init").returncode == 0
    folders = [str(crawl / server) for server in servers]
    assert call_here(folder, "ingest", *folders, "--crawl", "c").returncode == 0
    options = {"store": str(folder / "pinakes-store")}
    return found(load_configuration(options=options, environment={}, folder=folder))


def kill(cluster: RunningCluster, server: str) -> None:
    os.kill(running(cluster.layout)[server].pid, signal.SIGKILL)


def land_while(act: Callable[[], None], folder: Path, *what: str) -> None:
    """Ingest; do something when the first file has landed; run it again if it was too much."""
    command = ("ingest", *what, "--crawl", "c", "-j", "2")
    process = start(folder, *command)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert ": landed" in line, process.communicate()
    act()
    _, errors = process.communicate()
    print(f"exit {process.returncode}: {errors}")
    assert process.returncode in (0, 4)
    if process.returncode:
        again = call(folder, *command)
        assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("servers", [SOME, ALL], indirect=True)
def test_each_server_is_killed_once_while_files_land(
    cluster_alone: RunningCluster,
    tmp_path: Path,
    servers: tuple[str, ...],
    crawl: Path,
    plain: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The ingest sits it out, or ends with 4; the same command then lands the rest."""
    sizes = {f"c/{path.name}": path.stat().st_size for path in crawl.glob("*/*.warc.gz")}

    def kill_and_start(server: str) -> None:
        print(server)
        kill(cluster_alone, server)
        cluster_alone.up()

    monkeypatch.setenv("PINAKES_HDFS_RETRY_S", "10")  # so long a data node is waited for
    with store_on(cluster_alone, tmp_path) as configuration:
        reader = Reader(configuration, sizes, RECORDS)
        with reader.going_on():
            for server in servers:
                land_while(partial(kill_and_start, server), tmp_path, str(crawl / server))
        assert reader.looks
        assert found(configuration) == plain
        checked = call_here(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")


@pytest.mark.parametrize("servers", [ALL], indirect=True)
@pytest.mark.parametrize("seed", range(8))
def test_servers_and_ingests_are_killed_at_random(
    cluster_alone: RunningCluster,
    tmp_path: Path,
    servers: tuple[str, ...],
    crawl: Path,
    plain: dict[str, Any],
    seed: int,
) -> None:
    """Whatever was killed when, the same command lands the rest."""
    chance = random.Random(seed)
    sizes = {f"c/{path.name}": path.stat().st_size for path in crawl.glob("*/*.warc.gz")}
    folders = [str(crawl / server) for server in servers]
    with store_on(cluster_alone, tmp_path) as configuration:
        reader = Reader(configuration, sizes, RECORDS)
        victim = ""
        with reader.going_on():
            for folder in folders:
                process = start(tmp_path, "ingest", folder, "--crawl", "c", "-j", "2")
                assert process.stdout is not None
                for _ in range(chance.randrange(6)):
                    process.stdout.readline()
                time.sleep(chance.uniform(0, 1))
                is_soon = victim.startswith("datanode")
                victim = chance.choice(
                    [name for name in servers if not (is_soon and name.startswith("datanode"))]
                )
                kill(cluster_alone, victim)
                if chance.random() < 0.5:
                    time.sleep(chance.uniform(0, 1))
                    (os.killpg if chance.random() < 0.5 else os.kill)(process.pid, signal.SIGKILL)
                cluster_alone.up()
                _, errors = process.communicate()
                print(f"{victim}: exit {process.returncode}: {errors}")
                assert process.returncode in (0, 4, -signal.SIGKILL)
        done = call(tmp_path, "ingest", *folders, "--crawl", "c", "-j", "2")
        assert done.returncode == 0, done.stderr
        assert found(configuration) == plain
        checked = call_here(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")
