"""Backups of every step of an act; and backups and restorings that were killed at every step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from agreement import check_marks, check_references
from backup_scenes import back_up, cells, current_files, fsck, opened, restore, states
from killing import KILLED, in_child, kill_at
from purged import purger
from scenes import At, Scene, make_scene

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.backup.verifying import verify_backup
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, FORCE, PROMOTE, PurgeRequest
from pinakes.errors import ConfigError, DigestMismatch

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls that have landed; and, beside it, deduplicated."""
    folder = tmp_path_factory.mktemp("prepared")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
    shutil.copytree(folder, folder.parent / f"{folder.name}-deduped")
    with opened(folder.parent / f"{folder.name}-deduped") as scene:
        scene.dedupe(act="dedupe-before")
    return folder


def copies(prepared: Path, tmp_path: Path) -> Iterator[Path]:
    for step in range(1 << 30):
        yield Path(shutil.copytree(prepared, tmp_path / str(step)))
        shutil.rmtree(tmp_path / str(step))


def land(scene: Scene, at: At) -> None:
    shutil.copytree(scene.crawls / "c2", scene.crawls / "c3")
    scene.land(3, at=at)


def dedupe(scene: Scene, at: At) -> None:
    scene.dedupe(at=at, grace_ms=0)


def take_out(scene: Scene, at: At) -> None:
    Remover(scene.rows, scene.archive, Actor(), at=at).take_out("c2", CANCEL)


ACTS = {
    "landing": (land, False, 18),
    "dedupe": (dedupe, False, 18),
    "removal": (take_out, False, 20),
    "removal of rewritten": (take_out, True, 20),
}


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(act, marks=pytest.mark.large) if act in {"landing", "removal"} else act
        for act in ACTS
    ],
)
def test_every_moment_of_an_act_is_settled(prepared: Path, tmp_path: Path, act: str) -> None:
    work, deduped, least = ACTS[act]
    start = prepared.parent / f"{prepared.name}-deduped" if deduped else prepared
    for step, folder in enumerate(copies(start, tmp_path)):
        with opened(folder) as scene:
            died = in_child(lambda: work(scene, kill_at(step)))  # noqa: B023
            back_up(scene, folder / "backup")
            report = restore(folder / "backup", folder / "new")
            assert report.problems == []
            with opened(folder / "new") as new:
                assert fsck(new) == [], f"{act} at step {step}"
                check_references(new)
                check_marks(new)
                for name, (state, _) in states(new).items():
                    if state == "stored" and name.startswith("c1/"):
                        continue
                    # A crawl is wholly there or wholly not.
                    crawl = read_crawl(new.rows, name.partition("/")[0])
                    assert crawl is not None
                    assert (state == "stored") == (crawl.state == "open") or act == "landing"
                # And it can be worked with: the same work is done to its end.
                shutil.copytree(scene.crawls, new.crawls)
                shutil.rmtree(new.crawls / "c3", ignore_errors=True)
                if act == "landing":
                    work(new, lambda step: None)
                new.dedupe(act="dedupe-after", grace_ms=0)
                assert fsck(new) == []
                check_marks(new)
        if died != KILLED:
            break
    assert step >= least


@pytest.mark.parametrize("again", ["same place", "other place", "same place, no snapshot"])
def test_what_a_dead_backup_alone_holds_stays(prepared: Path, tmp_path: Path, again: str) -> None:
    """The archive has lost it since."""
    folder = Path(shutil.copytree(prepared, tmp_path / "scene"))
    with opened(folder) as scene:
        name = min(current_files(scene))
        file = folder / "store" / "archive" / name
        content = file.read_bytes()
        target = tmp_path / "backup"

        def killed() -> None:
            copied = 0

            def at(step: str) -> None:
                nonlocal copied
                copied += step == "copied"
                if copied == 9:
                    os._exit(KILLED)

            back_up(scene, target, at=at)

        assert in_child(killed) == KILLED
        assert (target / "archive" / name).read_bytes() == content
        file.unlink()
        if again == "same place, no snapshot":
            shutil.rmtree(folder / "store" / "backups")
            with pytest.raises(DigestMismatch, match="which the archive has no longer"):
                back_up(scene, target)
        else:
            report = back_up(scene, target if again == "same place" else tmp_path / "other")
            assert bool(report.problems) == (again == "other place")
    copies = [path.read_bytes() for path in tmp_path.rglob(Path(name).name)]
    assert content in copies


@pytest.mark.parametrize("step", range(0, 60, 6))
@pytest.mark.parametrize("references", [PROMOTE, FORCE])
def test_a_purge_at_the_snapshot_is_completed_or_undone(
    prepared: Path, tmp_path: Path, references: str, step: int
) -> None:
    shutil.copytree(prepared.parent / f"{prepared.name}-deduped", tmp_path, dirs_exist_ok=True)
    request = PurgeRequest(crawl="c1", references=references)
    with opened(tmp_path) as scene:
        in_child(lambda: purger(scene, kill_at(step)).purge(request))
        back_up(scene, tmp_path / "backup")
        assert restore(tmp_path / "backup", tmp_path / "new").problems == []
    with opened(tmp_path / "new") as new:
        # The sidecar of an old generation that was being deleted may be there; what was asked to
        # dangle does.
        left = {"sidecar-alone"} if references == PROMOTE else {"reference"}
        assert {line.split(": ")[1] for line in fsck(new)} <= left
        crawl = read_crawl(new.rows, "c1")
        assert crawl is not None
        assert crawl.state in ("open", "purged")
        if references == PROMOTE:
            check_references(new)
        purger(new).purge(request)
        crawl = read_crawl(new.rows, "c1")
        assert crawl is not None
        assert crawl.state == "purged"


def test_a_backup_killed_at_every_step_is_made_again(prepared: Path, tmp_path: Path) -> None:
    start = prepared.parent / f"{prepared.name}-deduped"
    for step, folder in enumerate(copies(start, tmp_path)):
        with opened(folder) as scene:
            rows, files = cells(folder / "store" / "rows.sqlite"), current_files(scene)
            died = in_child(lambda: back_up(scene, folder / "backup", at=kill_at(step)))  # noqa: B023
            if died == KILLED:
                # A store that is half backed up is worked with as any other.
                fsck(scene)
                try:
                    back_up(scene, folder / "backup")
                except ConfigError as error:
                    assert "choose another place" in str(error)  # noqa: PT017
            assert list(verify_backup(LocalArchiveStore(folder / "backup"), "backup")) == []
            report = restore(folder / "backup", folder / "new")
            # But for the run of the backup that died before it had begun anything.
            assert {settled.code for settled in report.settled} <= {"run"}
            assert report.left_out == []
            assert cells(folder / "new" / "store" / "rows.sqlite") == rows, f"step {step}"
            with opened(folder / "new") as new:
                assert current_files(new) == files
            # Links of a backup that was given up go with the next one.
            back_up(scene, folder / "another")
            assert list((folder / "store" / "backups").iterdir()) == []
        if died != KILLED:
            break
    # pinned, begun; rows fixed, files held, unpinned, rows held, taken; 13 copies; and the end.
    assert step == 24


def test_what_a_dead_backup_wrote_first_is_not_in_the_way(prepared: Path, tmp_path: Path) -> None:
    """Killed between two steps, while it wrote down that it had begun."""
    asides = tmp_path / "backup" / ".landing"
    asides.mkdir(parents=True)
    (asides / "backup-20260101T000000-00000000").write_bytes(b'{"act"')
    (tmp_path / "other" / ".landing").mkdir(parents=True)
    (tmp_path / "other" / ".landing" / "whose").write_bytes(b"")
    with opened(prepared) as scene:
        back_up(scene, tmp_path / "backup")
        with pytest.raises(ConfigError, match="not empty"):
            back_up(scene, tmp_path / "other")
    assert not asides.exists() or list(asides.iterdir()) == []
    assert list(verify_backup(LocalArchiveStore(tmp_path / "backup"), "backup")) == []


def test_a_restoring_killed_at_every_step_goes_on(prepared: Path, tmp_path: Path) -> None:
    with opened(prepared) as scene:
        rows, files = cells(prepared / "store" / "rows.sqlite"), current_files(scene)
        back_up(scene, tmp_path / "backup")
    for step in range(1 << 30):
        folder = tmp_path / str(step)
        died = in_child(lambda: restore(tmp_path / "backup", folder, at=kill_at(step)))  # noqa: B023
        if died == KILLED:
            try:
                restore(tmp_path / "backup", folder)
            except ConfigError as error:
                assert "into an empty store" in str(error)  # noqa: PT017
        assert cells(folder / "store" / "rows.sqlite") == rows
        with opened(folder) as new:
            assert current_files(new) == files
            assert fsck(new) == []
        if died != KILLED:
            break
    # rows, begun, 8 files, files, settled, visible
    assert step == 13


def test_a_restoring_killed_while_it_settles_goes_on(prepared: Path, tmp_path: Path) -> None:
    start = Path(shutil.copytree(prepared, tmp_path / "scene"))
    with opened(start) as scene:
        in_child(lambda: dedupe(scene, kill_at(11)))
        in_child(lambda: land(scene, kill_at(7)))
        back_up(scene, tmp_path / "backup")
    for step in range(1 << 30):
        folder = tmp_path / str(step)
        died = in_child(lambda: restore(tmp_path / "backup", folder, at=kill_at(step)))  # noqa: B023
        if died != KILLED:
            break
        if not (folder / "store" / "rows.sqlite").exists():
            restore(tmp_path / "backup", folder)
        with opened(folder) as new:
            assert fsck(new) == [], f"step {step}"
            check_marks(new)
    assert step > 13


def test_what_a_restoring_had_published_when_it_died_is_not_left_aside(
    prepared: Path, tmp_path: Path
) -> None:
    with opened(prepared) as scene:
        back_up(scene, tmp_path / "backup")
    new = tmp_path / "new"
    killed = in_child(lambda: restore(tmp_path / "backup", new, at=kill_at(3)))
    assert killed == KILLED
    # Between its link and the deletion of its other name.
    aside = new / "store" / "runs" / ".landing" / "restore"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(b"a report")
    restore(tmp_path / "backup", new)
    assert not aside.exists()


def test_another_backup_of_another_restoring_is_not_mixed_in(
    prepared: Path, tmp_path: Path
) -> None:
    with opened(prepared) as scene:
        back_up(scene, tmp_path / "one")
        back_up(scene, tmp_path / "two")
    for first, second in (("one", "two"), ("two", "one")):
        for step in (0, 4):
            new = tmp_path / f"{first}-{step}"
            killed = in_child(lambda: restore(tmp_path / first, new, at=kill_at(step)))  # noqa: B023
            assert killed == KILLED
            with pytest.raises(ConfigError, match="from another backup"):
                restore(tmp_path / second, new)
            assert restore(tmp_path / first, new).problems == []
