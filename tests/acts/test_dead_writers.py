"""What a process that died wrote aside stays where it is the last whole copy: judged by zlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_after
from purged import capture, land, paths_now, purge
from scenes import Scene, in_scene, make_scene
from store_chain import call
from whole_payloads import flip, payloads_of

from pinakes.archive_store.port import ASIDE
from pinakes.deletion.requests import PROMOTE

At = Callable[[str], None]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with make_scene(tmp_path / "scene", ()) as made:
        land(made, 1, capture(1, 1), capture(1, 2))
        land(made, 2, capture(2, 1), capture(2, 3))
        yield made


def _everywhere(scene: Scene) -> set[str]:
    """Of the whole archive folder, what is aside and in the quarantine included."""
    paths = [path for path in scene.archive.folder.rglob("*") if path.is_file()]
    return {payload for path in paths for payload in payloads_of(path)}


def _aside(scene: Scene) -> list[str]:
    return [one.name for one in scene.archive.list(ASIDE) if one.name.endswith(".rewritten")]


def _rot(scene: Scene, crawl: int, number: int) -> None:
    """Flip a bit in a record of the file of a crawl, as it is now."""
    [path] = [p for p in paths_now(scene) if f"c{crawl}" in p.parts]
    data = path.read_bytes()
    starts = [at for at in range(len(data)) if data.startswith(b"\x1f\x8b\x08", at)]
    flip(path, (starts[number] + [*starts, len(data)][number + 1]) // 2)


def _dedupe(scene: Scene, at: At) -> None:
    scene.dedupe(at=at)


def _promote(scene: Scene, at: At) -> None:
    purge(scene, 1, PROMOTE, at=at)


# What is rewritten by it, and what rots: the file itself, or the original of its revisit.
WAYS = {"dedupe": (_dedupe, 2, 1), "purge": (_promote, 1, 0)}


@pytest.mark.parametrize("way", WAYS)
def test_what_it_alone_holds_stays(scene: Scene, way: str) -> None:
    """The older generation, which would have it, was dropped."""
    act, crawl, number = WAYS[way]
    if way == "purge":
        scene.dedupe()
        drop = ("generations", "--collection", "news", "--drop", "--grace", "0")
        assert call(*drop, "--store", scene.folder / "store").exit_code == 0
    assert in_child(lambda: in_scene(act)(scene.folder, kill_after("checked"))) == KILLED
    assert len(_aside(scene)) == 1
    before = _everywhere(scene)
    _rot(scene, crawl, number)
    assert _everywhere(scene) == before, "the aside has it"
    store = ("--store", scene.folder / "store")
    command = {
        "dedupe": ("dedupe", "--all", "--collection", "news", "--min-file-saving", "0"),
        "purge": ("crawl", "purge", "c1", "--references", "promote"),
    }[way]
    for _ in range(2):
        done = call(*command, *store)
        assert done.exit_code == 3, done
        assert "a process that died was writing" in done.err
        assert _everywhere(scene) == before
    assert call("fsck", "--repair", *store).exit_code == 1
    assert _aside(scene) == []
    assert _everywhere(scene) == before


@pytest.mark.parametrize("way", WAYS)
def test_what_is_whole_elsewhere_goes(scene: Scene, way: str) -> None:
    act, _, _ = WAYS[way]
    if way == "purge":
        scene.dedupe()
    assert in_child(lambda: in_scene(act)(scene.folder, kill_after("checked"))) == KILLED
    assert len(_aside(scene)) == 1
    with make_scene(scene.folder, ()) as again:
        act(again, lambda step: None)
    assert _aside(scene) == []
