"""A purge that cannot be done says all that is in the way, and leaves nothing behind."""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from cluster_stores import store_on
from fsck_here import codes, look
from killing import KILLED, deaths, in_child, kill_after, kill_at
from purged import (
    Payloads,
    capture,
    claims_open,
    given,
    land,
    of_others,
    purge,
    purger,
    revisit_of,
    uri,
    write,
)
from raw_payloads import payloads
from scenes import COLLECTION, Scene, copied_scene, in_scene, make_scene
from shared_cluster import RunningCluster

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import get_captures, scan_captures_of
from pinakes.catalog.crawl_rows import PURGED, read_crawl
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.references import scan_references
from pinakes.catalog.run_rows import latest_runs
from pinakes.catalog.sidecar import sidecar_name
from pinakes.config import Configuration
from pinakes.dedupe.run.collection import Collection
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import (
    CANCEL,
    FORCE,
    PROMOTE,
    REFUSE,
    DeletionReport,
    PurgeRequest,
    WithdrawalRequest,
)
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.ingest.fsck.check import Fsck
from pinakes.profile import Stores, open_stores

ORIGINALS = "c1/a.warc.gz"


def by_both(scene: Scene) -> None:
    """A crawler's revisit of the first record, one by dedupe of the second, in one file."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, revisit_of(2, 1, (1, 1)), capture(2, 3, 2))
    scene.dedupe(grace_ms=0)


class Damaged:
    """The originals with a byte of a record changed, until they are put back."""

    def __init__(self, scene: Scene, at: int = -1000) -> None:
        self._path = scene.archive.path_of(ORIGINALS)
        self._good = self._path.read_bytes()
        data = bytearray(self._good)
        data[at] ^= 0xFF
        self._path.write_bytes(data)

    def put_back(self) -> None:
        self._path.write_bytes(self._good)


def said(report: DeletionReport) -> list[str]:
    return sorted(map(str, report.problems))


def withdraw(scene: Scene, place: str) -> list[str]:
    withdrawer = Withdrawer(scene.rows, scene.archive, Actor(), software="tests")
    request = WithdrawalRequest(targets=(place,), reason="x", by="y")
    return [str(one) for report in withdrawer.withdraw(request) for one in report.problems]


def require_marks_are_of_records(scene: Scene) -> None:
    """No row says of a record what a generation would have made of it that nobody reads."""
    for entry in Collection(scene.rows, scene.archive, COLLECTION).entries.values():
        for row in iter_sidecar(scene.archive, entry.stored_name):
            [found] = get_captures(scene.rows, [row.row_key or b""]).values()
            mark = mark_of(row, found.dedupe.run if found.dedupe is not None else "")
            assert found.dedupe == mark, row.row_key


def require_nothing_left(scene: Scene) -> None:
    assert claims_open(scene) == []
    for entry in Collection(scene.rows, scene.archive, COLLECTION).entries.values():
        left = entry.current.following().name
        assert scene.archive.size(left) is None
        assert scene.archive.size(sidecar_name(left)) is None
    require_marks_are_of_records(scene)


@pytest.mark.parametrize("at", [1000, -1000], ids=["of a crawler's revisit", "of one by dedupe"])
def test_a_damaged_original_is_named_and_nothing_changed(scene: Scene, at: int) -> None:
    by_both(scene)
    whole, before = given(scene), scene.state()
    damaged = Damaged(scene, at)
    plan = purger(scene).plan(PurgeRequest(crawl="c1", references=PROMOTE))
    report = purge(scene, 1)
    assert said(report) == said(plan)
    [problem] = said(report)
    assert re.match(r"c2/g2/a\.warc\.gz:\d+: .*\(c1/a\.warc\.gz:\d+\)", problem)
    assert (report.promoted, report.filled, report.freed_bytes) == ([], [], 0)
    assert len(plan.promoted) + len(plan.filled) == 1
    damaged.put_back()
    assert scene.state() == before
    require_nothing_left(scene)
    assert not purge(scene, 1).problems
    assert given(scene) == of_others(whole, 1)
    assert set(codes(scene)) == set()


def test_forced_afterwards_it_ends_and_what_is_left_can_be_taken_down(scene: Scene) -> None:
    by_both(scene)
    Damaged(scene)
    assert purge(scene, 1).problems
    assert not purge(scene, 1, FORCE).problems
    require_nothing_left(scene)
    assert set(codes(scene)) == {"reference"}
    assert withdraw(scene, uri(3)) == []
    assert set(codes(scene)) == set()


def test_all_that_is_in_the_way_is_named(scene: Scene) -> None:
    """By the plan, too, which promises the rest only."""
    land(scene, 1, *(capture(1, number) for number in (1, 2, 3)))
    write(scene, 2, bz2.compress(gzip.decompress(revisit_of(2, 1, (1, 1)))), name="a.warc.bz2")
    scene.land(2)
    odd = gzip.decompress(revisit_of(3, 2, (1, 2)))
    head, _, block = odd.partition(b"\r\n\r\n")
    write(scene, 3, head.replace(b"\r\n", b"\n") + b"\n\n" + block, name="a.warc")
    scene.land(3)
    land(scene, 4, revisit_of(4, 3, (1, 3)))
    plan = purger(scene).plan(PurgeRequest(crawl="c1", references=PROMOTE))
    assert [one.file for one in plan.problems] == ["c2/a.warc.bz2", "c3/a.warc"]
    assert len(plan.filled) == 1
    assert said(purge(scene, 1)) == said(plan)
    require_nothing_left(scene)


def test_a_head_without_an_end_is_replaced_by_the_originals(scene: Scene) -> None:
    """A body behind it would be read as more of the head."""
    land(scene, 1, capture(1, 1))
    land(scene, 2, revisit_of(2, 1, (1, 1), head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html"))
    whole = given(scene)
    report = purge(scene, 1)
    assert (report.problems, len(report.filled)) == ([], 1)
    assert given(scene) == of_others(whole, 1)


def test_what_no_act_left_under_the_next_name_stays(scene: Scene) -> None:
    by_both(scene)
    whole = given(scene)
    entry = Collection(scene.rows, scene.archive, COLLECTION).entries["c2/a.warc.gz"]
    left = scene.archive.path_of(generation_file(entry.archive_file, entry.generation + 1))
    left.parent.mkdir(parents=True)
    left.write_bytes(b"of an older version")
    sidecar = scene.archive.path_of(sidecar_name("c2/g3/a.warc.gz"))
    for beside in (b"", b"and its sidecar"):
        sidecar.write_bytes(beside)
        [problem] = said(purge(scene, 1))
        assert problem.startswith("c2/g3/a.warc.gz: the catalogue does not know this file")
        assert left.read_bytes() == b"of an older version"
    left.unlink()
    sidecar.unlink()
    assert not purge(scene, 1).problems
    assert given(scene) == of_others(whole, 1)
    assert set(codes(scene)) == set()


STAYS = re.compile("it alone holds|a process that died was writing")


@pytest.mark.slow
@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.large)])
def test_killed_at_any_step_and_run_again_otherwise(tmp_path: Path, stride: int) -> None:
    """By force; or when the original was found damaged meanwhile, and put right at last."""
    with make_scene(tmp_path / "made", ()) as scene:
        by_both(scene)
        land(scene, 3, revisit_of(3, 8, (1, 1)), capture(3, 4, 2))
        scene.dedupe(act="dedupe-b")
        whole = given(scene)
    work = in_scene(lambda scene, at: purge(scene, 1, at=at))
    for step, folder, _ in deaths(
        tmp_path, work, made=tmp_path / "made", stride=stride, more_than=30
    ):
        with copied_scene(folder, folder / "forced") as scene:
            report = purge(scene, 1, FORCE)
            assert not report.problems, step
            require_nothing_left(scene)
            assert set(codes(scene)) <= {"reference"}, step
            changed = {*report.promoted, *report.filled, *report.repointed}
            assert changed.isdisjoint(one.capture for one in report.dangling), step
            assert withdraw(scene, uri(3)) == [], step
        with make_scene(folder, ()) as scene:
            crawl = read_crawl(scene.rows, "c1")
            if crawl is not None and crawl.state == "open":
                damaged = Damaged(scene)
                if problems := said(purge(scene, 1)):
                    # What was written of it, when it was whole, stays where it alone is now.
                    if not any(STAYS.search(problem) for problem in problems):
                        require_nothing_left(scene)
                    damaged.put_back()
            assert not purge(scene, 1).problems, step
            require_nothing_left(scene)
            assert set(codes(scene)) == set(), step
            assert given(scene) == of_others(whole, 1), step


# --- A purge on HBase and HDFS, killed anywhere, ends as it should: judged by zlib alone


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
        assert look(stores) == [], f"step {step}"
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
            assert look(stores) == []
        assert len(purge(scene, 1, REFUSE).references) == 4


# --- Purged by force: what revisits still name, and the crawl that lands again and has it


def test_forced_is_named_counted_and_kept_in_the_report(scene: Scene) -> None:
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


def test_dedupe_goes_on_where_references_were_forced_away(scene: Scene) -> None:
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


def _referring(scene: Scene) -> list[str]:
    """Who wrote what refers to the first crawl."""
    found = scan_references(scene.rows, scene.archive, "c1", COLLECTION)
    return sorted(one.written_by for one in found)


def _refused_by_purge(scene: Scene) -> int:
    return len(purge(scene, 1, REFUSE).references)


def _refused_by_cancel(scene: Scene) -> int:
    return len(Remover(scene.rows, scene.archive, Actor()).take_out("c1", CANCEL).references)


@pytest.mark.parametrize("way", [_refused_by_purge, _refused_by_cancel])
def test_it_is_referred_to_again(scene: Scene, way: Callable[[Scene], int]) -> None:
    _purged_by_force(scene)
    scene.land(1)
    assert codes(scene) == []
    before = scene.state()
    assert way(scene) == 2
    assert scene.state() == before


def test_dedupe_leaves_it_full(scene: Scene) -> None:
    """Also where an older copy of the content has landed meanwhile."""
    land(scene, 2, capture(2, 1))
    land(scene, 3, capture(3, 1))
    scene.dedupe()
    purge(scene, 2, FORCE)
    scene.land(2)
    land(scene, 1, capture(1, 7, 1))
    scene.dedupe(act="dedupe-b", min_saving_bytes=None)
    assert codes(scene) == []


def test_it_can_be_purged_by_force_again(scene: Scene) -> None:
    _purged_by_force(scene)
    for _ in range(2):
        scene.land(1)
        assert len(purge(scene, 1, FORCE).dangling) == 2
    scene.land(1)
    assert _refused_by_purge(scene) == 2


@pytest.mark.parametrize("step", ["rows", "left", "gone", "purged"])
def test_the_purge_was_killed(scene: Scene, step: str) -> None:
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
def test_it_began_to_land_and_was_taken_back(scene: Scene, way: str, step: str) -> None:
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


def test_a_removal_that_nothing_refers_to_leaves_no_pin(scene: Scene) -> None:
    land(scene, 1, capture(1, 1))
    land(scene, 2, capture(2, 1))
    scene.dedupe()
    purge(scene, 1, PROMOTE)
    scene.land(1)
    [found] = scan_captures_of(scene.rows, "org,example)/1", stop_time="20120101")
    assert not found.pinned


def test_under_another_name_it_is_another_record(scene: Scene) -> None:
    """What names the old one by its key dangles until it is put right; a crawler's does not."""
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
    assert codes(scene) == []
    assert _referring(scene) == ["crawler", "dedupe"]
