"""Whatever is lost while it is written is written again, to the same bytes, and counted once."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from losing_archive import LosingArchive
from scenes import BY_ID, Scene, make_scene, write_late_crawl

from pinakes.acts.actor import Actor
from pinakes.archive_store.anew import publish_copy
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, WritingLost
from pinakes.backup.contents import FileLine, store_file, write_text
from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.run.run_report import DedupeReport
from pinakes.ingest.fsck.check import Fsck

CONTENT = b"0123456789" * 300_000


@pytest.fixture(params=[False, True], ids=["first-write", "last"])
def at_end(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def losing(tmp_path: Path, at_end: bool) -> LosingArchive:
    return LosingArchive(tmp_path, at_end=at_end)


def deduplicated(scene: Scene, archive: LocalArchiveStore) -> tuple[DedupeReport, DedupeReport]:
    """A run, a crawler's revisit that lands behind it, and a run that restores its target."""
    plain = scene.archive
    scene.archive = archive
    first = scene.dedupe()
    scene.archive = plain
    write_late_crawl(scene, BY_ID)
    scene.land(5)
    scene.archive = archive
    return first, scene.dedupe(act="dedupe-b")


def test_dedupe(landed: Scene, at_end: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    losing = LosingArchive(landed.archive.folder, at_end=at_end)
    reports = deduplicated(landed, losing)
    assert len(losing.lost) > 4
    with make_scene(tmp_path_factory.mktemp("undisturbed")) as undisturbed:
        undisturbed.land(1)
        undisturbed.land(2)
        expected = deduplicated(undisturbed, undisturbed.archive)
        assert landed.state() == undisturbed.state()
    assert [(r.files, r.refs, r.targets_restored, r.problems) for r in reports] == [
        (r.files, r.refs, r.targets_restored, r.problems) for r in expected
    ]
    assert list(losing.list(ASIDE)) == []


def test_a_file_is_published_whole(losing: LosingArchive) -> None:
    content = io.BytesIO(CONTENT)
    content.seek(7)  # whatever was done with it before
    publish_copy(losing, content, "a/b", token="t")
    assert losing.lost == ["t"]
    assert losing.checksum("a/b") == hashlib.sha256(CONTENT).hexdigest()
    assert list(losing.list(ASIDE)) == []


def test_a_file_of_a_backup(losing: LosingArchive) -> None:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    line = store_file(io.BytesIO(CONTENT), losing, "archive/b", token="t")
    assert line == FileLine("archive/b", len(CONTENT), sha256)
    assert losing.checksum("archive/b") == sha256
    for text in ("old", "new"):
        losing.lost.clear()
        write_text(losing, "begun.json", text, token="u")
        assert losing.lost == ["u"]
        assert (losing.folder / "begun.json").read_text() == text


def test_when_retries_end_the_error_names_the_file(tmp_path: Path, at_end: bool) -> None:
    store = LosingArchive(tmp_path, at_end=at_end, retry_s=0.0)
    with pytest.raises(WritingLost, match=r"^a/b: a data node went$"):
        publish_copy(store, io.BytesIO(CONTENT), "a/b", token="t")
    with pytest.raises(WritingLost, match=r"^hdfs://here/list/1: a data node went$"):
        publish_copy(store, io.BytesIO(b"1"), "1", token="l", place="hdfs://here/list/1")
    assert list(store.list()) == list(store.list(ASIDE)) == []


def test_sidecars_that_fsck_makes_anew(landed: Scene, at_end: bool) -> None:
    losing = LosingArchive(landed.archive.folder, at_end=at_end)
    name = sidecar_name("c1/part-0.warc.gz")
    before = losing.checksum(name)
    LocalArchiveStore(landed.archive.folder).delete(name)
    (finding,) = Fsck(landed.rows, losing, Actor()).findings()
    assert finding.mend is not None
    finding.mend()
    assert len(losing.lost) == 1
    assert losing.checksum(name) == before
    assert list(Fsck(landed.rows, losing, Actor(), full=True).findings()) == []
