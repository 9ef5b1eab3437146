"""A store that nobody works on comes back as it was; and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agreement import check_references
from archive_builders import dictionary
from backup_scenes import back_up, cells, current_files, opened, restore, states
from fsck_here import fsck_lines
from killing import KILLED, in_child, kill_after, tree
from scenes import COLLECTION, Scene, copied_scene, make_scene, page, write_crawl
from store_chain import call
from taken_down import holds_anywhere, land_site, put_back, uri, withdraw

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.backup.contents import BACKUP, FILES
from pinakes.backup.verifying import verify_backup
from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.kept_dictionaries import keep_dictionary, kept_dictionaries, read_kept
from pinakes.catalog.run_rows import RUNNING, set_run_state
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import ConfigError, DigestMismatch, PinakesError, SchemaError
from pinakes.hbase_schema.name_keys import encode_crawl_key
from pinakes.hbase_schema.run_cells import CrawlFacts, RunState
from pinakes.hbase_schema.tables import CELL_VERSIONS
from pinakes.row_store.port import Put, get_row


@pytest.fixture
def lived(scene: Scene) -> Scene:
    """Two crawls, deduplicated, the one of them taken out and landed again."""
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    Remover(scene.rows, scene.archive, Actor()).take_out("c2", CANCEL)
    scene.land(2)
    scene.dedupe(act="dedupe-b")
    return scene


@pytest.mark.parametrize("jobs", [1, 3])
def test_everything_comes_back(lived: Scene, tmp_path: Path, jobs: int) -> None:
    rows, files = cells(lived.folder / "store" / "rows.sqlite"), current_files(lived)
    assert any(name.startswith("c2/g2/") for name in files)
    report = back_up(lived, tmp_path / "backup", jobs=jobs)
    assert report.problems == []
    assert list(verify_backup(LocalArchiveStore(tmp_path / "backup"), "backup")) == []
    done = restore(tmp_path / "backup", tmp_path / "new")
    assert (done.settled, done.left_out, done.problems) == ([], [], [])
    assert cells(tmp_path / "new" / "store" / "rows.sqlite") == rows
    with opened(tmp_path / "new") as new:
        assert current_files(new) == files
        assert fsck_lines(new) == []
        assert check_references(new) == check_references(lived) == 8
    # Nothing of it is left in the store that was backed up, or beside the new one.
    assert list((lived.folder / "store" / "backups").iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "new" / "store").iterdir()) == [
        "archive",
        "rows.sqlite",
    ]


def test_work_goes_on_in_the_new_store(lived: Scene, tmp_path: Path) -> None:
    back_up(lived, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "new")
    shutil.copytree(lived.crawls, tmp_path / "new" / "crawls")
    with opened(tmp_path / "new") as new:
        Remover(new.rows, new.archive, Actor()).take_out("c2", CANCEL)
        new.land(2)
        assert new.dedupe(act="dedupe-c").refs.records == 8
        assert back_up(new, tmp_path / "second").watermark_ms
        assert fsck_lines(new) == []


def test_later_acts_are_left_out(scene: Scene, tmp_path: Path) -> None:
    scene.land(1)
    back_up(scene, tmp_path / "backup")
    scene.land(2)
    scene.dedupe()
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert set(states(new)) == {"c1/part-0.warc.gz", "c1/part-1.warc.gz"}
        assert read_crawl(new.rows, "c2") is None


def test_a_damaged_file_is_copied_and_told_of(lived: Scene, tmp_path: Path) -> None:
    path = lived.archive.path_of("c1/part-0.warc.gz")
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    [problem] = back_up(lived, tmp_path / "backup").problems
    assert problem.file == "c1/part-0.warc.gz"
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert [line.split(":")[1] for line in fsck_lines(new)] == [" checksum"]


@pytest.mark.parametrize("what", ["file", "sidecar"])
def test_a_missing_older_generation_is_named(lived: Scene, tmp_path: Path, what: str) -> None:
    """It may be the only whole copy."""
    older = "c2/part-0.warc.gz"
    assert lived.archive.size("c2/g2/part-0.warc.gz") is not None
    name = older if what == "file" else sidecar_name(older)
    lived.archive.path_of(name).unlink()
    [problem] = back_up(lived, tmp_path / "backup").problems
    assert problem.file == older
    assert "is missing" in problem.message


@pytest.mark.parametrize("how", ["flipped", "cut", "of another file"])
def test_a_damaged_sidecar_is_copied_and_named(lived: Scene, tmp_path: Path, how: str) -> None:
    name = sidecar_name("c1/part-0.warc.gz")
    path = lived.archive.path_of(name)
    data = path.read_bytes()
    changed = {
        "flipped": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "cut": data[:-20],
        "of another file": path.with_name(sidecar_name("part-1.warc.gz")).read_bytes(),
    }
    path.write_bytes(changed[how])
    [problem] = back_up(lived, tmp_path / "backup").problems
    assert problem.file == name
    assert (tmp_path / "backup" / "archive" / name).read_bytes() == changed[how]


def test_a_file_that_is_replaced_again_and_again_meanwhile_is_no_problem(
    lived: Scene, tmp_path: Path
) -> None:
    files = current_files(lived)

    def replace_it(step: str) -> None:
        # More often than versions are kept: then no row tells of the bytes that were held.
        for number in range(CELL_VERSIONS if step == "snapshot taken" else 0):
            Remover(lived.rows, lived.archive, Actor()).take_out("c2", CANCEL)
            lived.land(2)
            lived.dedupe(act=f"dedupe-{number}")

    assert back_up(lived, tmp_path / "backup", at=replace_it).problems == []
    assert current_files(lived) != files
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert current_files(new) == files
        assert fsck_lines(new) == []


@pytest.mark.parametrize("act", ["a landing", "a dedupe"])
def test_what_an_act_has_published_but_not_written_of_is_no_problem(
    lived: Scene, tmp_path: Path, act: str
) -> None:
    reports = []

    def back_up_once(step: str) -> None:
        if step == "published" and not reports:
            reports.append(back_up(lived, tmp_path / "backup"))

    Remover(lived.rows, lived.archive, Actor()).take_out("c2", CANCEL)
    if act == "a landing":
        shutil.rmtree(lived.crawls / "c2")
        write_crawl(lived.crawls / "c2", 2, version=9)
        lived.land(2, at=back_up_once)
    else:
        lived.land(2)
        lived.dedupe(act="dedupe-c", at=back_up_once)
    assert reports[0].problems == []
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert fsck_lines(new) == []
        check_references(new)


# --- what is refused


def test_a_place_with_something_in_it_is_refused(lived: Scene, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        back_up(lived, tmp_path / "backup")
    assert (tmp_path / "backup" / "mine.txt").read_text() == "mine"


def test_a_second_backup_into_one_place_is_refused(lived: Scene, tmp_path: Path) -> None:
    back_up(lived, tmp_path / "backup")
    with pytest.raises(ConfigError, match="already holds the complete backup"):
        back_up(lived, tmp_path / "backup")


def test_a_store_that_is_there_is_not_restored_into(lived: Scene, tmp_path: Path) -> None:
    back_up(lived, tmp_path / "backup")
    rows = cells(lived.folder / "store" / "rows.sqlite")
    with pytest.raises(ConfigError, match="into an empty store"):
        restore(tmp_path / "backup", lived.folder)
    assert cells(lived.folder / "store" / "rows.sqlite") == rows


def test_a_folder_with_something_in_it_is_not_restored_into(lived: Scene, tmp_path: Path) -> None:
    back_up(lived, tmp_path / "backup")
    (tmp_path / "new" / "store").mkdir(parents=True)
    (tmp_path / "new" / "store" / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="into an empty store"):
        restore(tmp_path / "backup", tmp_path / "new")


@pytest.mark.parametrize("place", ["", "backups/monday", "archive/more", "new/../backups/x"])
def test_a_place_in_the_store_is_refused(
    lived: Scene, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next backup deletes snapshots that are left there; and the disk is the same."""
    lived.rows.close()
    store = lived.folder / "store"
    before = tree(store)
    assert main(["backup", str(store / place), "--store", str(store)]) == 2
    assert "in the store" in capsys.readouterr().err
    assert tree(store) == before


def test_facts_of_a_crawl_that_have_rotted_are_kept_as_they_are(
    lived: Scene, tmp_path: Path
) -> None:
    key, column = encode_crawl_key("c1"), CrawlFacts.COLUMN
    row = get_row(lived.rows, "crawls", key)
    assert row is not None
    rotten = row.cells[column].value.replace(b"{", b"\xfb", 1)
    lived.rows.mutate("crawls", [Put(key, {column: rotten}, row.cells[column].timestamp_ms)])
    rows = cells(lived.folder / "store" / "rows.sqlite")
    back_up(lived, tmp_path / "backup")
    done = restore(tmp_path / "backup", tmp_path / "new")
    assert ["row c1" in str(problem) for problem in done.problems] == [True]
    assert cells(tmp_path / "new" / "store" / "rows.sqlite") == rows


def test_what_is_no_backup_is_not_restored(tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    with pytest.raises(ConfigError, match="no backup here"):
        restore(tmp_path / "backup", tmp_path / "new")


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("format", 2, SchemaError),
        ("schema_version", 99, SchemaError),
        ("profile", "cluster", ConfigError),
        ("files_sha256", "0", DigestMismatch),
    ],
)
def test_a_backup_that_does_not_fit_is_refused(
    lived: Scene, tmp_path: Path, key: str, value: object, error: type[PinakesError]
) -> None:
    back_up(lived, tmp_path / "backup")
    path = tmp_path / "backup" / BACKUP
    described = json.loads(path.read_text())
    del described["sha256"]  # it would be found to be another first
    path.write_text(json.dumps({**described, key: value}))
    with pytest.raises(error):
        restore(tmp_path / "backup", tmp_path / "new")
    assert list((tmp_path / "new" / "store").iterdir()) == []


DAMAGED = ["archive/c1/part-0.warc.gz", "archive/c2/g2/part-1.warc.gz", "rows/rows.sqlite"]


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_found_and_not_restored(lived: Scene, tmp_path: Path, name: str) -> None:
    back_up(lived, tmp_path / "backup")
    path = tmp_path / "backup" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = list(verify_backup(LocalArchiveStore(tmp_path / "backup"), "backup"))
    assert [problem.file for problem in found] == [name]
    with pytest.raises(DigestMismatch, match="not what was backed up"):
        restore(tmp_path / "backup", tmp_path / "new")
    # With the file put right, the same call goes on.
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert fsck_lines(new) == []


def test_what_went_and_what_came_is_found(lived: Scene, tmp_path: Path) -> None:
    back_up(lived, tmp_path / "backup")
    (tmp_path / "backup" / "archive" / "c1" / "part-0.warc.gz").unlink()
    (tmp_path / "backup" / "archive" / "more").write_text("more")
    found = list(verify_backup(LocalArchiveStore(tmp_path / "backup"), "backup"))
    assert [problem.file for problem in found] == ["archive/c1/part-0.warc.gz", "archive/more"]


# --- the verbs


def test_the_verbs(lived: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lived.rows.close()
    store, backup, new = lived.folder / "store", tmp_path / "backup", tmp_path / "new"
    assert main(["backup", str(backup), "--store", str(store), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == len((backup / FILES).read_text().splitlines())
    assert main(["backup", str(backup), "--store", str(store)]) == 2
    assert main(["backup", str(backup), "--verify"]) == 0
    assert main(["restore-backup", str(backup), "--store", str(new), "--dry-run"]) == 0
    assert not new.exists()
    assert main(["restore-backup", str(backup), "--store", str(backup / "new")]) == 2
    assert not (backup / "new").exists()
    assert main(["restore-backup", str(backup), "--store", str(new)]) == 0
    assert main(["restore-backup", str(backup), "--store", str(new)]) == 2
    assert main(["fsck", "--full", "--store", str(new)]) == 0
    (backup / "archive" / "c1" / "part-1.warc.gz").write_bytes(b"other")
    assert main(["backup", str(backup), "--verify", "--json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[-1])["file"] == "archive/c1/part-1.warc.gz"
    assert main(["timeline", "http://example.org/1", "--store", str(new)]) == 0
    assert COLLECTION


def test_no_store_and_no_backup_are_wrong_calls(tmp_path: Path) -> None:
    assert main(["backup", str(tmp_path / "b"), "--store", str(tmp_path / "none")]) == 2
    assert main(["restore-backup", str(tmp_path / "b"), "--store", str(tmp_path / "none")]) == 2
    assert main(["backup", "s3://somewhere/else", "--verify"]) == 2


def test_kept_dictionaries_come_back(lived: Scene, tmp_path: Path) -> None:
    kept = keep_dictionary(lived.archive, COLLECTION, dictionary(), token="dictionary-1")
    assert back_up(lived, tmp_path / "backup").problems == []
    done = restore(tmp_path / "backup", tmp_path / "new")
    assert (done.left_out, done.problems) == ([], [])
    with opened(tmp_path / "new") as new:
        assert kept_dictionaries(new.archive, COLLECTION) == [kept]
        assert read_kept(new.archive, kept) == dictionary()
        assert fsck_lines(new) == []


# --- A backup that has rotted is refused, by name; one of a store that lacks files says so


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture
def backed_up(scene: Scene, tmp_path: Path) -> Path:
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    assert back_up(scene, tmp_path / "backup").problems == []
    return tmp_path / "backup"


@pytest.mark.parametrize("rot", [flipped, cut, emptied, Path.unlink])
def test_no_rotten_file_is_restored(
    rot: Callable[[Path], None], backed_up: Path, tmp_path: Path
) -> None:
    """Each file of the backup, one after the other."""
    names = [path.relative_to(backed_up) for path in backed_up.rglob("*") if path.is_file()]
    assert {"files.jsonl", "crawls.jsonl", "rows/rows.sqlite"} <= {str(name) for name in names}
    for name in names:
        kept = (backed_up / name).read_bytes()
        rot(backed_up / name)
        with pytest.raises(PinakesError) as refused:
            restore(backed_up, tmp_path / "new")
        # Without `backup.json` the backup is incomplete.
        assert name.name in str(refused.value) or name.name == "backup.json"
        assert not (tmp_path / "new" / "store" / "rows.sqlite").exists()
        (backed_up / name).write_bytes(kept)
        shutil.rmtree(tmp_path / "new", ignore_errors=True)


def test_no_bit_of_the_description_is_believed(backed_up: Path, tmp_path: Path) -> None:
    """A bit of each digit of a time, which any other value would do for."""
    path = backed_up / "backup.json"
    kept = path.read_bytes()
    at = kept.index(b'"watermark_ms": ') + len('"watermark_ms": ')
    for place in range(at, at + 13):
        data = bytearray(kept)
        data[place] ^= 1
        path.write_bytes(data)
        with pytest.raises(PinakesError):
            restore(backed_up, tmp_path / "new")


def test_what_rotted_while_a_restore_was_broken_off_is_copied_again(
    backed_up: Path, scene: Scene, tmp_path: Path
) -> None:
    """What an earlier call copied is read again, though its size is right."""

    def stop(step: str) -> None:
        if step == "files restored":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(backed_up, tmp_path / "new", at=stop)
    restored = sorted((tmp_path / "new" / "store" / "archive").rglob("*.warc.gz"))
    for path in restored:
        flipped(path)
    restore(backed_up, tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert current_files(new) == current_files(scene)
        assert fsck_lines(new) == []
    assert len(cells(tmp_path / "new" / "store" / "rows.sqlite")) > 0


def test_a_missing_file_is_named(scene: Scene, tmp_path: Path) -> None:
    scene.land(1)
    archive = scene.folder / "store" / "archive"
    gone = min(archive.rglob("*.warc.gz"))
    gone.unlink()
    [problem] = back_up(scene, tmp_path / "backup").problems
    assert problem.file == str(gone.relative_to(archive))
    assert "missing" in str(problem)


# --- An old generation that an act has dropped, and that somebody has put back, in a backup


FULL, SECOND = "c1/site.warc.gz", "c2/site.warc.gz"
SECRET = page(0)[-200:]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The site, and `kept`, which has its archive.  Only read it."""
    with make_scene(tmp_path_factory.mktemp("made") / "made", ()) as scene:
        land_site(scene, 1, 2)
        shutil.copytree(scene.archive.folder, scene.folder / "kept")
        yield scene


@pytest.fixture
def site(made: Scene, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(made.folder, tmp_path / "site") as scene:
        yield scene


def act_of_drop(scene: Scene, name: str) -> str:
    return read_generations(scene.rows, name)[1].dropped or ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_withdrawal_dropped_is_named_and_not_copied(
    jobs: int, site: Scene, tmp_path: Path
) -> None:
    withdraw(site, uri(0))
    put_back(site, FULL, sidecar_name(FULL), SECOND)
    report = back_up(site, tmp_path / "backup", jobs=jobs)
    assert [problem.file for problem in report.problems] == [FULL, SECOND]
    for problem in report.problems:
        assert "not copied: withdraw-" in str(problem)
        assert "`pinakes withdraw` the same again" in str(problem)
        assert "--drop --grace 0` deletes it" in str(problem)
    assert holds_anywhere(tmp_path / "backup", SECRET) == []
    assert not (tmp_path / "backup" / "archive" / sidecar_name(FULL)).exists()
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as scene:
        assert fsck_lines(scene) == []
    # It stays in the archive: somebody has to look at it.
    assert (site.archive.folder / FULL).exists()


def test_what_drop_old_dropped_is_copied_and_named(site: Scene, tmp_path: Path) -> None:
    store = site.folder / "store"
    words = ["generations", "--collection", COLLECTION, "--drop", "--grace", "0"]
    assert f"dropped {SECOND}" in call(*words, "--store", store).out
    put_back(site, SECOND)
    done = call("backup", tmp_path / "backup", "--store", store)
    assert done.exit_code == 3
    assert f"{SECOND}: superseded generation, copied as it is: drop-old has dropped it" in done.err
    assert f"`pinakes {' '.join(words)}` deletes it" in done.err
    assert (tmp_path / "backup" / "archive" / SECOND).read_bytes() == (
        site.archive.folder / SECOND
    ).read_bytes()


def test_nothing_is_said_while_the_act_has_not_ended(site: Scene, tmp_path: Path) -> None:
    """It notes what it drops, and then deletes it."""
    withdraw(site, uri(0))
    put_back(site, FULL, sidecar_name(FULL))
    set_run_state(site.rows, act_of_drop(site, FULL), RunState(state=RUNNING))
    assert back_up(site, tmp_path / "backup").problems == []
    assert (tmp_path / "backup" / "archive" / FULL).exists()
    assert not any("generation-back" in found for found in fsck_lines(site))


@pytest.mark.parametrize("is_back", [False, True], ids=["gone", "put back"])
def test_what_is_dropped_after_the_snapshot_is_copied(
    is_back: bool, site: Scene, tmp_path: Path
) -> None:
    """The rows of the backup have it as one that is there."""
    steps: list[str] = []

    def at(step: str) -> None:
        steps.append(step)
        if steps.count("copied") == 1 and step == "copied":
            withdraw(site, uri(0))
            if is_back:
                put_back(site, FULL)

    report = back_up(site, tmp_path / "backup", at=at)
    assert (report.problems, act_of_drop(site, FULL)[:9]) == ([], "withdraw-")
    assert (tmp_path / "backup" / "archive" / FULL).exists()
    restore(tmp_path / "backup", tmp_path / "new")
    with opened(tmp_path / "new") as scene:
        assert fsck_lines(scene) == []


@pytest.mark.parametrize("rot", [flipped, cut, emptied])
def test_rows_that_rotted_while_a_backup_was_broken_off_are_held_again(
    lived: Scene, tmp_path: Path, rot: Callable[[Path], object]
) -> None:
    """What has been copied of them is sound, and must not be replaced by what has rotted."""
    before, place = cells(lived.folder / "store" / "rows.sqlite"), tmp_path / "backup"
    assert in_child(lambda: back_up(lived, place, at=kill_after("copied", 2))) == KILLED
    [held] = (lived.folder / "store" / "backups").glob("*/rows/rows.sqlite")
    copied = (place / "rows" / "rows.sqlite").read_bytes()
    assert copied == held.read_bytes()
    rot(held)
    assert not back_up(lived, place).went_on
    assert list(verify_backup(LocalArchiveStore(place), "backup")) == []
    restore(place, tmp_path / "new")
    assert cells(tmp_path / "new" / "store" / "rows.sqlite") == before
