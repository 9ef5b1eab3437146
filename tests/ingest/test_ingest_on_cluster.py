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
from importing import COLLECTION, entry_of, import_all, state_of, write_manifest, write_wacz
from ingest_processes import call, kill_after, start, wait_for_ends, write_folder
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page
from shared_cluster import RunningCluster
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.config import load_configuration
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import PinakesError
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
    assert call_here(folder, "init").returncode == 0
    assert call_here(folder, "ingest", str(crawl), "--crawl", "c").returncode == 0
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
        checked = call_here(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")


def test_nothing_is_put_where_hdfs_is_away(
    cluster: RunningCluster, tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_on(cluster, tmp_path) as configuration:
        with monkeypatch.context() as changed:
            changed.setenv("PINAKES_HDFS", "hdfs://127.0.0.1:1/nobody")
            changed.setenv("PINAKES_HDFS_RETRY_S", "1")
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
        checked = call_here(tmp_path, "fsck", "--full")
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
        checked = call_here(tmp_path, "fsck", "--full")
        assert (checked.returncode, checked.stdout) == (0, "")
        # What a killed ingest had started may have made files behind the first repeat.
        wait_for_ends(bulk_folder)
        assert call(tmp_path, *options).returncode == 0
        loading = bulk_loading(configuration)
        assert list_loads(loading) == []
        run_tool([*loading.tools.hadoop, "fs", "-rm", "-r", "-f", "-skipTrash", bulk_folder])


# --- WACZ files are imported into HBase and HDFS as they are into a folder, kills included


URI = "http://example.org/"
SOME = pytest.param((47,), id="some")
ALL = pytest.param(tuple(range(75)), id="all", marks=pytest.mark.faults)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Two WACZ files of two crawls, the second twice, and one that is not what is declared."""
    folder = tmp_path / "in"
    one = write_wacz(folder / "one.wacz", page(URI))
    two = write_wacz(folder / "two.wacz", page(f"{URI}2", b"two"))
    copy = folder / "copy.wacz"
    copy.write_bytes(two.read_bytes())
    entries = [entry_of(path, crawlId=f"c-{path.stem}") for path in (one, two)]
    wrong = {**entry_of(one, name="wrong.wacz"), "hash": "0" * 64}
    return write_manifest(folder / "all.json", [*entries, {"path": copy.name}, wrong])


@pytest.mark.parametrize("steps", [SOME, ALL])
def test_killed_at_any_step_hbase_ends_as_a_folder_does(
    cluster: RunningCluster, tmp_path: Path, manifest: Path, steps: tuple[int, ...]
) -> None:
    alone = LandedStore(tmp_path / "alone")
    import_all(alone.rows, alone.archive, [manifest])
    wanted = _same_on_both(state_of(alone.rows, alone.archive))
    alone.close()
    assert [len(files) for files in wanted["lists"].values()] == [1, 1]
    killed = 0
    with store_on(cluster, tmp_path) as configuration:
        for step in steps:

            def child(step: int = step) -> None:
                with open_stores(configuration) as stores:
                    import_all(stores.rows, stores.archive, [manifest], at=kill_at(step))

            code = in_child(child)
            assert code in (0, KILLED)
            killed += code == KILLED
            with open_stores(configuration) as stores:
                import_all(stores.rows, stores.archive, [manifest])
                found = _same_on_both(state_of(stores.rows, stores.archive))
                assert found == wanted, f"step {step}"
                # Everything anew, in the crawls of the same names.
                for crawl in wanted["lists"]:
                    Remover(stores.rows, stores.archive, Actor()).take_out(crawl, CANCEL)
                left = state_of(stores.rows, stores.archive)
                assert (left["known"], left["captures"]) == ([], [])
                for problem in import_all(stores.rows, stores.archive, [], resume=True):
                    assert isinstance(problem, PinakesError)
                    assert "in the manifest" in problem.message
                for row in list(stores.rows.scan("crawls")):
                    assert not row.key.startswith(b"+%b:crawl:" % COLLECTION.encode())
    assert killed > len(steps) // 2


def _same_on_both(state: dict[str, Any]) -> dict[str, Any]:
    """Without what a step of one store alone leaves: files that were there and are removed."""
    files = [(name, str(was)) for name, was in state["files"] if str(was) == "stored"]
    return {**state, "files": files}
