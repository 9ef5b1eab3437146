"""Purged by force: what revisits still name, and the crawl that lands again and has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_after
from purged import capture, given, land, purge, revisit_of, write
from scenes import COLLECTION, Scene, make_scene

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.references import scan_references
from pinakes.catalog.run_rows import latest_runs
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, FORCE, PROMOTE, REFUSE
from pinakes.ingest.fsck.check import Fsck


def test_forced_is_named_counted_and_kept_in_the_report(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1), capture(1, 2))
        land(scene, 2, capture(2, 1), revisit_of(2, 2, (1, 2)))
        land(scene, 3, revisit_of(3, 1, (1, 1)), capture(3, 2))
        scene.dedupe()
        report = purge(scene, 1, FORCE)
        assert len(report.dangling) == 4
        assert {name: what[2] for name, what in given(scene).items() if what[2]} == {}
        [run] = latest_runs(scene.rows, "purge", 5)
        assert run.state == "done"
        noted = (scene.folder / "store" / "runs" / run.run / "report.json").read_text()
        assert noted.count('"written_by": "crawler"') == 2


def test_dedupe_goes_on_where_references_were_forced_away(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
        for crawl in (1, 2, 3):
            land(scene, crawl, capture(crawl, 1), capture(crawl, 2))
        scene.dedupe()
        land(scene, 4, revisit_of(4, 1, (2, 1)))
        purge(scene, 1, FORCE)
        report = scene.dedupe(act="dedupe-b")
        assert (report.targets_restored, report.problems) == (0, [])


def _purged_by_force(scene: Scene) -> None:
    """One revisit by dedupe and one by a crawler are left; their originals are not."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), revisit_of(2, 2, (1, 2)))
    scene.dedupe()
    assert len(purge(scene, 1, FORCE).dangling) == 2


def _findings(scene: Scene) -> list[str]:
    found = Fsck(scene.rows, scene.archive, Actor(), full=True).findings()
    return [finding.code for finding in found]


def _referring(scene: Scene) -> list[str]:
    """Who wrote what refers to the first crawl."""
    found = scan_references(scene.rows, scene.archive, "c1", COLLECTION)
    return sorted(one.written_by for one in found)


def _refused_by_purge(scene: Scene) -> int:
    return len(purge(scene, 1, REFUSE).references)


def _refused_by_cancel(scene: Scene) -> int:
    return len(Remover(scene.rows, scene.archive, Actor()).take_out("c1", CANCEL).references)


@pytest.mark.parametrize("way", [_refused_by_purge, _refused_by_cancel])
def test_it_is_referred_to_again(tmp_path: Path, way: Callable[[Scene], int]) -> None:
    with make_scene(tmp_path, ()) as scene:
        _purged_by_force(scene)
        scene.land(1)
        assert _findings(scene) == []
        before = scene.state()
        assert way(scene) == 2
        assert scene.state() == before


def test_dedupe_leaves_it_full(tmp_path: Path) -> None:
    """Also where an older copy of the content has landed meanwhile."""
    with make_scene(tmp_path, ()) as scene:
        land(scene, 2, capture(2, 1))
        land(scene, 3, capture(3, 1))
        scene.dedupe()
        purge(scene, 2, FORCE)
        scene.land(2)
        land(scene, 1, capture(1, 7, 1))
        scene.dedupe(act="dedupe-b", min_saving_bytes=None)
        assert _findings(scene) == []


def test_it_can_be_purged_by_force_again(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
        _purged_by_force(scene)
        for _ in range(2):
            scene.land(1)
            assert len(purge(scene, 1, FORCE).dangling) == 2
        scene.land(1)
        assert _refused_by_purge(scene) == 2


@pytest.mark.parametrize("step", ["rows", "left", "gone", "purged"])
def test_the_purge_was_killed(tmp_path: Path, step: str) -> None:
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1))
        land(scene, 2, capture(2, 1))
        scene.dedupe()
        assert in_child(partial(purge, scene, 1, FORCE, at=kill_after(step))) == KILLED
        purge(scene, 1, FORCE)
        # What is gone is seen by nobody, pinned or not.
        assert list(scan_captures_of(scene.rows, "org,example)/1", stop_time="20120101")) == []
        scene.land(1)
        assert _refused_by_purge(scene) == 1


@pytest.mark.parametrize("step", ["rows", "facts", "sidecar published"])
@pytest.mark.parametrize("way", ["cancel", "fsck"])
def test_it_began_to_land_and_was_taken_back(tmp_path: Path, way: str, step: str) -> None:
    with make_scene(tmp_path, ()) as scene:
        _purged_by_force(scene)
        assert in_child(partial(scene.land, 1, at=kill_after(step))) == KILLED
        if way == "fsck":
            for finding in Fsck(scene.rows, scene.archive, Actor(), full=True).findings():
                if finding.mend is not None:
                    finding.mend()
        else:
            Remover(scene.rows, scene.archive, Actor()).take_out("c1", CANCEL)
        scene.land(1)
        assert _refused_by_purge(scene) == 2


def test_a_removal_that_nothing_refers_to_leaves_no_pin(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1))
        land(scene, 2, capture(2, 1))
        scene.dedupe()
        purge(scene, 1, PROMOTE)
        scene.land(1)
        [found] = scan_captures_of(scene.rows, "org,example)/1", stop_time="20120101")
        assert not found.pinned


def test_under_another_name_it_is_another_record(tmp_path: Path) -> None:
    """What names the old one by its key dangles until it is put right; a crawler's does not."""
    with make_scene(tmp_path, ()) as scene:
        _purged_by_force(scene)
        (scene.crawls / "c1" / "a.warc.gz").unlink()
        write(scene, 1, capture(1, 1), capture(1, 2), name="b.warc.gz")
        scene.land(1)
        assert _referring(scene) == ["crawler"]
        found = list(Fsck(scene.rows, scene.archive, Actor(), full=True).findings())
        assert {one.file.partition("/")[0] for one in found} <= {"c1", "c2"}
        for one in found:
            assert one.mend is not None, one
            one.mend()
        assert _findings(scene) == []
        assert _referring(scene) == ["crawler", "dedupe"]
