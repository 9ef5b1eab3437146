"""Stores on HBase and HDFS, backed up and made anew beside themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from agreement import check_marks, check_references
from backup_scenes import untouched
from cluster_scenes import (
    backup_folder,
    cells,
    checksums,
    killed,
    left_over,
    make_store,
    options,
    pinakes,
    room_on,
    scene_on,
    somebody_at_work,
)
from scenes import Scene, write_crawl

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.backup.cluster_places import TABLES
from pinakes.backup.copying import copy_file
from pinakes.catalog.file_rows import scan_entries
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.fsck.check import Fsck
from pinakes.row_store.hbase.own_table import OWN_TABLE

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

pytestmark = pytest.mark.faults
Settings = dict[str, str]


@pytest.fixture
def settings(cluster: RunningCluster, tmp_path: Path) -> Iterator[Settings]:
    """A store, empty."""
    with room_on(cluster, tmp_path) as made:
        make_store(made)
        yield made


@pytest.fixture
def elsewhere(cluster: RunningCluster, tmp_path: Path) -> Iterator[Settings]:
    """Room for another one."""
    with room_on(cluster, tmp_path) as made:
        yield made


def check_agreement(scene: Scene, folder: Path) -> int:
    """Rows against records, in copies of the files; how many references there are."""
    found = Fsck(scene.rows, scene.archive, Actor(), full=True).findings()
    assert [f"{f.file}: {f.code}: {f.message}" for f in found] == []
    copies = LocalArchiveStore(folder / "copies")
    for stored in scene.archive.list():
        copy_file(scene.archive, stored.name, copies, stored.name, token="copy")
    scene.archive = copies
    check_marks(scene)
    return check_references(scene)


def test_tables_are_held_in_order() -> None:
    assert set(TABLES) == {table.name for table in (*declared_schema().tables, OWN_TABLE)}
    assert TABLES.index("crawls") > max(map(TABLES.index, ("captures", "digests", "qa_pairs")))
    assert TABLES.index("files") > TABLES.index("crawls")
    assert min(map(TABLES.index, ("inflight", "runs"))) > TABLES.index("files")


def test_to_a_folder_killed_and_gone_on_with(
    settings: Settings, elsewhere: Settings, tmp_path: Path
) -> None:
    place = str(tmp_path / "backup")
    for crawl in (1, 2):
        write_crawl(tmp_path / "crawls" / f"c{crawl}", crawl)
    with scene_on(tmp_path, settings) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        Remover(scene.rows, scene.archive, Actor()).take_out("c2", CANCEL)
        scene.land(2)
        scene.dedupe(act="dedupe-b")
        rows, files = cells(scene.rows), checksums(scene)
        assert any(name.startswith("c2/g2/") for name in files)
        # Refused, where only an administrator may allow snapshots, before anything is held.
        nobody = f"env HADOOP_USER_NAME=nobody {settings['hadoop_command']}"
        as_nobody = options({**settings, "hadoop_command": nobody}, tmp_path)
        refused = pinakes("backup", place, *as_nobody)
        assert (refused.returncode, "dfsadmin -allowSnapshot" in refused.stderr) == (2, True)
        # Once while it holds the moment, and begun again; once later, and gone on with.
        # HBase's tools are run by somebody else, as they are where HBase has a user of its own.
        somebody = f"env HADOOP_USER_NAME=somebody {settings['hbase_command']}"
        by_two = {**settings, "hbase_command": somebody}
        assert killed("backup", place, by_two, "table held")
        assert killed("backup", place, by_two, "table exported")
        assert main(["backup", place, *options(by_two, tmp_path)]) == 0
        assert left_over(settings, scene.rows) == []
    assert main(["backup", place, "--verify"]) == 0
    assert killed("restore", place, elsewhere, "table made")
    assert main(["restore-backup", place, *options(elsewhere, tmp_path)]) == 0
    with scene_on(tmp_path / "new", elsewhere) as new:
        assert cells(new.rows) == rows
        assert checksums(new) == files
        assert left_over(elsewhere, new.rows) == []
        assert check_agreement(new, tmp_path) == 8


def test_to_hdfs_while_work_goes_on(
    settings: Settings, elsewhere: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = backup_folder(elsewhere["hdfs"])
    for crawl in (1, 2, 3):
        write_crawl(tmp_path / "crawls" / f"c{crawl}", crawl)
    with scene_on(tmp_path, settings) as scene:
        scene.land(1)
        scene.land(2)
        with somebody_at_work(tmp_path, settings):
            scene.land(3)
            before = cells(scene.rows)
            assert main(["backup", place, *options(settings, tmp_path)]) == 0
            after = cells(scene.rows)
        assert left_over(settings, scene.rows) == []
    assert main(["backup", place, "--verify", *options(settings, tmp_path)]) == 0
    assert main(["restore-backup", place, *options(elsewhere, tmp_path)]) == 0
    capsys.readouterr()
    assert main(["restore-backup", place, *options(elsewhere, tmp_path)]) == 2
    assert "into an empty store" in capsys.readouterr().err
    with scene_on(tmp_path / "new", elsewhere) as new:
        kept = untouched(before, after)
        assert len(kept) > 50
        assert kept <= cells(new.rows)
        stored = {e.archive_file for e in scan_entries(new.rows) if e.state == "stored"}
        assert stored >= {f"c{crawl}/part-{part}.warc.gz" for crawl in (1, 3) for part in (0, 1)}
        assert left_over(elsewhere, new.rows) == []
        check_agreement(new, tmp_path)
