"""Backups of every step of an act; and backups and restorings that were killed at every step."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from agreement import check_marks, check_references
from backup_scenes import LEAVING, back_up, cells, current_files, opened, restore, states, untouched
from fsck_here import fsck_lines
from killing import KILLED, deaths, in_child, kill_at
from purged import purger
from scenes import At, Scene, in_scene, make_scene, write_crawl
from store_chain import call

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.backup.embedded import restoring_alone
from pinakes.backup.verifying import verify_backup
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, FORCE, PROMOTE, PurgeRequest
from pinakes.errors import ConfigError, Conflict, DigestMismatch

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
    for step, folder, _ in deaths(tmp_path, in_scene(work), made=start, more_than=least - 1):
        with opened(folder) as scene:
            back_up(scene, folder / "backup")
            report = restore(folder / "backup", folder / "new")
            assert report.problems == []
            with opened(folder / "new") as new:
                assert fsck_lines(new) == [], f"{act} at step {step}"
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
                assert fsck_lines(new) == []
                check_marks(new)


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


# In turn at every sixth step; both ways at each of them in `make test-large`.
@pytest.mark.parametrize(
    ("step", "references"),
    [
        pytest.param(step, way, marks=() if (n + m) % 2 == 0 else pytest.mark.large)
        for n, step in enumerate(range(0, 60, 6))
        for m, way in enumerate((PROMOTE, FORCE))
    ],
)
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
        assert {line.split(": ")[1] for line in fsck_lines(new)} <= left
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
    with opened(start) as scene:
        rows, files = cells(start / "store" / "rows.sqlite"), current_files(scene)

    def work(folder: Path, at: At) -> None:
        with opened(folder) as scene:
            back_up(scene, folder / "backup", at=at)

    # pinned, begun; rows fixed, files held, unpinned, rows held, taken; 13 copies; and the end.
    for step, folder, died in deaths(tmp_path, work, made=start, more_than=23):
        with opened(folder) as scene:
            if died:
                # A store that is half backed up is worked with as any other.
                fsck_lines(scene)
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
    work = partial(restore_at, tmp_path / "backup")
    # rows, begun, 8 files, files, settled, visible
    for step, folder, died in deaths(tmp_path, work, more_than=12):
        if died:
            try:
                restore(tmp_path / "backup", folder)
            except ConfigError as error:
                assert "into an empty store" in str(error)  # noqa: PT017
        assert cells(folder / "store" / "rows.sqlite") == rows, step
        with opened(folder) as new:
            assert current_files(new) == files
            assert fsck_lines(new) == []
    assert step == 13


def restore_at(backup: Path, folder: Path, at: At) -> None:
    restore(backup, folder, at=at)


def test_a_restoring_killed_while_it_settles_goes_on(prepared: Path, tmp_path: Path) -> None:
    start = Path(shutil.copytree(prepared, tmp_path / "scene"))
    with opened(start) as scene:
        in_child(lambda: dedupe(scene, kill_at(11)))
        in_child(lambda: land(scene, kill_at(7)))
        back_up(scene, tmp_path / "backup")
    for step, folder, died in deaths(
        tmp_path, partial(restore_at, tmp_path / "backup"), more_than=13
    ):
        if not died:
            break
        if not (folder / "store" / "rows.sqlite").exists():
            restore(tmp_path / "backup", folder)
        with opened(folder) as new:
            assert fsck_lines(new) == [], f"step {step}"
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


def test_rows_that_rotted_while_a_restoring_was_dead_are_copied_again(
    prepared: Path, tmp_path: Path
) -> None:
    with opened(prepared) as scene:
        rows = cells(prepared / "store" / "rows.sqlite")
        back_up(scene, tmp_path / "backup")
    new = tmp_path / "new"
    assert in_child(lambda: restore(tmp_path / "backup", new, at=kill_at(4))) == KILLED
    with closing(sqlite3.connect(new / "store" / "rows.sqlite.restoring")) as database, database:
        rotten = "UPDATE captures SET value = ? WHERE col = ?"
        assert database.execute(rotten, (b"{}", b"m:capture")).rowcount
    restore(tmp_path / "backup", new)
    assert cells(new / "store" / "rows.sqlite") == rows


def test_two_do_not_restore_into_one_folder(prepared: Path, tmp_path: Path) -> None:
    with opened(prepared) as scene:
        back_up(scene, tmp_path / "backup")
    command = ("restore-backup", tmp_path / "backup", "--store", tmp_path / "new")
    with restoring_alone(tmp_path / "new"):
        refused = call(*command)
    assert refused.exit_code == 3, refused
    assert "another process is restoring here" in refused.err
    assert list((tmp_path / "new").iterdir()) == []
    assert call(*command).exit_code == 0


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


# --- Backups while others land, deduplicate, drop and take out, in processes of their own


BACKUPS = 2


@contextmanager
def at_work(scene: Scene, seed: int) -> Iterator[None]:
    """Processes that land, deduplicate and take out until this ends; all of them end well."""
    stop = scene.folder / "stop"
    children = []
    for number, work in enumerate((_land_more, _dedupe, _take_out_and_land)):
        child = os.fork()
        if child == 0:
            code = 70
            try:
                dice = random.Random(f"{seed} {number}")
                while not stop.exists():
                    try:
                        work(scene, dice)
                    except Conflict:
                        time.sleep(dice.uniform(0, 0.05))
                code = 0
            except BaseException as error:  # noqa: BLE001 (nothing may leave the child)
                sys.stderr.write(f"{work.__name__}: {type(error).__name__}: {error}\n")
            finally:
                os._exit(code)
        children.append(child)
    try:
        yield
    finally:
        stop.touch()
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0, 0, 0]


def _land_more(scene: Scene, dice: random.Random) -> None:
    number = dice.randrange(10, 10_000)
    write_crawl(scene.crawls / f"c{number}", number % 10, pages=4, files=1)
    scene.land(number)
    time.sleep(dice.uniform(0.1, 0.5))


def _dedupe(scene: Scene, dice: random.Random) -> None:
    scene.dedupe(act=f"dedupe-{dice.randrange(1 << 30)}", grace_ms=0)
    time.sleep(dice.uniform(0.1, 0.3))


def _take_out_and_land(scene: Scene, dice: random.Random) -> None:
    Remover(scene.rows, scene.archive, Actor()).take_out(LEAVING, CANCEL)
    scene.land(2)
    time.sleep(dice.uniform(0.1, 0.3))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.large) for seed in range(1, 20))]
)
def test_what_had_ended_is_there_and_nothing_is_half_there(
    scene: Scene, tmp_path: Path, seed: int
) -> None:
    scene.land(1)
    scene.land(2)
    for crawl in range(3, 3 + BACKUPS):
        write_crawl(scene.crawls / f"c{crawl}", crawl)
    with at_work(scene, seed):
        for number in range(BACKUPS):
            scene.land(3 + number)
            before = cells(scene.folder / "store" / "rows.sqlite")
            report = back_up(scene, tmp_path / f"backup-{number}")
            after = cells(scene.folder / "store" / "rows.sqlite")
            assert report.problems == []
            done = restore(tmp_path / f"backup-{number}", tmp_path / f"new-{number}")
            assert done.problems == []
            restored = cells(tmp_path / f"new-{number}" / "store" / "rows.sqlite")
            kept = untouched(before, after)
            assert len(kept) > 50
            assert kept <= restored
            with opened(tmp_path / f"new-{number}") as new:
                assert fsck_lines(new) == []
                check_references(new)
                check_marks(new)
                known = states(new)
                for crawl in (1, *range(3, 4 + number)):
                    assert known[f"c{crawl}/part-0.warc.gz"][0] == "stored"
                    assert known[f"c{crawl}/part-1.warc.gz"][0] == "stored"
    # The store itself has come to no harm.
    check_references(scene)
    assert not (scene.folder / "store" / "backups").exists() or not list(
        (scene.folder / "store" / "backups").iterdir()
    )
    assert current_files(scene)
