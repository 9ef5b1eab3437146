"""Every kind of damage by hand is found by `fsck --full`, mended where bytes allow, and no worse
when it is put right again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from fsck_here import codes
from row_damage import KINDS, Harmed, Kind
from scenes import BY_ID, Scene, copied_scene, make_scene, write_late_crawl
from taken_down import key_of, withdraw

OF_EACH_KIND = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls, deduplicated; a crawler's own revisit; a capture that is withdrawn."""
    folder = tmp_path_factory.mktemp("made")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        write_late_crawl(scene, BY_ID)
        scene.land(5)
        [*_] = withdraw(scene, key_of(scene, 0, 2))
        assert codes(scene) == []
    return folder


@pytest.fixture
def scene(made: Path, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(made, tmp_path) as copied:
        yield copied


def is_seen_through(scene: Scene, name: str, kind: Kind, seed: int) -> None:
    """One damage: found, mended or left, and put right."""
    harmed = Harmed(scene.folder / "store", Random(f"{name} {seed}"))
    before = harmed.content()
    kind.damage(harmed)
    assert harmed.content() != before or name.startswith(("sidecar", "old"))
    found = set(codes(scene))
    assert found & kind.codes, f"{name}, {seed}: {found}"
    codes(scene, repair=True)
    if kind.is_mended:
        assert codes(scene) == [], f"{name}, {seed}"
        assert kind.told(harmed.content()) == kind.told(before)
    else:
        assert set(codes(scene)) & kind.codes
    harmed.put_back()
    assert harmed.content() == before, f"{name}, {seed}"
    assert codes(scene) == [], f"{name}, {seed}"


@pytest.mark.parametrize("name", KINDS)
def test_a_damage_is_found_and_mended(scene: Scene, name: str) -> None:
    is_seen_through(scene, name, KINDS[name], 0)


@pytest.mark.large
@pytest.mark.parametrize("name", KINDS)
def test_sixty_damages_of_a_kind_are_found_and_mended(
    made: Path, tmp_path: Path, name: str
) -> None:
    for seed in range(1, OF_EACH_KIND + 1):
        folder = tmp_path / str(seed)
        with copied_scene(made, folder) as scene:
            is_seen_through(scene, name, KINDS[name], seed)
        shutil.rmtree(folder)
