"""Old generations go only when all that they hold is read where it remains."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from recompressed import recompress
from scenes import COLLECTION, Scene, copied_scene
from whole_payloads import flip, whole_payloads

from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.dedupe.run.waves import drop_each
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Delete, Put


def drop(scene: Scene) -> list[PinakesError]:
    """Drop what can be; why the rest stays."""
    return list(drop_each(lambda entries: scene.drop(0, entries), scan_entries(scene.rows)))


def stored(scene: Scene, name: str) -> Path:
    return scene.archive.path_of(name)


def original(scene: Scene) -> Path:
    """A file with originals, of one generation."""
    return stored(scene, "c1/part-0.warc.gz")


def current(scene: Scene) -> Path:
    return stored(scene, "c2/g2/part-0.warc.gz")


def as_written(scene: Scene, path: Path, archive_file: str) -> None:
    """Make the row of the current generation agree with the bytes."""
    [entry] = [one for one in scan_entries(scene.rows) if one.archive_file == archive_file]
    facts = read_generations(scene.rows, archive_file)[entry.generation]
    name = path.relative_to(scene.archive.folder).as_posix()
    cell = GenerationFacts(
        file=facts.file,
        size=path.stat().st_size,
        sha256=scene.archive.checksum(name),
        why=facts.why,
        act=facts.act,
    )
    column = numbered_column(GenerationFacts, entry.generation)
    row = Put(encode_file_key(archive_file), {column: encode_cell(cell)}, 1 << 40)
    scene.rows.mutate("files", [row])


# --- what rots


def cut_original(scene: Scene) -> None:
    path = original(scene)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def lose_original(scene: Scene) -> None:
    original(scene).unlink()


def swap_originals(scene: Scene) -> None:
    one, other = original(scene), stored(scene, "c1/part-1.warc.gz")
    swap(one, other)


def swap(one: Path, other: Path) -> None:
    aside = one.with_suffix(".aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def cut_current(scene: Scene) -> None:
    path = current(scene)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_current_and_its_row(scene: Scene) -> None:
    """At a member's end, and on record so: nothing but the old one tells."""
    path = current(scene)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"\x1f\x8b\x08")])
    as_written(scene, path, "c2/part-0.warc.gz")


def put_back_another(scene: Scene) -> None:
    """The other file's current generation, on record so."""
    shutil.copy(stored(scene, "c2/g2/part-1.warc.gz"), current(scene))
    as_written(scene, current(scene), "c2/part-0.warc.gz")


def swap_sidecars(scene: Scene) -> None:
    one, other = (sidecar_name(f"c2/g2/part-{number}.warc.gz") for number in (0, 1))
    swap(stored(scene, one), stored(scene, other))


def lose_sidecar(scene: Scene) -> None:
    stored(scene, sidecar_name("c2/g2/part-0.warc.gz")).unlink()


def damage_sidecar(scene: Scene) -> None:
    path = stored(scene, sidecar_name("c2/g2/part-0.warc.gz"))
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)


DAMAGES = [
    cut_original,
    lose_original,
    swap_originals,
    cut_current,
    cut_current_and_its_row,
    put_back_another,
    swap_sidecars,
    lose_sidecar,
    damage_sidecar,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_goes_that_nothing_else_holds(
    landed: Scene, damage: Callable[[Scene], None]
) -> None:
    landed.dedupe()
    damage(landed)
    before = whole_payloads(landed.archive.folder)
    problems = drop(landed)
    assert whole_payloads(landed.archive.folder) == before
    assert problems
    assert all(problem.file for problem in problems)


@pytest.mark.parametrize("form", [None, "zst", "plain"])
def test_each_flipped_bit_of_an_original_is_noticed(
    landed_folder: Path, tmp_path: Path, form: str | None
) -> None:
    """Also where the generation between has revisits already, and only the first bodies."""
    dice = random.Random(48)
    made = tmp_path / "made"
    with copied_scene(landed_folder, made) as scene:
        scene.dedupe()
        if form is not None:
            recompress(scene, form, "c2")
    size = (made / "store/archive/c1/part-0.warc.gz").stat().st_size
    for number in range(12):
        with copied_scene(made, tmp_path / str(number)) as scene:
            flip(original(scene), dice.randrange(size), dice.randrange(8))
            before = whole_payloads(scene.archive.folder)
            problems = drop(scene)
            assert whole_payloads(scene.archive.folder) == before, number
            kept = (scene.archive.folder / "c2/part-0.warc.gz").exists()
            assert bool(problems) == kept


def test_rows_that_lost_what_dedupe_noted_change_nothing(landed: Scene) -> None:
    """Marks and pins are not asked."""
    landed.dedupe()
    changes = [
        Delete(row.key, 1 << 50, columns=(DedupeMark.COLUMN, Pin.COLUMN))
        for row in landed.rows.scan("captures")
    ]
    landed.rows.mutate("captures", changes)
    before = whole_payloads(landed.archive.folder)
    assert drop(landed) == []
    assert whole_payloads(landed.archive.folder) == before


@pytest.mark.parametrize("at", [0.3, 0.6])
def test_old_generation_that_is_rotten_itself_goes(landed: Scene, at: float) -> None:
    """What is damaged in it is whole in the current one, or in that one's originals."""
    landed.dedupe()
    old = stored(landed, "c2/part-0.warc.gz")
    flip(old, int(old.stat().st_size * at))
    before = whole_payloads(landed.archive.folder)
    assert drop(landed) == []
    assert not old.exists()
    assert whole_payloads(landed.archive.folder) == before


def test_command_names_what_it_keeps(landed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    landed.dedupe()
    cut_original(landed)
    before = whole_payloads(landed.archive.folder)
    store = ("--store", str(landed.folder / "store"), "--collection", COLLECTION)
    assert main(["dedupe", "--all", *store, "--drop-old", "--grace", "0"]) == 3
    said = capsys.readouterr().err
    assert "c2/part-0.warc.gz" in said
    assert "the old generation is kept" in said
    assert "c1/part-0.warc.gz" in said
    assert whole_payloads(landed.archive.folder) == before
