"""A take-down of what landed revisits of ours refer to: judged by zlib alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_at
from landed_revisits import (
    BY_CRAWLER,
    FORMS,
    OURS,
    deduplicate,
    found_by_fsck,
    land_all,
    records_now,
    records_of,
    restored_now,
)
from purged import date, record_id
from scenes import Scene, copied_scene, make_scene
from store_chain import call
from taken_down import withdraw

from pinakes.catalog.captures import scan_captures_of
from pinakes.index.urlkey import urlkey


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty store."""
    with make_scene(tmp_path, crawls=()) as made:
        yield made


def _first(scene: Scene, number: int) -> str:
    """The first crawl's capture of a page."""
    found = scan_captures_of(scene.rows, urlkey(f"http://example.org/{number}"))
    return next(one for one in found if one.facts.date == date(1, number)).key.decode()


def _id(crawl: int, number: int) -> bytes:
    return record_id(crawl, number).encode()


@pytest.mark.parametrize("form", FORMS)
def test_the_earliest_reference_is_as_captured_and_the_others_can_be_restored(
    form: str, tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS[form])
    land_all(scene, made)
    [report] = withdraw(scene, _first(scene, 1))
    assert report.is_complete, report
    assert len(report.promoted) == len(report.repointed) == 1
    now = records_now(scene)
    assert not any(BY_CRAWLER in record for record in now.values())
    assert b"Pinakes-Withdrawn" in now.pop(_id(1, 1))
    full = {name for name, record in now.items() if OURS not in record}
    assert full == {_id(1, 2), _id(1, 3), _id(2, 1)}
    assert not found_by_fsck(scene)
    captured = {name: made.captured[name] for name in now}
    restored = restored_now(scene, tmp_path)
    del restored[_id(1, 1)]
    assert restored == captured


def test_with_a_field_that_does_not_fit_it_is_refused(tmp_path: Path, scene: Scene) -> None:
    made = deduplicate(tmp_path / "files", FORMS["not compressed"])
    kept = records_of(made.paths[3])
    at = kept[_id(3, 1)].index(b"crc32=") + 6
    kept[_id(3, 1)] = kept[_id(3, 1)][:at] + b"00000000" + kept[_id(3, 1)][at + 8 :]
    made.paths[3].write_bytes(b"".join(kept.values()))
    land_all(scene, made)
    before = records_now(scene)
    [report] = withdraw(scene, _first(scene, 1))
    assert len(report.unprovided) == 1
    assert records_now(scene) == before


def _outcome(scene: Scene) -> dict[bytes, bytes]:
    return {
        name: b"withdrawn" if b"Pinakes-Withdrawn" in record else _without_run(record)
        for name, record in records_now(scene).items()
    }


def _without_run(record: bytes) -> bytes:
    before, run, behind = record.partition(b"; run=")
    return before + run + behind.partition(b"; ")[2]


def test_killed_at_any_step_and_run_again(tmp_path: Path) -> None:
    with make_scene(tmp_path / "made", crawls=()) as scene:
        land_all(scene, deduplicate(tmp_path / "files", FORMS["as most crawlers write"]))
        asked = _first(scene, 1)
    with copied_scene(tmp_path / "made", tmp_path / "whole") as scene:
        withdraw(scene, asked)
        whole, files = _outcome(scene), sorted(file.name for file in scene.archive.list())
    for step in count(step=2):
        folder = tmp_path / str(step)
        with copied_scene(tmp_path / "made", folder) as scene:
            code = in_child(partial(withdraw, scene, asked, at=kill_at(step)))
            assert not any(report.problems for report in withdraw(scene, asked))
            assert _outcome(scene) == whole, step
            assert sorted(file.name for file in scene.archive.list()) == files
            assert not found_by_fsck(scene), step
        shutil.rmtree(folder)
        if code == 0:
            break
        assert code == KILLED
    assert step > 20


def test_an_export_that_needs_no_other_crawl_has_them_as_captured(
    tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS["block digest"])
    land_all(scene, made)
    wacz = tmp_path / "c2.wacz"
    store = scene.folder / "store"
    done = call("export-wacz", "c2", "-o", wacz, "--standalone", "--store", store)
    assert done.exit_code == 0, done
    shutil.unpack_archive(wacz, tmp_path / "out", "zip")
    [path] = (tmp_path / "out" / "archive").iterdir()
    assert records_of(path) == {_id(2, n): made.captured[_id(2, n)] for n in (1, 2, 3)}
