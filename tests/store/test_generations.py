"""`pinakes generations`: what it lists is there, and what it drops is read elsewhere first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from killing import KILLED, deaths_of_verb, in_child, kill_after
from scenes import COLLECTION, Scene, copied_scene, in_scene, make_scene
from store_chain import Answer, call
from whole_payloads import flip, whole_payloads

import pinakes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls; each file of the second has an old generation."""
    folder = tmp_path_factory.mktemp("generations")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
    return folder


@pytest.fixture
def scene(made: Path, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(made, tmp_path / "scene") as copied:
        yield copied


def _call(folder: Path, *words: object) -> Answer:
    store = ("--collection", COLLECTION, "--store", folder / "store")
    return call("generations", *words, *store)


def _listed(scene: Scene, *words: object) -> list[dict[str, Any]]:
    answer = _call(scene.folder, *words, "--json")
    assert answer.exit_code == 0, answer
    return [json.loads(line) for line in answer.out.splitlines()]


def _old_on_disk(scene: Scene) -> dict[str, int]:
    """Files of which there is a second generation, as they landed."""
    archive = scene.archive.folder
    news = archive.glob("*/g2/*.warc.gz")
    old = [path.parent.parent / path.name for path in news]
    there = [path for path in old if path.exists()]
    return {path.relative_to(archive).as_posix(): path.stat().st_size for path in there}


def test_it_lists_what_is_on_disk(scene: Scene) -> None:
    on_disk = _old_on_disk(scene)
    assert len(on_disk) == 2
    assert {one["generation"]: one["bytes"] for one in _listed(scene)} == on_disk
    assert _listed(scene, "c1") == []
    assert {one["file"] for one in _listed(scene, "c2")} == set(on_disk)
    assert _call(scene.folder, "c9").exit_code == 2


def test_a_day_passes_before_they_go(scene: Scene) -> None:
    on_disk = _old_on_disk(scene)
    answer = _call(scene.folder, "--drop")
    assert (answer.exit_code, answer.out) == (0, "")
    assert _old_on_disk(scene) == on_disk
    answer = _call(scene.folder, "--drop", "--grace", "0", "--dry-run")
    assert answer.out.count("would drop") == 2
    assert _old_on_disk(scene) == on_disk


def test_what_is_dropped_is_whole_elsewhere(scene: Scene) -> None:
    before = whole_payloads(scene.archive.folder)
    answer = _call(scene.folder, "--drop", "--grace", "0")
    assert answer.exit_code == 0
    assert answer.out.count("dropped") == 2
    assert _old_on_disk(scene) == {}
    assert _listed(scene) == []
    assert whole_payloads(scene.archive.folder) == before
    assert call("fsck", "--full", "--store", scene.folder / "store").exit_code == 0


def test_of_one_crawl_alone(scene: Scene) -> None:
    with pinakes.open_store(scene.folder / "store") as store:
        assert store.drop_generations("c1", grace=timedelta(0)).dropped == ()
        planned = store.drop_generations("c2", grace=timedelta(0), plan=True)
        assert {one.name for one in store.generations("c2")} == {
            one.name for one in planned.dropped
        }
        assert len(store.drop_generations("c2", grace=timedelta(0)).dropped) == 2
        assert list(store.generations("c2")) == []


def test_what_an_old_one_alone_holds_is_mended_from_it(scene: Scene) -> None:
    before = whole_payloads(scene.archive.folder)
    original = scene.archive.path_of("c1/part-0.warc.gz")
    members = original.read_bytes().split(b"\x1f\x8b\x08")
    # In the second page of the file, which the second crawl has, too.
    flip(original, sum(len(part) + 3 for part in members[:3]) + len(members[3]) // 2)
    answer = _call(scene.folder, "--drop", "--grace", "0")
    assert answer.exit_code == 3
    assert "whole" in answer.err
    assert whole_payloads(scene.archive.folder) == before
    answer = _call(scene.folder, "--drop", "--grace", "0")
    assert answer.exit_code == 0
    assert _old_on_disk(scene) == {}
    assert whole_payloads(scene.archive.folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.large)])
def test_killed_at_any_step_and_run_again(made: Path, tmp_path: Path, stride: int) -> None:
    with copied_scene(made, tmp_path / "whole") as scene:
        payloads = whole_payloads(scene.archive.folder)
        assert _call(scene.folder, "--drop", "--grace", "0").exit_code == 0
        state = scene.state()
    for step, folder, _ in deaths_of_verb(
        tmp_path / "killed",
        lambda folder: (
            *("generations", "--drop", "--grace", "0"),
            *("--collection", COLLECTION, "--store", folder / "store"),
        ),
        made=made,
        below="store/archive",
        stride=stride,
        more_than=3,
    ):
        assert whole_payloads(folder / "store" / "archive") == payloads, step
        assert _call(folder, "--drop", "--grace", "0").exit_code == 0, step
        assert whole_payloads(folder / "store" / "archive") == payloads, step
        with make_scene(folder, ()) as scene:
            assert scene.state() == state, step


def test_beside_an_act_that_died_nothing_goes(scene: Scene) -> None:
    dying = in_scene(lambda there, at: there.dedupe(act="dedupe-x", at=at))
    assert in_child(lambda: dying(scene.folder, kill_after("decided"))) == KILLED
    on_disk = _old_on_disk(scene)
    answer = _call(scene.folder, "--drop", "--grace", "0")
    assert answer.exit_code == 3
    assert "dedupe-x is working on the collection news, or did not finish" in answer.err
    assert _old_on_disk(scene) == on_disk
