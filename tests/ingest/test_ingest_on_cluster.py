"""Several ingests on one folder, on real HBase and HDFS; killed, and run again."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from archive_builders import dictionary, dictionary_frame, frame
from cluster_stores import found, store_on
from ingest_processes import call, kill_after, start, wait_for_ends, write_folder
from shared_cluster import RunningCluster

from pinakes.config import load_configuration
from pinakes.hadoop_tools import run_tool
from pinakes.profile import bulk_loading, open_stores
from pinakes.row_store.hbase.bulk import list_loads

FILES, RECORDS = 8, 50


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls") / "c"
    write_folder(folder, files=FILES, records=RECORDS)
    _pack_anew(max(folder.rglob("*.warc.gz")))
    return folder


def _pack_anew(path: Path) -> None:
    """In Zstandard, with a dictionary: a record takes the first bytes of its file, too."""
    known = dictionary()
    whole = gzip.decompress(path.read_bytes())
    records = [b"WARC/1" + record for record in whole.split(b"WARC/1")[1:]]
    frames = b"".join(frame(record, dictionary=known) for record in records)
    path.unlink()
    path.with_suffix(".zst").write_bytes(dictionary_frame(known) + frames)


@pytest.fixture(scope="module")
def plain(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process makes of the folder, in an embedded store."""
    folder = tmp_path_factory.mktemp("plain")
    assert call(folder, "init").returncode == 0
    assert call(folder, "ingest", str(crawl), "--crawl", "c").returncode == 0
    options = {"store": str(folder / "pinakes-store")}
    return found(load_configuration(options=options, environment={}, folder=folder))


def test_two_ingests_of_one_folder_land_each_file_once(
    cluster: RunningCluster, tmp_path: Path, crawl: Path, plain: dict[str, Any]
) -> None:
    with store_on(cluster, tmp_path) as configuration:
        options = ("ingest", str(crawl), "--crawl", "c", "-v")
        both = [start(tmp_path, *options, "-j", jobs) for jobs in ("2", "1")]
        said = [process.communicate() for process in both]
        assert [process.returncode for process in both] == [0, 0], said
        lines = [line for out, _ in said for line in out.splitlines()]
        assert len(lines) == 2 * FILES
        assert sum(": landed" in line for line in lines) == FILES
        assert found(configuration) == plain
        checked = call(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")


def test_nothing_is_put_where_hdfs_is_away(
    cluster: RunningCluster, tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_on(cluster, tmp_path) as configuration:
        with monkeypatch.context() as changed:
            changed.setenv("PINAKES_HDFS", "hdfs://127.0.0.1:1/nobody")
            changed.setenv("PINAKES_HDFS_PATIENCE_S", "1")
            refused = call(tmp_path, "ingest", str(crawl), "--crawl", "c")
        assert refused.returncode == 4
        assert "safe to run again" in refused.stderr
        with open_stores(configuration) as stores:
            assert [list(stores.rows.scan(name)) for name in ("crawls", "runs", "inflight")] == [
                [], [], []
            ]  # fmt: skip


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(10))
def test_killed_anywhere_and_run_again(
    cluster: RunningCluster, tmp_path: Path, crawl: Path, plain: dict[str, Any], seed: int
) -> None:
    chance = random.Random(seed)
    with store_on(cluster, tmp_path) as configuration:
        options = ("ingest", str(crawl), "--crawl", "c", "-j")
        for _ in range(3):
            process = start(tmp_path, *options, str(chance.randint(1, 3)))
            lines, pause_s = chance.randrange(FILES // 2), chance.uniform(0, 1)
            kill_after(process, lines, group=chance.random() < 0.5, pause_s=pause_s)
        done = call(tmp_path, *options, "2")
        assert done.returncode == 0, done.stderr
        assert found(configuration) == plain
        checked = call(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")


@pytest.mark.faults
@pytest.mark.parametrize("seed", range(5))
def test_killed_anywhere_in_bulk_and_run_again(
    cluster: RunningCluster, tmp_path: Path, crawl: Path, plain: dict[str, Any], seed: int
) -> None:
    chance = random.Random(seed)
    bulk_folder = f"/test{token_hex(4)}-bulk"
    with store_on(cluster, tmp_path, {"bulk_folder": bulk_folder}) as configuration:
        options = ("ingest", str(crawl), "--crawl", "c", "--bulk", "-j", "2")
        for _ in range(3):
            process = start(tmp_path, *options)
            kill_after(process, 0, group=chance.random() < 0.5, pause_s=chance.uniform(1, 20))
        done = call(tmp_path, *options)
        assert done.returncode == 0, done.stderr
        assert found(configuration) == plain
        checked = call(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")
        # What a killed ingest had started may have made files behind the first repeat.
        wait_for_ends(bulk_folder)
        assert call(tmp_path, *options).returncode == 0
        loading = bulk_loading(configuration)
        assert list_loads(loading) == []
        run_tool([*loading.tools.hadoop, "fs", "-rm", "-r", "-f", "-skipTrash", bulk_folder])
