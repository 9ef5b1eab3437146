"""Take-down in a store: bytes gone, everything else as it was, references provided for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from backup_scenes import back_up, opened, restore
from fsck_here import fsck_lines
from killing import deaths
from landed_stores import page as record_of
from purged import body, capture, date, given, land, revisit_of
from scenes import Scene, copied_scene, in_scene, make_scene, page
from taken_down import (
    bodies,
    current,
    holds_anywhere,
    key_of,
    land_site,
    outcome,
    record_id,
    records_by_id,
    request,
    sha256_of,
    uri,
    withdraw,
    write_parts,
)
from whole_payloads import whole_payloads

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import get_captures
from pinakes.catalog.sidecar import sidecar_name
from pinakes.deletion.requests import WITHDRAW
from pinakes.deletion.withdrawing import Withdrawer


@pytest.mark.parametrize("layout", ["gzip", "frames", "packed dictionary"])
def test_a_digest_is_nowhere_below_the_store(site: Scene) -> None:
    before = {crawl: records_by_id(current(site, crawl)) for crawl in (1, 2, 3)}
    [report] = withdraw(site, sha256_of(page(0)))
    assert not report.problems
    assert (len(report.captures), report.records, len(report.files)) == (3, 9, 3)
    store = site.folder / "store"
    assert not holds_anywhere(store / "archive", page(0)[-200:])
    for crawl in (1, 2, 3):
        assert not holds_anywhere(store, f"secret-{crawl}-0".encode())
        after = records_by_id(current(site, crawl))
        gone = {record_id(crawl, 0, kind).encode() for kind in (0, 1, 2)}
        assert list(after) == list(before[crawl])
        assert {name for name in after if after[name] != before[crawl][name]} == gone
        assert all(b"\r\nPinakes-Withdrawn: " in after[name] for name in gone)
    assert bodies(site, 0) == []
    assert bodies(site, 1) == [page(1)] * 3


@pytest.mark.parametrize("layout", ["gzip", "packed dictionary"])
def test_an_originals_earliest_reference_becomes_full(site: Scene) -> None:
    first, second, third = (key_of(site, 0, crawl) for crawl in (1, 2, 3))
    [report] = withdraw(site, first)
    assert not report.problems
    assert (report.captures, report.promoted, report.repointed) == ([first], [second], [third])
    assert holds_anywhere(site.folder / "store", b"secret-1-0") == []
    assert len(holds_anywhere(site.folder / "store", b"secret-2-0")) > 0
    assert bodies(site, 0) == [page(0)] * 2
    assert bodies(site, 1) == [page(1)] * 3
    now = get_captures(site.rows, [second.encode(), third.encode()])
    mark = now[third.encode()].dedupe
    assert mark is not None
    assert mark.refers_to_key == second
    assert now[second.encode()].pinned
    assert not now[second.encode()].is_duplicate
    full = records_by_id(current(site, 2))[record_id(2, 0).encode()]
    [landed] = (site.crawls / "c2").iterdir()
    assert full == records_by_id(landed)[record_id(2, 0).encode()]
    revisit = records_by_id(current(site, 3))[record_id(3, 0).encode()]
    assert b"\r\nWARC-Refers-To-Date: 2022-01-01T00:00:00Z\r\n" in revisit


def test_references_are_withdrawn_where_that_was_asked(site: Scene) -> None:
    [report] = withdraw(site, key_of(site, 0, 1), references=WITHDRAW)
    assert len(report.captures) == 3
    assert not holds_anywhere(site.folder / "store" / "archive", page(0)[-200:])


def test_dedupe_goes_on_afterwards(site: Scene) -> None:
    withdraw(site, key_of(site, 0, 1))
    report = site.dedupe(act="dedupe-b")
    assert not report.problems
    assert bodies(site, 0) == [page(0)] * 2


def test_parts_in_other_files_of_the_crawl_go_as_well(scene: Scene) -> None:
    write_parts(scene.crawls / "c1", 1)
    land_site(scene, 1)
    work = Withdrawer(scene.rows, scene.archive, Actor(), software="tests")
    [plan] = work.plan(request(uri(0)))
    [report] = withdraw(scene, uri(0))
    assert (plan.files, plan.generations) == (report.files, report.generations)
    assert report.files == ["c1/site.warc.gz", "c1/texts.warc.gz"]
    assert report.records == 6
    assert not holds_anywhere(scene.folder / "store" / "archive", b"words-1-0")
    assert len(holds_anywhere(scene.folder / "store" / "archive", b"words-1-1")) == 1
    [again] = withdraw(scene, uri(0))
    assert (again.files, again.generations, again.records) == ([], [], 0)


def test_texts_and_metadata_of_common_crawl_go_with_their_page(
    tmp_path: Path, shared_data: Path
) -> None:
    folder = shared_data / "archives" / "commoncrawl_whirlwind-python"
    with make_scene(tmp_path, ()) as scene:
        shutil.copytree(folder, scene.crawls / "c1")
        scene.land(1)
        archive = scene.folder / "store" / "archive"
        assert len(holds_anywhere(archive, b"Guadalachara")) == 4
        assert len(holds_anywhere(archive, b"WARC-Header-Metadata")) == 2
        [report] = withdraw(scene, "https://an.wikipedia.org/wiki/Escopete")
        assert (len(report.files), report.records) == (6, 10)
        assert not holds_anywhere(archive, b"Guadalachara")
        assert not holds_anywhere(archive, b"WARC-Header-Metadata")


def test_parts_that_an_act_has_left_go_with_the_next(scene: Scene) -> None:
    land_site(scene, 1)
    withdraw(scene, uri(0))
    write_parts(scene.crawls / "c1", 1)
    (scene.crawls / "c1" / "site.warc.gz").unlink()
    scene.land(1)
    [report] = withdraw(scene, uri(0))
    assert (report.files, report.records) == (["c1/texts.warc.gz"], 3)
    assert not holds_anywhere(scene.folder / "store" / "archive", b"words-1-0")


def test_revisits_of_a_record_that_stays_stay(tmp_path: Path) -> None:
    """The body that goes has, without its chunks, the bytes of the record that they refer to."""
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body(2)), body(2))
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, record_of(uri(1), chunked, date=date(1), head=head))
        land(scene, 2, capture(2, 2))
        land(scene, 3, revisit_of(3, 3, (2, 2)))
        before = given(scene)
        [report] = withdraw(scene, sha256_of(chunked))
        assert not report.problems
        assert [key.partition(" ")[0] for key in report.captures] == ["org,example)/1"]
        kept = [f"urn:uuid:00000000-0000-4000-8000-{n:012d}".encode() for n in (2002, 3003)]
        assert [given(scene)[name] for name in kept] == [before[name] for name in kept]
        [report] = withdraw(scene, sha256_of(body(2)))
        assert len(report.captures) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "layout", ["gzip", pytest.param("packed dictionary", marks=pytest.mark.large)]
)
@pytest.mark.parametrize("what", [pytest.param("original", marks=pytest.mark.large), "digest"])
def test_killed_at_any_step_and_run_again(tmp_path: Path, what: str, layout: str) -> None:
    with make_scene(tmp_path / "made", (), layout=layout) as scene:
        write_parts(scene.crawls / "c1", 1, layout)
        land_site(scene, 1, 2, 3)
        asked = key_of(scene, 0, 1) if what == "original" else sha256_of(page(0))
    with copied_scene(tmp_path / "made", tmp_path / "whole") as scene:
        withdraw(scene, asked)
        whole = outcome(scene)
    work = in_scene(lambda scene, at: withdraw(scene, asked, at=at))
    for step, folder, _ in deaths(tmp_path, work, made=tmp_path / "made", more_than=20):
        with make_scene(folder, ()) as scene:
            assert not any(report.problems for report in withdraw(scene, asked))
            assert outcome(scene) == whole, step
            assert not holds_anywhere(folder / "store" / "archive", b"words-1-0")


# --- A store is restored as a take-down has left it


@pytest.mark.parametrize("what", ["original", "digest"])
def test_nothing_has_to_be_settled(site: Scene, tmp_path: Path, what: str) -> None:
    withdraw(site, key_of(site, 0, 1) if what == "original" else sha256_of(page(0)))
    before = outcome(site)
    back_up(site, tmp_path / "backup")
    done = restore(tmp_path / "backup", tmp_path / "again")
    assert (done.settled, done.problems, done.left_out) == ([], [], [])
    with opened(tmp_path / "again") as restored:
        assert outcome(restored) == before
        assert fsck_lines(restored) == []
        assert not holds_anywhere(tmp_path / "again" / "store" / "archive", b"secret-1-0")


# --- Nothing is taken down on the word of a sidecar that is not the one of its file


LANDED, REVISITS = "c2/site.warc.gz", "c2/g2/site.warc.gz"


def put_back_the_landed_one(scene: Scene) -> None:
    """It has no revisit where the file has three."""
    shutil.copy(*(scene.archive.path_of(sidecar_name(name)) for name in (LANDED, REVISITS)))


def lose_it(scene: Scene) -> None:
    scene.archive.path_of(sidecar_name(REVISITS)).unlink()


@pytest.mark.parametrize("rot", [put_back_the_landed_one, lose_it])
def test_what_refers_to_the_record_is_not_known(rot: Callable[[Scene], None], scene: Scene) -> None:
    land_site(scene, 1, 2)
    rot(scene)
    before, state = whole_payloads(scene.archive.folder), scene.state()
    [report] = withdraw(scene, key_of(scene, 0, 1))
    [problem] = report.problems
    assert problem.file == REVISITS
    assert "what it refers to is not known for sure" in problem.message
    assert whole_payloads(scene.archive.folder) == before
    assert scene.state() == state
    assert report.captures == []
