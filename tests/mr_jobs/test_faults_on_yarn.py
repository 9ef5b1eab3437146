"""Verbs with `--runner hadoop` on real servers while something is killed, lost or damaged.

Each is run until it ends well; then the collection is what a run in one process makes of the
same crawls elsewhere, record by record.  A run takes minutes: what can be done to one is done
to one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cluster_stores import store_on
from ingest_processes import call, start, until
from scenes import write_crawl

from local_cluster.state import running
from pinakes.archive_store.port import ASIDE
from pinakes.catalog.file_rows import scan_entries
from pinakes.config import Configuration, load_configuration
from pinakes.profile import Stores, open_stores
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

pytestmark = pytest.mark.yarn
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")
_REFERS = ("WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
Records = dict[str, list[tuple[object, ...]]]
Address = tuple[str | None, ...]


def records_of(stores: Stores) -> Records:
    """Each record of each file as it is now, with what it refers to; without the run's name."""
    found: Records = {}
    for entry in scan_entries(stores.rows):
        with closing(stores.archive.open(entry.stored_name)) as file:
            found[entry.archive_file] = [
                (item.type, item.record_id, *map(item.header.get, _REFERS))
                for item in iter_records(Source(file, name=entry.archive_file))
                if isinstance(item, Record)
            ]
    return found


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls")
    for number, name in enumerate("ab", 1):
        write_crawl(folder / name, number, pages=36, files=2)
    return folder


def land(folder: Path, crawls: Path) -> None:
    for name in "ab":
        done = call(folder, "ingest", str(crawls / name), "--crawl", name)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def plain(crawls: Path, tmp_path_factory: pytest.TempPathFactory) -> Records:
    """What one process makes of the crawls, in an embedded store."""
    folder = tmp_path_factory.mktemp("plain")
    assert call(folder, "init").returncode == 0
    land(folder, crawls)
    done = call(folder, *DEDUPE)
    assert done.returncode == 0, done.stderr
    options = {"store": str(folder / "pinakes-store")}
    configuration = load_configuration(options=options, environment={}, folder=folder)
    with open_stores(configuration) as stores:
        found = records_of(stores)
    assert sum(record[0] == "revisit" for file in found.values() for record in file) > 10
    return found


@pytest.fixture
def landed(cluster: RunningCluster, tmp_path: Path, crawls: Path) -> Iterator[Configuration]:
    """The crawls in a store of their own, on the cluster; `tmp_path` is where verbs run."""
    with store_on(cluster, tmp_path, _jobs(cluster)) as configuration:
        land(tmp_path, crawls)
        yield configuration


def _jobs(cluster: RunningCluster) -> dict[str, str]:
    # One environment for all runs of the tests: it is named by what is in it.
    return {"job_folder": f"{cluster.settings('x')['hdfs'].rpartition('/')[0]}/test-jobs"}


def tasks_of(configuration: Configuration, job: str) -> list[int]:
    """The processes in which tasks of this job run, on the cluster of these settings."""
    assert configuration.hdfs_config is not None
    cluster = configuration.hdfs_config.parent
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            is_here = (folder / "cwd").readlink().is_relative_to(cluster)
        except OSError:  # it has ended
            continue
        if is_here and f"{job}.py".encode() in words and b"--step-num=0" in words:
            found.append(int(folder.name))
    return found


def end_well(folder: Path, configuration: Configuration, plain: Records) -> None:
    done = call(folder, *DEDUPE, "--runner", "hadoop")
    assert done.returncode == 0, done.stderr
    check_ended(folder, configuration, plain)


def check_ended(folder: Path, configuration: Configuration, plain: Records) -> None:
    with open_stores(configuration) as stores:
        assert records_of(stores) == plain
        assert [*stores.archive.list(ASIDE)] == []
    checked = call(folder, "fsck", "--full")
    assert checked.returncode == 0, checked.stdout


def kill_task(configuration: Configuration, job: str) -> Callable[[], object]:
    def kill() -> object:
        tasks = tasks_of(configuration, job)
        for task in tasks[:1]:
            os.kill(task, signal.SIGKILL)
        return tasks

    return kill


def test_tasks_are_killed(landed: Configuration, tmp_path: Path, plain: Records) -> None:
    """One of each of these jobs.  Hadoop tries it again, and nobody sees what it had written."""
    process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
    for job in ("resolve_collisions", "write_generations", "validate"):
        until(kill_task(landed, job), process)
    _, said = process.communicate()
    assert process.returncode == 0, said
    check_ended(tmp_path, landed, plain)


def test_the_driver_is_killed_while_its_job_goes_on(
    landed: Configuration, tmp_path: Path, plain: Records
) -> None:
    """In one job, then in another of the run that goes on with it."""
    for job in ("flag_duplicates", "write_generations"):
        process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
        until(partial(tasks_of, landed, job), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    end_well(tmp_path, landed, plain)


def test_the_driver_of_a_recompression_is_killed(landed: Configuration, tmp_path: Path) -> None:
    """Twice, and what its tasks write then is nobody's."""
    compress = (*("zstd", "compress", "a", "b", "--runner", "hadoop", "--min-file-saving", "0"),)
    with open_stores(landed) as stores:
        before = records_of(stores)
    for _ in range(2):
        process = start(tmp_path, *compress)
        until(partial(tasks_of, landed, "recompress_generations"), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = call(tmp_path, *compress)
    assert done.returncode == 0, done.stderr
    check_ended(tmp_path, landed, before)
    with open_stores(landed) as stores:
        assert {entry.stored_name[-4:] for entry in scan_entries(stores.rows)} == {".zst"}


def test_every_task_is_tried_twice_at_once(
    landed: Configuration, tmp_path: Path, plain: Records
) -> None:
    """Speculative execution, as eager as Hadoop can be made."""
    speculative = {
        "mapreduce.map.speculative": "true",
        "mapreduce.reduce.speculative": "true",
        "mapreduce.job.speculative.speculative-cap-running-tasks": "1.0",
        "mapreduce.job.speculative.speculative-cap-total-tasks": "1.0",
        "mapreduce.job.speculative.minimum-allowed-tasks": "10",
        "mapreduce.job.speculative.slowtaskthreshold": "0.01",
        "mapreduce.job.speculative.retry-after-no-speculate": "100",
        "mapreduce.job.speculative.retry-after-speculate": "100",
    }
    words = " ".join(f"-D {name}={value}" for name, value in speculative.items())
    with (tmp_path / "pinakes.toml").open("a") as file:
        file.write(f'job_options = "{words}"\n')
    end_well(tmp_path, landed, plain)


def test_a_file_is_lost_while_it_is_deduplicated(
    landed: Configuration, tmp_path: Path, plain: Records
) -> None:
    """Named, and left; the others are what they would be, and nothing refers to it."""
    lost = "b/part-1.warc.gz"
    process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
    until(lambda: tasks_of(landed, "flag_duplicates"), process)
    with open_stores(landed) as stores:
        with closing(stores.archive.open(lost)) as file:
            content = file.read()
        stores.archive.delete(lost)
    _, said = process.communicate()
    assert process.returncode == 3, said
    assert f"{lost}: is lost" in said
    with open_stores(landed) as stores, stores.archive.create_aside("back") as aside:
        aside.file.write(content)
        aside.publish(lost)
    end_well(tmp_path, landed, plain)


def test_archive_file_is_damaged_on_disk(
    landed: Configuration, tmp_path: Path, plain: Records
) -> None:
    """What cannot be read is no duplicate and no original; it is named."""
    damaged = "a/part-1.warc.gz"
    with open_stores(landed) as stores:
        with closing(stores.archive.open(damaged)) as file:
            content = file.read()
        stores.archive.delete(damaged)
        with stores.archive.create_aside("bad") as aside:
            aside.file.write(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
            aside.publish(damaged)
    done = call(tmp_path, *DEDUPE, "--runner", "hadoop", "--json")
    assert done.returncode == 3, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    unreadable = report["decisions"]["resolve"]["unreadable"]
    assert {problem["file"] for problem in unreadable} == {damaged}
    assert report["files_rewritten"] > 0
    reported = call(tmp_path, "fsck", "--full", "--json").stdout.splitlines()
    assert {json.loads(line)["file"] for line in reported} == {damaged}


def test_a_crawl_lands_and_another_is_taken_out_meanwhile(
    landed: Configuration, tmp_path: Path
) -> None:
    """What landed takes part in the next run; what is to be taken out waits for this one."""
    write_crawl(tmp_path / "c", 3, pages=36, files=2)
    process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
    until(lambda: tasks_of(landed, "resolve_collisions"), process)
    removal = start(tmp_path, "crawl", "cancel", "b")
    lander = call(tmp_path, "ingest", str(tmp_path / "c"), "--crawl", "c")
    assert lander.returncode == 0, lander.stderr
    _, said = process.communicate()
    assert process.returncode == 0, said
    _, said = removal.communicate()
    if removal.returncode:
        assert "dedupe-" in said
        again = call(tmp_path, "crawl", "cancel", "b")
        assert again.returncode == 0, again.stderr
    done = call(tmp_path, *DEDUPE, "--runner", "hadoop")
    assert done.returncode == 0, done.stderr
    with open_stores(landed) as stores:
        full, referred = addresses(stores)
        stored = [entry for entry in scan_entries(stores.rows) if entry.state == "stored"]
        assert {entry.archive_file[0] for entry in stored} == {"a", "c"}
    assert len(referred) > 10
    assert referred <= full
    checked = call(tmp_path, "fsck", "--full")
    assert checked.returncode == 0, checked.stdout


def addresses(stores: Stores) -> tuple[set[Address], set[Address]]:
    """URI and date of each full record, and of what each revisit refers to."""
    full, referred = set(), set()
    for entry in scan_entries(stores.rows):
        if entry.state != "stored":
            continue
        with closing(stores.archive.open(entry.stored_name)) as file:
            for item in iter_records(Source(file, name=entry.archive_file)):
                assert isinstance(item, Record)
                if item.type == "revisit":
                    referred.add(tuple(map(item.header.get, _REFERS[1:])))
                elif item.type == "response":
                    full.add((item.header.get("WARC-Target-URI"), item.header.get("WARC-Date")))
    return full, referred


@pytest.fixture
def small_disk(cluster_alone: RunningCluster) -> Iterator[Path]:
    """Where YARN's tasks work, a disk of its own; skips where nobody may mount one."""
    place = cluster_alone.layout.data / "nodemanager"
    mount = ["mount", "-t", "tmpfs", "-o", "size=3g", "tmpfs", str(place)]
    kill_server(cluster_alone, "nodemanager")
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk, and not everywhere")
    cluster_alone.up()
    yield place
    kill_server(cluster_alone, "nodemanager")
    subprocess.run(["umount", "-l", str(place)], check=True)


def kill_server(cluster: RunningCluster, name: str) -> None:
    os.kill(running(cluster.layout)[name].pid, signal.SIGKILL)
    time.sleep(1)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))


def test_the_disk_of_tasks_is_full(
    cluster_alone: RunningCluster, small_disk: Path, tmp_path: Path, crawls: Path, plain: Records
) -> None:
    """For a while: the run waits for room, or fails and is run again."""
    with store_on(cluster_alone, tmp_path, _jobs(cluster_alone)) as configuration:
        land(tmp_path, crawls)
        process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
        until(lambda: tasks_of(configuration, "resolve_collisions"), process)
        filler = small_disk / "filler"
        with pytest.raises(OSError, match="No space left"):
            fill(filler)
        time.sleep(20)
        filler.unlink()
        _, said = process.communicate()
        assert process.returncode in (0, 4), said
        if process.returncode:
            end_well(tmp_path, configuration, plain)
        else:
            check_ended(tmp_path, configuration, plain)


def test_the_node_manager_is_killed(
    cluster_alone: RunningCluster, tmp_path: Path, crawls: Path, plain: Records
) -> None:
    with store_on(cluster_alone, tmp_path, _jobs(cluster_alone)) as configuration:
        land(tmp_path, crawls)
        process = start(tmp_path, *DEDUPE, "--runner", "hadoop")
        until(lambda: tasks_of(configuration, "write_generations"), process)
        kill_server(cluster_alone, "nodemanager")
        cluster_alone.up()
        _, said = process.communicate()
        assert process.returncode in (0, 4), said
        if process.returncode:
            end_well(tmp_path, configuration, plain)
        else:
            check_ended(tmp_path, configuration, plain)
