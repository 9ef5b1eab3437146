"""A revisit of somebody else's lands after its target was deduplicated."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from agreement import check_references, references
from killing import KILLED, in_child, kill_at
from scenes import Scene, copied_scene, land_late_revisit, make_scene, page, write_late_crawl

from pinakes.warc.record import Record

pytestmark = pytest.mark.slow


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
        pytest.param(
            {"WARC-Refers-To": "<urn:uuid:00000000-0000-4000-8000-000000002001>"}, id="by-id"
        ),
    ],
)
@pytest.mark.parametrize("layout", ["gzip", "packed dictionary"])
def test_target_becomes_full_again(tmp_path: Path, fields: dict[str, str], layout: str) -> None:
    with make_scene(tmp_path, layout=layout) as scene:
        _lands_after_its_target(scene, fields)


def _lands_after_its_target(scene: Scene, fields: dict[str, str]) -> None:
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


# leased; rewritten, checked, sidecar published, published, locations, marked, moved; of the run
# itself: noted as decided on, decided, pinned, reported; lease released.
STEPS = 13


@pytest.fixture(scope="module")
def late_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed scene with the late revisit in the store, to be copied."""
    folder = tmp_path_factory.mktemp("late")
    with make_scene(folder) as scene:
        land_late_revisit(scene)
    return folder


@pytest.fixture
def late(late_folder: Path, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(late_folder, tmp_path) as scene:
        yield scene


@pytest.fixture(scope="module")
def undisturbed(late_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with copied_scene(late_folder, folder) as scene:
        scene.dedupe(act="dedupe-b")
        return scene.state()


@pytest.mark.parametrize("step", range(STEPS))
def test_killed_and_run_again(late: Scene, undisturbed: dict[str, object], step: int) -> None:
    assert in_child(lambda: late.dedupe(act="dedupe-b", at=kill_at(step))) == KILLED
    late.dedupe()
    assert late.state() == undisturbed


def test_every_step_was_killed_at(late: Scene) -> None:
    assert in_child(lambda: late.dedupe(act="dedupe-b", at=kill_at(STEPS))) == 0


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
    from pinakes.warc.opening import open_source
    from pinakes.warc.reader import read_record

    land_late_revisit(scene)
    scene.dedupe(act="dedupe-b")
    with open_source(scene.archive.path_of("c2/g3/part-1.warc.gz")) as source:
        found = [item for item in _records(source) if item.target_uri == "http://example.org/1"]
        assert [b"".join(item.payload()) for item in found] == [page(1)]
        assert read_record(source, found[0].offset) is not None


def _records(source: object) -> list[Record]:
    from pinakes.warc.reader import iter_records

    return [item for item in iter_records(source) if isinstance(item, Record)]  # type: ignore[arg-type]
