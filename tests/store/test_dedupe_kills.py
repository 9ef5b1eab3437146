"""`dedupe` over a store: what it leaves, and that it may die anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_builders import records_of
from judge import content
from killing import KILLED, in_child, kill_at
from scenes import COLLECTION, Scene, copied_scene

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import read_sidecar, sidecar_name, write_sidecar
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.write.restore import RestoreCount, restorations, want_originals
from pinakes.dedupe.write.rewriting import rewrite_to
from pinakes.hbase_schema.capture_cells import DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record

# leased; noted as decided on, decided, pinned; for each of two files: rewritten, checked, sidecar
# published, published, locations, marked, moved; reported; lease released.
STEPS = 20

pytestmark = pytest.mark.slow


def test_duplicates_of_the_scene_are_found(landed: Scene) -> None:
    # Of 12 pages every third is another one in the second crawl.
    report = landed.dedupe()
    assert (report.refs.records, report.files) == (8, 2)
    assert not report.problems


IN_FRAMES = ("landed_in_frames", "undisturbed_in_frames")


@pytest.mark.parametrize(
    "fixtures", [("landed_folder", "undisturbed"), IN_FRAMES], ids=["gzip", "zstd"]
)
@pytest.mark.parametrize("step", range(STEPS))
def test_killed_and_run_again(
    fixtures: tuple[str, str], step: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder, whole = map(request.getfixturevalue, fixtures)
    with copied_scene(folder, tmp_path) as landed:
        assert in_child(lambda: landed.dedupe(at=kill_at(step))) == KILLED
        landed.dedupe()
        assert landed.state() == whole


def test_a_store_in_frames_is_deduplicated_as_one_in_gzip(
    landed_in_frames: Path, landed: Scene, tmp_path: Path
) -> None:
    """The same records become revisits, and frames that stay are those that landed."""
    with copied_scene(landed_in_frames, tmp_path / "zstd") as framed:
        reports = [scene.dedupe() for scene in (landed, framed)]
        assert {(r.refs.records, r.files, len(r.problems)) for r in reports} == {(8, 2, 0)}
        for part in (0, 1):
            sides = []
            for scene, ending in ((landed, "gz"), (framed, "zst")):
                path = scene.archive.path_of(f"c2/g2/part-{part}.warc.{ending}")
                sides.append(content(path.read_bytes()))
            assert sides[0] == sides[1]
        old = (framed.crawls / "c2" / "part-0.warc.zst").read_bytes()
        new = framed.archive.path_of("c2/g2/part-0.warc.zst").read_bytes()
        kept = 0
        for was, now in zip(records_of(old), records_of(new), strict=True):
            if was.header.raw == now.header.raw:
                kept += 1
                end = now.offset + now.length
                assert old[was.offset : was.offset + was.length] == new[now.offset : end]
        assert kept == len(records_of(old)) - 4
        assert new.startswith(old[: records_of(old)[0].offset])


def test_every_step_was_killed_at(landed: Scene) -> None:
    assert in_child(lambda: landed.dedupe(at=kill_at(STEPS))) == 0


def test_run_twice_is_run_once(landed: Scene, undisturbed: dict[str, object]) -> None:
    landed.dedupe()
    assert landed.dedupe(act="dedupe-b").refs.records == 0
    assert landed.state() == undisturbed


def test_one_crawl_after_the_other_is_all_together(
    scene: Scene, undisturbed: dict[str, object]
) -> None:
    scene.land(1)
    scene.dedupe(act="dedupe-b")
    scene.land(2)
    scene.dedupe()
    assert scene.state() == undisturbed


def test_locations_marks_and_pins(landed: Scene) -> None:
    landed.dedupe()
    for name in ("c2/part-0.warc.gz", "c2/part-1.warc.gz"):
        crawl, _, rest = name.partition("/")
        stored = f"{crawl}/g2/{rest}"
        rows = list(read_sidecar(str(landed.archive.path_of(sidecar_name(stored)))))
        with open_source(landed.archive.path_of(stored)) as source:
            for row in rows:
                if row.row_key is None:
                    continue
                found = landed.rows.get_rows("captures", [row.row_key])[row.row_key]
                where = decode_cell(Location, found.value(numbered_column(Location, 2)))  # type: ignore[arg-type]
                record = read_record(source, where.offset)
                assert isinstance(record, Record)
                assert record.record_id == row.record_id
                mark = found.value(DedupeMark.COLUMN)
                assert (mark is not None) == (record.type == "revisit")
                if mark is None:
                    continue
                key = (decode_cell(DedupeMark, mark).refers_to_key or "").encode()
                original = landed.rows.get_rows("captures", [key])[key]
                assert original.value(Pin.COLUMN) is not None
                assert original.value(DedupeMark.COLUMN) is None


def test_new_generation_restores_to_the_old(landed: Scene, tmp_path: Path) -> None:
    landed.dedupe()
    originals, count = Originals(), RestoreCount()
    stored = landed.archive.path_of("c2/g2/part-0.warc.gz")
    with open_source(stored) as source:
        want_originals(source, originals)
    with open_source(landed.archive.path_of("c1/part-0.warc.gz")) as source:
        originals.look_through(source)
    from pinakes.dedupe.archive_files import ArchiveFiles

    with ArchiveFiles() as files:
        rewrite_to(
            str(stored),
            tmp_path / "back.warc.gz",
            lambda source: restorations(source, originals, files, count),
        )
    assert count.restored == 4
    old, new = landed.crawls / "c2" / "part-0.warc.gz", tmp_path / "back.warc.gz"
    with open_source(old) as before, open_source(new) as after:
        for one, other in zip(iter_records(before), iter_records(after), strict=True):
            assert isinstance(one, Record)
            assert isinstance(other, Record)
            assert one.header.raw + b"".join(one.chunks()) == other.header.raw + b"".join(
                other.chunks()
            )


def test_a_sidecar_with_another_uri_keeps_its_file_as_it_is(landed: Scene) -> None:
    path = landed.archive.path_of(sidecar_name("c2/part-0.warc.gz"))
    *rows, last = read_sidecar(str(path))
    assert last.target_uri is not None
    with path.open("wb") as file:
        write_sidecar(file, [*rows, last._replace(target_uri=f"{last.target_uri}/other")])
    report = landed.dedupe()
    assert [problem.file for problem in report.problems] == ["c2/g2/part-0.warc.gz"]
    generations = {e.archive_file: e.generation for e in scan_entries(landed.rows)}
    assert [generations[f"c2/part-{part}.warc.gz"] for part in (0, 1)] == [1, 2]


def test_another_collection_is_left_alone(landed: Scene) -> None:
    from pinakes.dedupe.run.collection import Collection

    assert not Collection(landed.rows, landed.archive, "other").entries
    assert len(Collection(landed.rows, landed.archive, COLLECTION).entries) == 4
