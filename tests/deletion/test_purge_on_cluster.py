"""A purge on HBase and HDFS, killed anywhere, ends as it should: judged by zlib alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from cluster_stores import store_on
from killing import KILLED, in_child, kill_at
from purged import Payloads, capture, land, of_others, purge, revisit_of
from raw_payloads import payloads
from scenes import COLLECTION, Scene
from shared_cluster import RunningCluster

from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import PURGED, read_crawl
from pinakes.config import Configuration
from pinakes.dedupe.run.collection import Collection
from pinakes.deletion.requests import FORCE, PROMOTE, REFUSE
from pinakes.ingest.fsck.check import Fsck
from pinakes.profile import Stores, open_stores

SOME = pytest.param((23,), id="some")
ALL = pytest.param(tuple(range(0, 100, 2)), id="all", marks=pytest.mark.faults)


class _SceneThere(Scene):
    """A scene whose stores are on the cluster; its crawls are written to a folder."""

    def __init__(self, folder: Path, stores: Stores) -> None:
        self.folder = folder
        self.rows = stores.rows  # type: ignore[assignment]
        self.archive = stores.archive  # type: ignore[assignment]
        self.crawls = folder / "crawls"


def given_there(scene: Scene, folder: Path) -> Payloads:
    """What a reader of zlib alone is given by the store's files."""
    folder.mkdir(parents=True)
    paths = []
    for name, entry in sorted(Collection(scene.rows, scene.archive, COLLECTION).entries.items()):
        paths.append(folder / name.replace("/", "-"))
        with closing(scene.archive.open(entry.stored_name)) as file:
            paths[-1].write_bytes(file.read())
    return payloads(paths)


def land_all(scene: Scene) -> None:
    """Crawls 2 and 3 refer to crawl 1, by revisits of ours and of a crawler."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), revisit_of(2, 2, (1, 2)))
    land(scene, 3, revisit_of(3, 1, (1, 1)), capture(3, 2))
    scene.dedupe()


@pytest.mark.parametrize("steps", [SOME, ALL])
def test_killed_at_any_step_and_run_again_on_hbase(
    cluster: RunningCluster, tmp_path: Path, steps: tuple[int, ...]
) -> None:
    killed = 0
    with store_on(cluster, tmp_path) as configuration:
        for step in steps:
            folder = tmp_path / str(step)
            killed += _killed_once(configuration, folder, step)
    assert killed > len(steps) // 3


def _killed_once(configuration: Configuration, folder: Path, step: int) -> bool:
    with open_stores(configuration) as stores:
        scene = _SceneThere(folder, stores)
        land_all(scene)
        before = given_there(scene, folder / "before")
        assert len(before) == 6

    def child() -> None:
        with open_stores(configuration) as stores:
            purge(_SceneThere(folder, stores), 1, PROMOTE, at=kill_at(step))

    code = in_child(child)
    assert code in (0, KILLED)
    with open_stores(configuration) as stores:
        scene = _SceneThere(folder, stores)
        report = purge(scene, 1, PROMOTE)
        assert not report.problems, step
        entry = read_crawl(stores.rows, "c1")
        assert entry is not None
        assert entry.state == PURGED
        assert given_there(scene, folder / "after") == of_others(before, 1), f"step {step}"
        assert list(Fsck(stores.rows, stores.archive, Actor()).findings()) == [], f"step {step}"
        for crawl in (3, 2):  # so that the next step begins with nothing, pins included
            assert not purge(scene, crawl, FORCE).problems
    return code == KILLED


def test_pins_stay_on_hbase_for_a_crawl_that_lands_again(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    with store_on(cluster, tmp_path) as configuration, open_stores(configuration) as stores:
        scene = _SceneThere(tmp_path / "scene", stores)
        land_all(scene)
        for _ in range(2):
            assert len(purge(scene, 1, FORCE).dangling) == 4
            scene.land(1)
            assert list(Fsck(stores.rows, stores.archive, Actor()).findings()) == []
        assert len(purge(scene, 1, REFUSE).references) == 4
