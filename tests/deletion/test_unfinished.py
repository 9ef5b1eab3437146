"""A purge that cannot be done says all that is in the way, and leaves nothing behind."""

from __future__ import annotations

import bz2
import gzip
import re
import shutil
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_at
from purged import (
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
from scenes import COLLECTION, Scene, copied_scene, make_scene

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import get_captures
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.run.collection import Collection
from pinakes.deletion.requests import (
    FORCE,
    PROMOTE,
    DeletionReport,
    PurgeRequest,
    WithdrawalRequest,
)
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.hbase_schema.generation_names import generation_file
from pinakes.ingest.fsck.check import Fsck

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


def amiss(scene: Scene) -> set[str]:
    return {f.code for f in Fsck(scene.rows, scene.archive, Actor(), full=True).findings()}


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
def test_a_damaged_original_is_named_and_nothing_changed(tmp_path: Path, at: int) -> None:
    with make_scene(tmp_path, ()) as scene:
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
        assert amiss(scene) == set()


def test_forced_afterwards_it_ends_and_what_is_left_can_be_taken_down(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
        by_both(scene)
        Damaged(scene)
        assert purge(scene, 1).problems
        assert not purge(scene, 1, FORCE).problems
        require_nothing_left(scene)
        assert amiss(scene) == {"reference"}
        assert withdraw(scene, uri(3)) == []
        assert amiss(scene) == set()


def test_all_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    """By the plan, too, which promises the rest only."""
    with make_scene(tmp_path, ()) as scene:
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


def test_a_head_without_an_end_is_replaced_by_the_originals(tmp_path: Path) -> None:
    """A body behind it would be read as more of the head."""
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1))
        land(scene, 2, revisit_of(2, 1, (1, 1), head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html"))
        whole = given(scene)
        report = purge(scene, 1)
        assert (report.problems, len(report.filled)) == ([], 1)
        assert given(scene) == of_others(whole, 1)


def test_what_no_act_left_under_the_next_name_stays(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene:
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
        assert amiss(scene) == set()


@pytest.mark.slow
@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.large)])
def test_killed_at_any_step_and_run_again_otherwise(tmp_path: Path, stride: int) -> None:
    """By force; or when the original was found damaged meanwhile, and put right at last."""
    with make_scene(tmp_path / "made", ()) as scene:
        by_both(scene)
        land(scene, 3, revisit_of(3, 8, (1, 1)), capture(3, 4, 2))
        scene.dedupe(act="dedupe-b")
        whole = given(scene)
    for step in count(step=stride):
        made = tmp_path / str(step)
        with copied_scene(tmp_path / "made", made) as scene:
            code = in_child(partial(purge, scene, 1, at=kill_at(step)))
        with copied_scene(made, tmp_path / f"{step}-forced") as scene:
            report = purge(scene, 1, FORCE)
            assert not report.problems, step
            require_nothing_left(scene)
            assert amiss(scene) <= {"reference"}, step
            changed = {*report.promoted, *report.filled, *report.repointed}
            assert changed.isdisjoint(one.capture for one in report.dangling), step
            assert withdraw(scene, uri(3)) == [], step
        with copied_scene(made, tmp_path / f"{step}-damaged") as scene:
            crawl = read_crawl(scene.rows, "c1")
            if crawl is not None and crawl.state == "open":
                damaged = Damaged(scene)
                if problems := said(purge(scene, 1)):
                    # What was written of it, when it was whole, stays where it alone is now.
                    if not any("it alone holds" in problem for problem in problems):
                        require_nothing_left(scene)
                    damaged.put_back()
            assert not purge(scene, 1).problems, step
            require_nothing_left(scene)
            assert amiss(scene) == set(), step
            assert given(scene) == of_others(whole, 1), step
        for folder in tmp_path.glob(f"{step}*"):
            shutil.rmtree(folder)
        if code == 0:
            break
        assert code == KILLED
    assert step > 30
