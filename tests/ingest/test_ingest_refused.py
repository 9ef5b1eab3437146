"""`pinakes ingest` where HDFS takes nothing, or a server hangs: exit 4, and why."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cluster_stores import Reader, found, store_on
from ingest_processes import call, start, write_folder
from shared_cluster import RunningCluster

from local_cluster.state import running
from pinakes.config import Configuration, load_configuration

pytestmark = pytest.mark.faults

FILES, RECORDS = 12, 10
REFUSALS = {
    "no room": "HDFS has no room for another block",
    "quota": "the quota of the folder is full",
    "permission": "this user has no permission for it in HDFS",
    "safe mode": "HDFS is in safe mode",
}
HANGING = {
    "namenode": "HDFS does not answer",
    "thrift": "HBase does not answer: the Thrift server 127.0.0.1:[0-9]+, or",
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files for each fault, named by a number, and one for before."""
    folder = tmp_path_factory.mktemp("crawls")
    for number in range(1 + len(REFUSALS)):
        write_folder(folder / str(number), files=FILES, records=RECORDS, first=number * FILES)
    return folder


def landed_plainly(folder: Path, crawl: Path, count: int) -> dict[str, Any]:
    """What one process makes of the first folders, in an embedded store."""
    folder.mkdir()
    assert call(folder, "init").returncode == 0
    folders = [str(crawl / str(number)) for number in range(count)]
    assert call(folder, "ingest", *folders, "--crawl", "c").returncode == 0
    options = {"store": str(folder / "pinakes-store")}
    return found(load_configuration(options=options, environment={}, folder=folder))


@contextmanager
def refusing(
    how: str, cluster: RunningCluster, configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """HDFS takes nothing more of us meanwhile."""

    def administer(*words: str) -> None:
        command = [cluster.layout.bin / "hdfs", "dfsadmin", *words]
        subprocess.run(command, check=True, capture_output=True)

    folder = str(configuration.hdfs).removeprefix(f"hdfs://{cluster.layout.address('namenode')}")
    with monkeypatch.context() as changed:
        changed.setenv("PINAKES_HDFS_RETRY_S", "15")
        if how == "no room":  # a name node looks for one that has as much as a whole block
            changed.setenv("PINAKES_HDFS_BLOCK_BYTES", str(1 << 47))
            yield
        elif how == "permission":
            changed.setenv("HADOOP_USER_NAME", "somebody")
            yield
        elif how == "quota":
            administer("-setSpaceQuota", "1", folder)
            yield
            administer("-clrSpaceQuota", folder)
        else:
            administer("-safemode", "enter")
            try:
                yield
            finally:
                administer("-safemode", "leave")


def test_hdfs_takes_nothing_more(
    cluster_alone: RunningCluster,
    tmp_path: Path,
    crawl: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each kind of refusal ends the ingest with 4; then the same command lands what was left."""
    sizes = {f"c/{path.name}": path.stat().st_size for path in crawl.glob("*/*.warc.gz")}
    with store_on(cluster_alone, tmp_path) as configuration:
        reader = Reader(configuration, sizes, RECORDS)
        land = ("ingest", "--crawl", "c", "-j", "2")
        assert call(tmp_path, *land, str(crawl / "0")).returncode == 0
        for number, (how, words) in enumerate(REFUSALS.items(), start=1):
            before = reader.visible()
            with refusing(how, cluster_alone, configuration, monkeypatch):
                refused = call(tmp_path, *land, str(crawl / str(number)))
                print(how, refused)
                assert refused.returncode == 4
                assert refused.stdout == ""
                assert re.search(
                    rf"^pinakes: error: {crawl}/{number}/\S+: {words}", refused.stderr, re.MULTILINE
                )
                assert "Traceback" not in refused.stderr
                assert reader.visible() == before
            again = call(tmp_path, *land, str(crawl / str(number)))
            assert again.returncode == 0, again.stderr
        expected = landed_plainly(tmp_path / "plain", crawl, 1 + len(REFUSALS))
        assert found(configuration) == expected
        checked = call(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")


def test_a_server_hangs_while_files_land(
    cluster_alone: RunningCluster,
    tmp_path: Path,
    crawl: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is waited for as long as retries last; then the ingest ends with 4."""
    sizes = {f"c/{path.name}": path.stat().st_size for path in crawl.glob("*/*.warc.gz")}
    with store_on(cluster_alone, tmp_path) as configuration:
        reader = Reader(configuration, sizes, RECORDS)
        for number, (server, words) in enumerate(HANGING.items()):
            land = ("ingest", "--crawl", "c", "-j", "2", str(crawl / str(number)))
            with monkeypatch.context() as changed:
                for name in ("HDFS_RETRY_S", "HBASE_RETRY_S", "HBASE_TIMEOUT_S"):
                    changed.setenv(f"PINAKES_{name}", "15")
                process = start(tmp_path, *land)
                assert process.stdout is not None
                line = process.stdout.readline()
                assert ": landed" in line, process.communicate()
                pid = running(cluster_alone.layout)[server].pid
                os.kill(pid, signal.SIGSTOP)
                try:
                    _, errors = process.communicate()
                finally:
                    os.kill(pid, signal.SIGCONT)
            print(server, errors)
            assert process.returncode == 4
            # Or whoever tells of the progress may be the first to miss it.
            assert re.match(rf"pinakes: error: (/\S+: )?{words}", errors.splitlines()[-1])
            assert "Traceback" not in errors
            assert 0 < len(reader.visible()) < (number + 1) * FILES
            again = call(tmp_path, *land)
            assert again.returncode == 0, again.stderr
        expected = landed_plainly(tmp_path / "plain", crawl, len(HANGING))
        assert found(configuration) == expected
        checked = call(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")
