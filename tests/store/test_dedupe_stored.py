"""`dedupe` over a store: what it leaves."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from pathlib import Path

import pytest
from agreement import check_references, references
from archive_builders import records_of
from judge import content
from scenes import (
    BY_ID,
    COLLECTION,
    Scene,
    copied_scene,
    land_late_revisit,
    make_scene,
    page,
    write_late_crawl,
)

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import read_sidecar, sidecar_name, write_sidecar
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.write.restore import RestoreCount, restorations, want_originals
from pinakes.dedupe.write.rewriting import rewrite_to
from pinakes.hbase_schema.capture_cells import DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record

pytestmark = pytest.mark.slow


def test_duplicates_of_the_scene_are_found(landed: Scene) -> None:
    # Of 12 pages every third is another one in the second crawl.
    report = landed.dedupe()
    assert (report.refs.records, report.files) == (8, 2)
    assert not report.problems


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
    assert not Collection(landed.rows, landed.archive, "other").entries
    assert len(Collection(landed.rows, landed.archive, COLLECTION).entries) == 4


# --- A revisit of somebody else's lands after its target was deduplicated


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {
                "WARC-Refers-To-Target-URI": "http://example.org/1",
                "WARC-Refers-To-Date": "2022-01-01T00:00:01Z",
            },
            id="by-uri-and-date",
        ),
        pytest.param(BY_ID, id="by-id"),
    ],
)
@pytest.mark.parametrize("layout", ["gzip", "packed dictionary"])
def test_target_becomes_full_again(tmp_path: Path, fields: dict[str, str], layout: str) -> None:
    with make_scene(tmp_path, layout=layout) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        assert check_references(scene) == 8
        write_late_crawl(scene, fields)
        scene.land(5)
        report = scene.dedupe(act="dedupe-b")
        assert (report.targets_restored, report.refs.records) == (1, 0)
        full, revisits = references(scene)
        assert ("http://example.org/1", "20220101000001") in full
        # Seven of ours are left, and the crawler's own.
        assert len(revisits) == 8
        for found in revisits:
            assert isinstance(found, Record)
        again = scene.dedupe(act="dedupe-c")
        assert (again.targets_restored, again.refs.records) == (0, 0)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {
                "WARC-Refers-To-Target-URI": "https://www.example.org/1",
                "WARC-Refers-To-Date": "2022-01-01T00:00:01Z",
            },
            id="another-spelling",
        ),
        pytest.param({}, id="by-digest-alone"),
    ],
)
def test_target_is_found_in_every_way(scene: Scene, fields: dict[str, str]) -> None:
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    digest = base64.b32encode(hashlib.sha1(page(1)).digest()).decode()
    write_late_crawl(scene, {"WARC-Payload-Digest": f"sha1:{digest}", **fields})
    scene.land(5)
    assert scene.dedupe(act="dedupe-b").targets_restored == 1


def test_store_without_decided_runs(scene: Scene) -> None:
    land_late_revisit(scene)
    with sqlite3.connect(scene.folder / "store" / "rows.sqlite") as connection:
        deleted = connection.execute("DELETE FROM files WHERE col = ?", (b"f:decided",))
        assert deleted.rowcount == 4
    connection.close()
    assert scene.dedupe(act="dedupe-b").targets_restored == 1


def test_the_restored_record_is_the_one_that_landed(scene: Scene) -> None:
    land_late_revisit(scene)
    scene.dedupe(act="dedupe-b")
    with open_source(scene.archive.path_of("c2/g3/part-1.warc.gz")) as source:
        records = [item for item in iter_records(source) if isinstance(item, Record)]
        found = [record for record in records if record.target_uri == "http://example.org/1"]
        assert [b"".join(record.payload()) for record in found] == [page(1)]
        assert read_record(source, found[0].offset) is not None
