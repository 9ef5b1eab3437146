"""Old generations go only when all that they hold is read where it remains."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from killing import deaths
from recompressed import recompress
from scenes import (
    COLLECTION,
    At,
    Scene,
    copied_scene,
    in_scene,
    make_scene,
    page,
    response,
    write_records,
)
from whole_payloads import flip, payloads_of, swap, whole_payloads

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.dedupe.run.old_generations import drop_each
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.ingest.fsck.check import Fsck
from pinakes.row_store.port import Delete, Put


def drop(scene: Scene, *, mends: bool = False) -> list[PinakesError]:
    """Drop what can be; why the rest stays."""
    return list(
        drop_each(lambda entries: scene.drop(0, entries, mends=mends), scan_entries(scene.rows))
    )


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


def test_a_generation_of_which_nothing_is_noted_is_named(landed: Scene) -> None:
    """Nothing says whether the grace time of its old one has passed."""
    landed.dedupe()
    column = numbered_column(GenerationFacts, 2)
    landed.rows.mutate("files", [Delete(b"c2/part-0.warc.gz", 1 << 50, columns=(column,))])
    assert any("nothing says when" in str(problem) for problem in drop(landed))
    assert stored(landed, "c2/part-0.warc.gz").exists()


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


def test_another_file_in_the_old_ones_place_stays(landed: Scene) -> None:
    """Its records are not those of the old one's sidecar, and nothing else holds them."""
    folder, mark = landed.crawls / "c9", b"\x1f\x8b\x08"
    date = "2029-01-01T00:00:00Z"
    pages = [response(f"http://b/{n}", date, page(n, 9), 9000 + n) for n in range(6)]
    folder.mkdir()
    write_records(folder, "part-0", pages)
    info = stored(landed, "c2/part-0.warc.gz").read_bytes()
    path = folder / "part-0.warc.gz"
    path.write_bytes(info[: info.index(mark, 1)] + path.read_bytes())
    landed.dedupe()
    landed.land(9)
    swap(stored(landed, "c2/part-0.warc.gz"), stored(landed, "c9/part-0.warc.gz"))
    before = whole_payloads(landed.archive.folder)
    assert drop(landed) != []
    assert whole_payloads(landed.archive.folder) == before


def test_command_names_what_it_keeps(landed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    landed.dedupe()
    cut_original(landed)
    before = whole_payloads(landed.archive.folder)
    store = ("--store", str(landed.folder / "store"), "--collection", COLLECTION)
    drop_old = ("--drop-old", "--grace", "0")
    assert main(["dedupe", "--all", *store, "--plan", *drop_old]) == 3
    said = capsys.readouterr()
    assert "would drop c2/part-1.warc.gz" in said.out
    assert "the old generation is kept" in said.err
    assert main(["dedupe", "--all", *store, *drop_old]) == 3
    events = capsys.readouterr().err
    assert "c2/part-0.warc.gz" in events
    assert "the old generation alone held 4 records" in events
    assert "c1/part-0.warc.gz" in events
    assert whole_payloads(landed.archive.folder) == before


# --- mended from the old generation


def current_payloads(scene: Scene) -> set[str]:
    """Of the current generations alone: what is left when all others are gone."""
    return {
        payload
        for entry in scan_entries(scene.rows)
        for payload in payloads_of(scene.archive.path_of(entry.stored_name))
    }


def flip_current(scene: Scene) -> None:
    """In one of its full records."""
    path = current(scene)
    starts = [m.start() for m in re.finditer(rb"\x1f\x8b\x08", path.read_bytes())]
    longest = max(range(1, len(starts)), key=lambda n: starts[n] - starts[n - 1])
    flip(path, (starts[longest - 1] + starts[longest]) // 2)


@pytest.mark.parametrize(
    ("damage", "form"),
    [
        *((damage, form) for damage in (cut_original, swap_originals) for form in (None, "zst")),
        (cut_original, "plain"),
        (cut_current, None),
        (flip_current, None),
    ],
)
def test_what_an_old_generation_alone_holds_is_current_again(
    landed: Scene, damage: Callable[[Scene], None], form: str | None
) -> None:
    landed.dedupe()
    if form is not None:
        recompress(landed, form, "c2")
    damage(landed)
    before = whole_payloads(landed.archive.folder)
    held = current_payloads(landed)
    problems = drop(landed, mends=True)
    assert [problem for problem in problems if "a new generation has them" in str(problem)]
    assert whole_payloads(landed.archive.folder) == before
    assert current_payloads(landed) >= held
    time.sleep(0.002)
    assert drop(landed, mends=True) == []
    assert current_payloads(landed) == before
    assert not stored(landed, "c2/part-0.warc.gz").exists()
    # Nothing has to be looked at, but what was damaged.
    codes = {finding.code for finding in Fsck(landed.rows, landed.archive, Actor()).findings()}
    assert codes <= {"size", "checksum", "file-missing"}, codes


def test_the_sum_says_what_was_mended(landed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    """It said "0 revisits in 0 files", as if nothing had been done."""
    landed.dedupe()
    flip_current(landed)
    store = ("--store", str(landed.folder / "store"), "--collection", COLLECTION)
    words = ["dedupe", "--all", *store, "--drop-old", "--grace", "0"]
    assert main([*words, "--json"]) == 3
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (report["files_mended"], report["records_mended"]) == (1, 1)
    cut_original(landed)
    assert main(words) == 3
    assert "1 file mended: 4 records taken from old generations" in capsys.readouterr().out


def test_mended_revisits_are_full_and_pinned(landed: Scene) -> None:
    landed.dedupe()
    cut_original(landed)
    drop(landed, mends=True)
    name = "c2/g3/part-0.warc.gz"
    rows = [row for row in iter_sidecar(landed.archive, name) if row.copy_number == 1]
    assert rows
    captures = get_captures(landed.rows, [row.row_key for row in rows if row.row_key])
    assert all(capture.pinned and not capture.is_duplicate for capture in captures.values())


@pytest.mark.slow
def test_killed_while_it_mends(landed_folder: Path, tmp_path: Path) -> None:
    """At each step; the same again goes on."""
    with copied_scene(landed_folder, tmp_path / "made") as scene:
        scene.dedupe()
        cut_original(scene)
        before = whole_payloads(scene.archive.folder)

    def mend(scene: Scene, at: At) -> None:
        entries = scan_entries(scene.rows)
        list(drop_each(lambda some: scene.drop(0, some, mends=True, at=at), entries))

    for _, folder, _ in deaths(tmp_path, in_scene(mend), made=tmp_path / "made", more_than=5):
        with make_scene(folder, ()) as scene:
            assert whole_payloads(scene.archive.folder) == before
            drop(scene, mends=True)
            time.sleep(0.002)
            assert drop(scene, mends=True) == []
            assert current_payloads(scene) == before
