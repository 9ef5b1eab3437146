"""Scenes on HBase and HDFS: stores of their own, backed up, restored, and what is in them.

As a program it is somebody in a process of his own:

    cluster_scenes.py work FOLDER SETTINGS            works on a scene until FOLDER/stop is there
    cluster_scenes.py backup|restore PLACE SETTINGS STEP        dies, as by kill -9, at a step
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from hbase_opener import drop_tables, make_tables
from killing import KILLED
from scenes import At, Scene, write_crawl

from pinakes.acts.actor import Actor
from pinakes.application.backups import cluster_places
from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.hdfs.errors import HdfsFileNotFound
from pinakes.backup.cluster_restorer import ClusterRestorer
from pinakes.backup.cluster_snapshots import RESTORING, ClusterSnapshots
from pinakes.backup.making import BackupMaker
from pinakes.backup.restoring import BackupRestoring
from pinakes.backup.stage import BACKUPS, Stage, stage_names
from pinakes.config import Configuration, load_configuration
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Conflict
from pinakes.hbase_schema.tables import SCHEMA_VERSION, declared_schema
from pinakes.profile import (
    hbase_connection,
    hdfs_connection,
    open_archive,
    open_folder,
    open_stores,
)
from pinakes.row_store.port import RowStore

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

TIMEOUT_S = 900.0
Settings = Mapping[str, str]
Cell = tuple[str, bytes, bytes, int, bytes]


def configuration_of(settings: Settings) -> Configuration:
    return load_configuration(options=dict(settings), environment={}, folder=Path("/"))


@contextmanager
def room_on(cluster: RunningCluster, folder: Path) -> Iterator[dict[str, str]]:
    """Settings of a store that is not there; what there is at the end, goes."""
    name = f"backup{token_hex(4)}"
    settings = {
        **cluster.settings(name),
        "store": str(folder / name),
        "bulk_mapreduce": "local",
        "hbase_timeout_s": "180",  # making a table takes a minute on a host with much to do
    }
    try:
        yield settings
    finally:
        _clear(configuration_of(settings))


def make_store(settings: Settings) -> None:
    make_tables(hbase_connection(configuration_of(settings)), declared_schema())


def backup_folder(folder: str) -> str:
    """A folder of HDFS beside a store's, for a backup; it goes with the store."""
    return f"{folder}-backup"


def _clear(configuration: Configuration) -> None:
    places = cluster_places(configuration)
    with closing(ClusterSnapshots(places)) as snapshots:
        for act in snapshots.acts():
            snapshots.drop(act)
    with closing(HdfsCalls(places.hdfs)) as calls:
        if RESTORING in stage_names(calls, places.hdfs):
            for mark in Stage(calls, places.hdfs, RESTORING).marks():
                with places.hbase_client() as hbase:
                    hbase.drop(f"restore-{mark.partition('.')[2]}")
        for folder in (places.hdfs.folder, backup_folder(places.hdfs.folder)):
            calls.ask(folder, lambda client, folder=folder: client.delete(folder, True))
    drop_tables(hbase_connection(configuration))


@contextmanager
def scene_on(folder: Path, settings: Settings) -> Iterator[Scene]:
    with open_stores(configuration_of(settings)) as stores:
        scene = Scene(folder, stores.rows)  # type: ignore[arg-type]
        scene.archive = stores.archive  # type: ignore[assignment]
        yield scene


def options(settings: Settings, folder: Path) -> list[str]:
    """What names these settings on a command line."""
    file = folder / f"{settings['hbase_prefix'].rstrip(':')}.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    return ["--config", str(file)]


# --- what there is


def cells(rows: RowStore) -> set[Cell]:
    """Every version of every cell, but for what tells of backups themselves."""
    return {
        (table.name, row.key, column, cell.timestamp_ms, cell.value)
        for table in declared_schema().tables
        for row in rows.scan(table.name)
        if not (table.name == "crawls" and row.key == b"+")
        and not (table.name == "runs" and row.key.startswith((b"backup-", b"restore-")))
        for column in row.cells
        for cell in rows.versions(table.name, row.key, column)
    }


def checksums(scene: Scene) -> dict[str, str]:
    return {stored.name: scene.archive.checksum(stored.name) for stored in scene.archive.list()}


def left_over(settings: Settings, rows: RowStore) -> list[str]:
    """What backups and restorings of a store have left: snapshots, folders."""
    connection = hdfs_connection(configuration_of(settings))
    acts = [row.key.decode() for row in rows.scan("runs") if row.key.startswith(b"backup-")]
    with closing(HdfsCalls(connection)) as calls:
        held = _names(calls, f"{connection.folder}/.snapshot")
        beside = [name for name in _names(calls, connection.folder) if name == BACKUPS]
        tables = [
            name
            for folder in ("/hbase/.hbase-snapshot", "/hbase/.hbase-snapshot/.tmp")
            for name in _names(calls, folder)
            if any(act in name for act in acts)
        ]
    return [*held, *beside, *tables]


def _names(calls: HdfsCalls, folder: str) -> list[str]:
    try:  # which of snapshots are there, can be listed only where they are allowed
        calls.ask(folder, lambda client: client.get_file_info(folder))
        found = calls.ask(folder, lambda client: list(client.list_status(folder)))
    except HdfsFileNotFound:
        return []
    return [status.path.rpartition("/")[2] for status in found]


# --- what is done


def back_up(settings: Settings, place: str, at: At) -> None:
    configuration = configuration_of(settings)
    with (
        open_stores(configuration) as stores,
        open_folder(place, configuration) as target,
        closing(ClusterSnapshots(cluster_places(configuration), at=at)) as snapshots,
    ):
        BackupMaker(
            stores.rows,
            stores.archive,
            snapshots,
            target,
            Actor(),
            profile="cluster",
            software="tests",
            place=place,
            runs_folder=stores.runs_folder,
            at=at,
        ).make()


def restore(settings: Settings, place: str, at: At) -> None:
    configuration = configuration_of(settings)
    places = cluster_places(configuration)
    with (
        open_folder(place, configuration) as backup,
        open_archive(configuration) as archive,
        closing(ClusterRestorer(places, declared_schema(), at=at)) as restorer,
    ):
        BackupRestoring(
            backup,
            restorer,
            archive,
            place=place,
            profile="cluster",
            schema_version=SCHEMA_VERSION,
            software="tests",
            runs_folder=configuration.store / "runs",
            at=at,
        ).restore()


def work(folder: Path, settings: Settings) -> None:
    """Land, deduplicate, drop, take out and land again."""
    dice = random.Random(1)
    with scene_on(folder, settings) as scene:
        while not (folder / "stop").exists():
            number = dice.randrange(10, 10_000)
            write_crawl(scene.crawls / f"c{number}", number % 10, pages=4, files=1)
            try:
                scene.land(number)
                scene.dedupe(act=f"dedupe-{dice.randrange(1 << 30)}", grace_ms=0)
                Remover(scene.rows, scene.archive, Actor()).take_out("c2", CANCEL)
                scene.land(2)
            except Conflict:
                time.sleep(0.1)
            (folder / "rounds").write_text(str(number))


def die_at(wanted: str) -> At:
    def at(step: str) -> None:
        if step == wanted:
            os._exit(KILLED)

    return at


# --- processes

PINAKES = (sys.executable, "-c", "import sys; from pinakes.cli import main; sys.exit(main())")


def pinakes(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in a process of its own."""
    command = [*PINAKES, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def killed(verb: str, place: str, settings: Settings, step: str) -> bool:
    """Make or restore a backup in a process that dies at a step; whether it came to it."""
    words = [sys.executable, str(Path(__file__)), verb, place, json.dumps(dict(settings)), step]
    done = subprocess.run(words, env=_environment(), timeout=TIMEOUT_S, check=False)
    assert done.returncode in (0, KILLED)
    return done.returncode == KILLED


@contextmanager
def somebody_at_work(folder: Path, settings: Settings) -> Iterator[None]:
    words = [sys.executable, str(Path(__file__)), "work", str(folder), json.dumps(dict(settings))]
    with subprocess.Popen(words, env=_environment()) as process:
        try:
            _wait_for((folder / "rounds").exists, process)
            yield
        finally:
            (folder / "stop").touch()
            process.wait(TIMEOUT_S)
    assert process.returncode == 0


def _environment() -> dict[str, str]:
    """With `local_cluster` on the path, as here."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def _wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + TIMEOUT_S
    while not condition():
        assert process.poll() is None, "the worker died"
        assert time.monotonic() < give_up
        time.sleep(0.1)


if __name__ == "__main__":
    verb, place, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    if verb == "work":
        work(Path(place), given)
    else:
        {"backup": back_up, "restore": restore}[verb](given, place, die_at(sys.argv[4]))
