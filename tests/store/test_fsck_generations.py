"""fsck of files that dedupe has rewritten: sidecars and rows come back as the run left them."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from fsck_here import codes, look
from killing import KILLED, deaths_of_verb, in_child
from scenes import COLLECTION, Scene, land_late_revisit, make_scene

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.sidecar import (
    SidecarOf,
    SidecarRow,
    read_sidecar,
    read_sidecar_of,
    sidecar_name,
    write_sidecar,
)
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.hbase_schema.capture_cells import DedupeMark
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.generation_names import generation_file, generation_of
from pinakes.ingest.fsck.undoing import Undoer
from pinakes.row_store.port import Put

pytestmark = pytest.mark.slow
REWRITTEN = ("c2/part-0.warc.gz", "c2/part-1.warc.gz")


@pytest.fixture
def deduped(scene: Scene) -> Scene:
    """Two crawls, one of them rewritten, and a target restored in a third generation."""
    land_late_revisit(scene)
    scene.dedupe(act="dedupe-b")
    return scene


def sidecar_of(scene: Scene, name: str) -> str:
    generation = read_entry(scene.rows, name).generation
    return str(scene.archive.path_of(sidecar_name(generation_file(name, generation))))


def sidecars(scene: Scene) -> dict[str, list[SidecarRow]]:
    return {name: list(read_sidecar(sidecar_of(scene, name))) for name in REWRITTEN}


def empty(path: str) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    ("harm", "code"), [(os.unlink, "sidecar-missing"), (empty, "sidecar-unreadable")]
)
@pytest.mark.parametrize("old_ones", [True, False])
def test_a_sidecar_is_made_anew(deduped: Scene, harm, code: str, old_ones: bool) -> None:  # type: ignore[no-untyped-def]
    assert [read_entry(deduped.rows, name).generation for name in REWRITTEN] == [2, 3]
    if not old_ones:
        entries = [read_entry(deduped.rows, name) for name in REWRITTEN]
        assert list(deduped.drop(0, entries))
    rows, state = sidecars(deduped), deduped.state()
    for name in REWRITTEN:
        harm(sidecar_of(deduped, name))
    assert codes(deduped, repair=True) == [code, code]
    assert sidecars(deduped) == rows
    assert deduped.state() == state
    assert codes(deduped, repair=True) == []


def test_sidecars_name_their_files(deduped: Scene) -> None:
    """Those of all generations, as landed and as rewritten."""
    files = [f.name for f in deduped.archive.list() if not f.name.endswith(sidecar_name(""))]
    assert {generation_of(file).number for file in files} == {1, 2, 3}
    for file in files:
        sha256 = hashlib.sha256(deduped.archive.path_of(file).read_bytes()).hexdigest()
        found = read_sidecar_of(str(deduped.archive.path_of(sidecar_name(file))))
        assert found == SidecarOf(file, generation_of(file).number, sha256)


def damage(path: str) -> None:
    """As large as it was, and still a sidecar or an archive file at its start."""
    with open(path, "r+b") as file:
        file.seek(-30, os.SEEK_END)
        file.write(bytes(20))


@pytest.mark.parametrize(
    ("of_sidecar", "harm", "code", "when"),
    [
        (False, damage, "checksum", {"default", "full"}),
        (False, empty, "checksum", {"quick", "default", "full"}),
        (True, os.unlink, "sidecar-missing", {"quick", "default", "full"}),
        (True, empty, "sidecar-unreadable", {"full"}),
        (True, "other", "location", {"full"}),
    ],
    ids=["bytes", "size", "no sidecar", "no sidecar's bytes", "another's sidecar"],
)
@pytest.mark.parametrize("depth", ["quick", "default", "full"])
def test_superseded_generation_is_checked(  # type: ignore[no-untyped-def]
    deduped: Scene, of_sidecar: bool, harm, code: str, when: set[str], depth: str
) -> None:
    """Both of the file that has three; the current one is as it should be."""
    for generation in (1, 2):
        name = generation_file("c2/part-1.warc.gz", generation)
        path = deduped.archive.path_of(sidecar_name(name) if of_sidecar else name)
        if harm == "other":
            shutil.copyfile(sidecar_of(deduped, "c2/part-0.warc.gz"), path)
        else:
            harm(str(path))
    options = {"quick": depth == "quick", "full": depth == "full"}
    found = look(deduped, **options)
    codes = {finding.code for finding in found}
    if depth in when:
        # Bytes that are gone are missed by the sidecar, too.
        assert code in codes <= {code, "location"}
        assert len({finding.file for finding in found}) == 2
        assert all((finding.mend is None) != of_sidecar for finding in found)
        assert all(("--drop --grace 0`" in one.message) == (one.mend is None) for one in found)
    else:
        assert codes == set()


def older_sidecars(scene: Scene) -> dict[str, list[SidecarRow]]:
    """Of the generations of the file that has three, but for the current one."""
    names = [generation_file("c2/part-1.warc.gz", generation) for generation in (1, 2)]
    return {
        name: list(read_sidecar(str(scene.archive.path_of(sidecar_name(name))))) for name in names
    }


@pytest.mark.parametrize("harm", [os.unlink, empty], ids=["lost", "emptied"])
def test_the_sidecar_of_an_older_generation_is_made_anew(deduped: Scene, harm) -> None:  # type: ignore[no-untyped-def]
    rows, state = older_sidecars(deduped), deduped.state()
    harm(str(deduped.archive.path_of(sidecar_name("c2/part-1.warc.gz"))))
    assert len(codes(deduped, repair=True)) == 1
    assert older_sidecars(deduped) == rows
    assert deduped.state() == state
    assert codes(deduped, repair=True) == []


def test_no_sidecar_is_made_of_a_decision_that_rows_do_not_tell(deduped: Scene) -> None:
    """A record that was a revisit in the second generation is whole again in the third."""
    name = generation_file("c2/part-1.warc.gz", 2)
    os.unlink(deduped.archive.path_of(sidecar_name(name)))
    [finding] = look(deduped, full=True)
    mending = finding.mend
    assert (finding.code, mending is not None) == ("sidecar-missing", True)
    with pytest.raises(InputRefused, match="rows no longer say what was decided"):
        mending() if mending is not None else None
    assert deduped.archive.size(sidecar_name(name)) is None


def test_no_sidecar_is_made_of_an_older_generation_that_is_damaged(deduped: Scene) -> None:
    path = deduped.archive.path_of("c2/part-1.warc.gz")
    os.unlink(deduped.archive.path_of(sidecar_name("c2/part-1.warc.gz")))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    found = look(deduped)
    assert [finding.code for finding in found] == ["checksum", "sidecar-missing"]
    mending = found[1].mend
    assert mending is not None
    with pytest.raises(InputRefused, match="not mended, since its SHA-256 differs"):
        mending()
    assert deduped.archive.size(sidecar_name("c2/part-1.warc.gz")) is None


@pytest.mark.parametrize("by_undo", [True, False], ids=["undo", "repair"])
def test_a_sidecar_in_the_quarantine_is_named(deduped: Scene, by_undo: bool) -> None:
    """Its file was away for a while, and fsck moved the sidecar that was left alone."""
    rows, state = older_sidecars(deduped), deduped.state()
    name = "c2/part-1.warc.gz"
    path = deduped.archive.path_of(name)
    away = deduped.folder / "away"
    shutil.move(path, away)
    [_, alone] = look(deduped, full=True)
    assert (alone.code, alone.mend is not None) == ("sidecar-alone", True)
    repair = alone.mend() if alone.mend is not None else None
    shutil.move(away, path)
    [finding] = look(deduped, full=True)
    assert finding.code == "sidecar-missing"
    assert f"; `pinakes fsck --undo {repair}` puts it back" in finding.message
    if by_undo:
        assert Undoer(deduped.rows, deduped.archive, Actor()).undo(str(repair)).is_whole
    else:
        assert codes(deduped, repair=True) == ["sidecar-missing"]
    assert codes(deduped, repair=True) == []
    assert older_sidecars(deduped) == rows
    assert deduped.state() == state


@pytest.mark.parametrize("old_ones", [True, False])
def test_damaged_generation_is_named_with_what_is_still_whole(
    deduped: Scene, old_ones: bool
) -> None:
    name = "c2/part-0.warc.gz"
    if not old_ones:
        assert list(deduped.drop(0, [read_entry(deduped.rows, name)]))
    rows, state = sidecars(deduped), deduped.state()
    path = deduped.archive.path_of(generation_file(name, 2))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    [finding] = look(deduped, full=True)
    assert (finding.code, finding.mend) == ("checksum", None)
    assert (f"generation 1 ({name}) still has the records whole" in finding.message) == old_ones
    command = "`pinakes generations --collection news --drop --grace 0` mends the file"
    assert (command in finding.message) == old_ones
    assert "--accept" in finding.message
    [quick] = look(deduped, quick=True)
    assert (f"generation 1 ({name}) may have the records whole" in quick.message) == old_ones
    path.write_bytes(whole)
    assert codes(deduped, repair=True) == []
    assert (sidecars(deduped), deduped.state()) == (rows, state)


def test_an_old_generation_in_the_place_of_the_current_one_can_be_accepted(deduped: Scene) -> None:
    """It lacks nothing of the old one: there is nothing to mend from that."""
    name = "c2/part-0.warc.gz"
    path = deduped.archive.path_of(generation_file(name, 2))
    shutil.copyfile(deduped.archive.path_of(name), path)
    [finding] = [one for one in look(deduped, full=True) if one.code == "checksum"]
    assert "--drop" not in finding.message
    assert "`pinakes fsck --accept` goes on" in finding.message
    with pytest.raises(DigestMismatch, match="lacks nothing of the old one"):
        list(deduped.drop(0, [read_entry(deduped.rows, name)], mends=True))


def test_exchanged_sidecars_of_generations_are_mended(deduped: Scene) -> None:
    rows, state = sidecars(deduped), deduped.state()
    first, second = (sidecar_of(deduped, name) for name in REWRITTEN)
    os.rename(first, f"{first}.aside")
    os.rename(second, first)
    os.rename(f"{first}.aside", second)
    assert codes(deduped, repair=True, full=False) == ["sidecar-other"] * 2
    assert codes(deduped, repair=True) == []
    assert (sidecars(deduped), deduped.state()) == (rows, state)


def test_sidecar_of_an_older_version_is_proven_by_its_records(deduped: Scene) -> None:
    """It does not say whose it is; lost rows come back by it, since it is this file's."""
    name = REWRITTEN[0]
    rows, kept = sidecars(deduped), deduped.state()
    with open(sidecar_of(deduped, name), "wb") as file:
        write_sidecar(file, rows[name])
    with sqlite3.connect(deduped.folder / "store" / "rows.sqlite") as connection:
        connection.execute("DELETE FROM digests")
    connection.close()
    assert set(codes(deduped, repair=True)) == {"rows-missing"}
    assert codes(deduped, repair=True) == []
    assert (sidecars(deduped), deduped.state()) == (rows, kept)
    assert read_sidecar_of(sidecar_of(deduped, name)) is None


@pytest.mark.parametrize("deletions", range(6))
def test_killed_drop_is_finished_by_the_next(
    deduped: Scene, monkeypatch: pytest.MonkeyPatch, deletions: int
) -> None:
    """One file has one old generation, the other two; each is a file and its sidecar."""
    entries = [read_entry(deduped.rows, name) for name in REWRITTEN]
    left = iter(range(deletions))

    def delete_or_die(name: str) -> None:
        if next(left, None) is None:
            os._exit(KILLED)
        LocalArchiveStore.delete(deduped.archive, name)

    with monkeypatch.context() as killing:
        killing.setattr(deduped.archive, "delete", delete_or_die)
        assert in_child(lambda: list(deduped.drop(0, entries))) == KILLED
    list(deduped.drop(0, entries))
    assert codes(deduped, repair=True) == []
    current = {entry.stored_name for entry in entries}
    there = {stored.name for stored in deduped.archive.list("c2")}
    assert there == current | set(map(sidecar_name, current))


def test_lost_rows_come_back_with_their_marks(deduped: Scene) -> None:
    before = deduped.state()
    with sqlite3.connect(deduped.folder / "store" / "rows.sqlite") as connection:
        keys = (b"org,example)/4 2022", b"org,example)/4 2023")
        connection.execute("DELETE FROM captures WHERE row >= ? AND row < ?", keys)
    connection.close()
    assert codes(deduped, repair=True) == ["rows-missing"]
    assert codes(deduped, repair=True) == []
    assert deduped.state() == before


def test_where_a_record_lay_first_is_lost_with_its_row_and_file(deduped: Scene) -> None:
    list(deduped.drop(0, [read_entry(deduped.rows, name) for name in REWRITTEN]))
    key = next(row.row_key for row in sidecars(deduped)[REWRITTEN[0]] if row.original_key)
    assert key is not None
    now = get_captures(deduped.rows, [key])[key]
    with sqlite3.connect(deduped.folder / "store" / "rows.sqlite") as connection:
        connection.execute("DELETE FROM captures WHERE row = ?", (key,))
    connection.close()
    assert codes(deduped, repair=True) == ["rows-missing"]
    assert codes(deduped, repair=True) == []
    current = max(now.locations)
    assert get_captures(deduped.rows, [key])[key].locations == {current: now.locations[current]}


def test_an_original_that_is_a_revisit_itself_is_found(deduped: Scene) -> None:
    duplicate = next(row for row in sidecars(deduped)[REWRITTEN[0]] if row.original_key)
    assert duplicate.original_key is not None
    mark = encode_cell(DedupeMark(run="dedupe-a", hash_extension=0, copy_number=2))
    deduped.rows.mutate("captures", [Put(duplicate.original_key, {DedupeMark.COLUMN: mark}, 1)])
    [found] = look(deduped)
    assert (found.code, found.mend) == ("reference", None)
    at = f"the revisit at offset {duplicate.offset}"
    assert found.message == f"the original of {at} is a revisit itself"


def test_killed_at_every_step_and_run_again(deduped: Scene, tmp_path: Path) -> None:
    rows, state = sidecars(deduped), deduped.state()
    for name in REWRITTEN:
        os.unlink(sidecar_of(deduped, name))
    deduped.rows.close()
    for _, folder, _ in deaths_of_verb(
        tmp_path / "killed",
        lambda folder: ["fsck", "--repair", "--store", folder],
        made=deduped.folder / "store",
        well=1,
        more_than=len(REWRITTEN) * 3,
    ):
        folder.rename(folder.with_name("store"))
        with make_scene(folder.parent, crawls=()) as scene:
            assert set(codes(scene, repair=True, full=False)) <= {
                "sidecar-missing",
                "dead-claim",
                "aside",
            }
            assert codes(scene, repair=True) == []
            assert sidecars(scene) == rows
            assert scene.state() == state
        folder.with_name("store").rename(folder)


def test_a_generation_that_no_run_has_committed_is_named(deduped: Scene) -> None:
    """While a run is not finished it may be this run's, which will commit it."""
    name = REWRITTEN[1]
    last = read_entry(deduped.rows, name).generation
    left = generation_file(name, last + 1)
    deduped.archive.path_of(left).parent.mkdir(parents=True)
    shutil.copy(deduped.archive.path_of(generation_file(name, last)), deduped.archive.path_of(left))
    findings = look(deduped)
    assert [(found.code, found.file, found.mend) for found in findings] == [
        ("unknown-file", left, None)
    ]
    assert "a later generation than the catalogue knows" in findings[0].message
    Actor().lease(deduped.rows, COLLECTION, act="dedupe-c")
    assert codes(deduped, repair=True) == []
