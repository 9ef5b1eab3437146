"""What refers to a crawl is asked of the files that stay: rows may be lost or wrong, and sidecars
those of other files.  Judged by zlib alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kill_loop import write_crawls
from purged import capture, claims_open, given, land, of_others, purge, revisit_of
from scenes import COLLECTION, Scene, copied_scene, make_scene
from store_chain import call
from whole_payloads import swap, whole_payloads

from pinakes.acts.actor import Actor, read_lease
from pinakes.catalog.crawl_rows import COMMITTED, change_crawl_state, read_crawl
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import PROMOTE, REFUSE, REMOVE
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark, Pin
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.row_store.port import Delete, Put


@pytest.fixture(scope="module")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl 1, of which crawl 2 has copies, and crawl 3 a crawler's revisit; crawl 4 by itself."""
    folder = tmp_path_factory.mktemp("made")
    with make_scene(folder, crawls=()) as scene:
        land(scene, 1, *(capture(1, number) for number in range(4)))
        land(scene, 2, *(capture(2, number) for number in range(4)))
        land(scene, 3, revisit_of(3, 0, (1, 1)), capture(3, 9))
        land(scene, 4, *(capture(4, number) for number in range(20, 25)))
        for crawl in (1, 2, 3, 4):
            name = f"c{crawl}"
            change_crawl_state(scene.rows, name, ("open",), COMMITTED, act="commit")
        scene.dedupe()
        assert list(scene.drop(0, scan_entries(scene.rows)))
    return folder


@pytest.fixture
def scene(made_folder: Path, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(made_folder, tmp_path) as scene:
        yield scene


# --- rows that are lost, or wrong


def delete(scene: Scene, table: str, *columns: bytes) -> None:
    now_ms = Actor().now_ms()
    rows = list(scene.rows.scan(table))
    whole = [Delete(row.key, now_ms) for row in rows]
    some = [Delete(row.key, now_ms, columns=columns) for row in rows]
    scene.rows.mutate(table, some if columns else whole)


def lose_marks(scene: Scene) -> None:
    delete(scene, "captures", DedupeMark.COLUMN)


def lose_pins(scene: Scene) -> None:
    delete(scene, "captures", Pin.COLUMN)


def lose_digests(scene: Scene) -> None:
    delete(scene, "digests")


def lose_all(scene: Scene) -> None:
    delete(scene, "captures", DedupeMark.COLUMN, Pin.COLUMN)
    lose_digests(scene)


def name_another_original(scene: Scene) -> None:
    """A capture of crawl 4."""
    other = next(row.key for row in scene.rows.scan("captures") if b"/20 " in row.key)
    puts = []
    for row in scene.rows.scan("captures", columns=[DedupeMark.COLUMN]):
        mark = decode_cell(DedupeMark, row.value(DedupeMark.COLUMN) or b"")
        if mark.refers_to_key is not None:
            mark = replace(mark, refers_to_key=other.decode("ascii"))
            puts.append(Put(row.key, {DedupeMark.COLUMN: encode_cell(mark)}, Actor().now_ms()))
    assert puts
    scene.rows.mutate("captures", puts)


LOSSES = [lose_marks, lose_pins, lose_digests, lose_all, name_another_original]


def remove(scene: Scene) -> tuple[int, list[PinakesError]]:
    result = Remover(scene.rows, scene.archive, Actor()).take_out("c1", REMOVE)
    return len(result.references), result.problems


def is_as_it_was(scene: Scene, before: set[str]) -> bool:
    state = read_crawl(scene.rows, "c1")
    lease = read_lease(scene.rows, COLLECTION)
    return (
        whole_payloads(scene.archive.folder) == before
        and (state is not None and state.state == COMMITTED)
        and (lease is None or lease.expires_ms == 0)
        and claims_open(scene) == []
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_crawl_is_not_removed_that_files_refer_to(
    scene: Scene, loss: Callable[[Scene], None]
) -> None:
    before = whole_payloads(scene.archive.folder)
    loss(scene)
    assert remove(scene) == (5, [])
    assert is_as_it_was(scene, before)


@pytest.mark.parametrize("loss", LOSSES)
def test_purge_provides_for_what_files_refer_to(
    scene: Scene, loss: Callable[[Scene], None]
) -> None:
    before, records = whole_payloads(scene.archive.folder), given(scene)
    loss(scene)
    assert len(purge(scene, 1, REFUSE).references) == 5
    assert is_as_it_was(scene, before)
    report = purge(scene, 1, PROMOTE)
    assert report.is_complete, report.problems
    assert given(scene) == of_others(records, 1)
    assert whole_payloads(scene.archive.folder) == before


# --- sidecars that are not of their files


def _sidecar(scene: Scene, name: str) -> Path:
    return scene.archive.path_of(sidecar_name(name))


def swap_sidecars(scene: Scene) -> None:
    """That of the file with revisits, and of one without."""
    swap(_sidecar(scene, "c2/g2/a.warc.gz"), _sidecar(scene, "c4/a.warc.gz"))


def swap_own_sidecar(scene: Scene) -> None:
    swap(_sidecar(scene, "c1/a.warc.gz"), _sidecar(scene, "c3/a.warc.gz"))


def put_back_old_sidecar(scene: Scene) -> None:
    """As of one record, as it was before it became a revisit."""
    folder = scene.folder / "again"
    with make_scene(folder, crawls=()) as again:
        land(again, 2, *(capture(2, number) for number in range(4)))
        old = again.archive.path_of(sidecar_name("c2/a.warc.gz"))
        shutil.copy(old, _sidecar(scene, "c2/g2/a.warc.gz"))


def lose_sidecar(scene: Scene) -> None:
    _sidecar(scene, "c2/g2/a.warc.gz").unlink()


def damage_sidecar(scene: Scene) -> None:
    path = _sidecar(scene, "c2/g2/a.warc.gz")
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)


def cut_own_sidecar(scene: Scene) -> None:
    """As a repair left it that had read a cut file, which is whole again now."""
    folder = scene.folder / "again"
    with make_scene(folder, crawls=()) as again:
        land(again, 1, *(capture(1, number) for number in range(1)))
        old = again.archive.path_of(sidecar_name("c1/a.warc.gz"))
        shutil.copy(old, _sidecar(scene, "c1/a.warc.gz"))


def change_what_a_crawlers_revisit_names(scene: Scene) -> None:
    puts = []
    for row in scene.rows.scan("captures", columns=[CaptureFacts.COLUMN]):
        facts = decode_cell(CaptureFacts, row.value(CaptureFacts.COLUMN) or b"")
        if facts.type == "revisit":
            facts = replace(facts, refers_to_target_uri="http://example.org/none")
            puts.append(Put(row.key, {CaptureFacts.COLUMN: encode_cell(facts)}, Actor().now_ms()))
    assert puts
    scene.rows.mutate("captures", puts)


@pytest.mark.parametrize(
    "damage",
    [
        swap_sidecars,
        swap_own_sidecar,
        put_back_old_sidecar,
        lose_sidecar,
        damage_sidecar,
        cut_own_sidecar,
        change_what_a_crawlers_revisit_names,
    ],
)
def test_nothing_is_deleted_where_a_file_does_not_tell(
    scene: Scene, damage: Callable[[Scene], None]
) -> None:
    before = whole_payloads(scene.archive.folder)
    lose_all(scene)
    damage(scene)
    count, problems = remove(scene)
    assert not count
    assert [str(problem).count("--repair") for problem in problems] == [1]
    assert is_as_it_was(scene, before)
    for references in (REFUSE, PROMOTE):
        report = purge(scene, 1, references)
        assert [str(one).count("--repair") for one in report.problems] == [1]
        assert is_as_it_was(scene, before)


def test_damaged_file_may_go(scene: Scene) -> None:
    """Its sidecar has a row for each record that landed."""
    path = scene.archive.path_of("c4/a.warc.gz")
    path.write_bytes(path.read_bytes()[:500])
    result = Remover(scene.rows, scene.archive, Actor()).take_out("c4", REMOVE)
    assert (result.problems, result.references, path.exists()) == ([], [], False)


def test_generations_that_would_go_as_well_are_asked_for_first(scene: Scene) -> None:
    """What provides for a reference rots as soon as it is there; the generation before is whole."""
    before = whole_payloads(scene.archive.folder)
    path = scene.archive.path_of("c3/g2/a.warc.gz")
    rotten: list[Path] = []

    def rot(step: str) -> None:
        if step == "closed" and not rotten:
            data = path.read_bytes()
            last = (data.rindex(b"\x1f\x8b\x08") + len(data)) // 2
            path.write_bytes(data[:last] + b"\0\0\0" + data[last + 3 :])
            rotten.append(path)

    report = purge(scene, 1, PROMOTE, at=rot)
    assert [problem.file for problem in report.problems] == ["c3/a.warc.gz"]
    assert whole_payloads(scene.archive.folder) == before
    state = read_crawl(scene.rows, "c1")
    assert state is not None
    assert state.state == COMMITTED


# --- A crawl is not taken out by files that are another's, though their sidecars fit them


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two crawls; a file of each, and its sidecar, is in the place of the other's."""
    write_crawls(tmp_path, 1)
    store = tmp_path / "store"
    assert call("init", "--store", store).exit_code == 0
    for crawl, folder in (("c1", "one"), ("c2", "two")):
        assert call("ingest", tmp_path / folder, "--crawl", crawl, "--store", store).exit_code == 0
        assert call("crawl", "commit", crawl, "--store", store).exit_code == 0
    for end in ("", ".sidecar.parquet"):
        one, two = (store / "archive" / crawl / f"0.warc.gz{end}" for crawl in ("c1", "c2"))
        shutil.move(one, tmp_path / "kept")
        shutil.move(two, one)
        shutil.move(tmp_path / "kept", two)
    return store


@pytest.mark.parametrize("words", [("remove", "c1"), ("purge", "c1", "--references", "promote")])
def test_exchanged_files_stay(words: tuple[str, ...], store: Path) -> None:
    before = {path: path.read_bytes() for path in (store / "archive").rglob("*.gz")}
    answer = call("crawl", *words, "--store", store)
    assert answer.exit_code == 3
    assert "/0.warc.gz" in answer.err
    assert {path: path.read_bytes() for path in (store / "archive").rglob("*.gz")} == before
