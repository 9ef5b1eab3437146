"""What a process that died wrote aside stays where it is the last whole copy: judged by zlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_after
from purged import capture, land, paths_now, purge
from recompressed import recompress
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
    """The files and folders of what was being rewritten."""
    names = [one.name for one in scene.archive.list(ASIDE)]
    return [name for name in names if name.endswith(".rewritten") or "/dedupe-" in name]


def _rot(scene: Scene, crawl: int, number: int) -> None:
    """Flip a bit in a record of the file of a crawl, as it is now."""
    [path] = [p for p in paths_now(scene) if f"c{crawl}" in p.parts]
    data = path.read_bytes()
    starts = [at for at in range(len(data)) if data.startswith(b"\x1f\x8b\x08", at)]
    flip(path, (starts[number] + [*starts, len(data)][number + 1]) // 2)


def _dedupe(scene: Scene, at: At) -> None:
    scene.dedupe(at=at)


def _dedupe_by_tasks(scene: Scene, at: At) -> None:
    scene.dedupe(runner="here", at=at)


def _promote(scene: Scene, at: At) -> None:
    purge(scene, 1, PROMOTE, at=at)


# What is rewritten by it, and what rots: the file itself, or the original of its revisit; and the
# step at which it dies.
WAYS = {
    "dedupe": (_dedupe, 2, 1, "checked"),
    "purge": (_promote, 1, 0, "checked"),
}
COMMANDS = {
    "dedupe": ("dedupe", "--all", "--collection", "news", "--min-file-saving", "0"),
    "purge": ("crawl", "purge", "c1", "--references", "promote"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_it_alone_holds_stays(scene: Scene, way: str) -> None:
    """The older generation, which would have it, was dropped."""
    act, crawl, number, step = WAYS[way]
    if way == "purge":
        scene.dedupe()
        drop = ("generations", "--collection", "news", "--drop", "--grace", "0")
        assert call(*drop, "--store", scene.folder / "store").exit_code == 0
    assert in_child(lambda: in_scene(act)(scene.folder, kill_after(step))) == KILLED
    assert len(_aside(scene)) == 1
    before = _everywhere(scene)
    _rot(scene, crawl, number)
    assert _everywhere(scene) == before, "the aside has it"
    store = ("--store", scene.folder / "store")
    command = COMMANDS[way]
    for _ in range(2):
        done = call(*command, *store)
        assert done.exit_code == 3, done
        assert "a process that died was writing" in done.err
        assert _everywhere(scene) == before
    assert call("fsck", "--repair", *store).exit_code == 1
    assert _aside(scene) == []
    assert _everywhere(scene) == before


def test_what_tasks_wrote_stays_where_it_alone_is_whole(scene: Scene) -> None:
    by_tasks = in_scene(_dedupe_by_tasks)
    assert in_child(lambda: by_tasks(scene.folder, kill_after("wave written"))) == KILLED
    before = _everywhere(scene)
    _rot(scene, 2, 1)
    assert _everywhere(scene) == before, "the folder of the tasks has it"
    for _ in range(2):
        messages = [str(problem) for problem in scene.dedupe().problems]
        assert any("tasks have written" in message for message in messages)
        assert _everywhere(scene) == before


@pytest.mark.parametrize("way", [*WAYS, "dedupe by tasks"])
def test_what_is_whole_elsewhere_goes(scene: Scene, way: str) -> None:
    by_tasks = (_dedupe_by_tasks, 2, 1, "wave written")
    act, _, _, step = WAYS.get(way, by_tasks)
    if way == "purge":
        scene.dedupe()
    assert in_child(lambda: in_scene(act)(scene.folder, kill_after(step))) == KILLED
    assert len(_aside(scene)) == 1
    with make_scene(scene.folder, ()) as again:
        act(again, lambda step: None)
    assert _aside(scene) == []


def test_what_tasks_had_recompressed_stays_where_it_alone_is_whole(scene: Scene) -> None:
    def die(scene: Scene, at: At) -> None:
        recompress(scene, "plain", "c2", runner="here", at=at)

    assert in_child(lambda: in_scene(die)(scene.folder, kill_after("wave written"))) == KILLED
    _rot(scene, 2, 1)
    messages = [str(result) for result in recompress(scene, "plain", "c2")]
    assert any("tasks have written" in message for message in messages), messages
    left = [one.name for one in scene.archive.list(ASIDE)]
    assert [name.partition("-")[0] for name in left] == [f"{ASIDE}/zstd"]
