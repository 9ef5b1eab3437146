"""Revisits of ours that landed as such: what they replaced comes back, judged by zlib alone."""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path

import pytest
from killing import deaths
from landed_revisits import (
    BY_CRAWLER,
    FORMS,
    OURS,
    deduplicate,
    found_by_fsck,
    land_all,
    land_file,
    records_now,
    records_of,
    restored_now,
)
from landed_stores import LandedStore, page
from purged import date, paths_now, purge, record_id
from raw_payloads import payloads
from scenes import Scene, copied_scene, in_scene, make_scene
from store_chain import call
from taken_down import members, withdraw
from warc_sets import FRAMED, member

from pinakes.catalog.captures import scan_captures_of
from pinakes.deletion.changed_rows import has_changed
from pinakes.deletion.requests import REFUSE
from pinakes.errors import DigestMismatch
from pinakes.index.urlkey import urlkey
from pinakes.warc.changed_revisit import filled_revisit
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record


@pytest.mark.parametrize("form", FORMS)
def test_what_a_purge_promotes_is_as_captured_and_the_rest_can_be_restored(
    form: str, tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS[form])
    land_all(scene, made)
    report = purge(scene, 1)
    assert not report.problems
    assert [len(report.promoted), len(report.filled), len(report.repointed)] == [3, 0, 3]
    now = records_now(scene)
    assert not any(BY_CRAWLER in record for record in now.values())
    full = {name for name, record in now.items() if OURS not in record}
    assert full == {record_id(2, number).encode() for number in (1, 2, 3)}
    assert {name: now[name] for name in full} == {name: made.captured[name] for name in full}
    captured = {name: made.captured[name] for name in now}
    assert len(captured) == 6
    assert restored_now(scene, tmp_path) == captured
    assert not found_by_fsck(scene)
    checked = call("validate", "--refs", *paths_now(scene))
    assert checked.exit_code == 0, checked


@pytest.mark.parametrize("order", [(3, 2, 1), (2, 1, 3)])
def test_it_makes_no_difference_what_lands_first(
    order: tuple[int, ...], tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS["block digest"])
    land_all(scene, made, order)
    assert not purge(scene, 1).problems
    assert not purge(scene, 2).problems
    now = records_now(scene)
    assert now == {name: made.captured[name] for name in now}
    assert len(now) == 3


def test_a_purge_refuses_while_they_refer_to_the_crawl(tmp_path: Path, scene: Scene) -> None:
    land_all(scene, deduplicate(tmp_path / "files", FORMS["as most crawlers write"]))
    before = records_now(scene)
    assert len(purge(scene, 1, REFUSE).references) == 6
    assert records_now(scene) == before


def test_another_dedupe_leaves_them_and_their_originals(tmp_path: Path, scene: Scene) -> None:
    land_all(scene, deduplicate(tmp_path / "files", FORMS["as most crawlers write"]))
    before = records_now(scene)
    scene.dedupe()
    assert records_now(scene) == before
    assert not found_by_fsck(scene)
    assert not purge(scene, 1).problems


def _forge(record: bytes, pattern: bytes, new: bytes) -> bytes:
    found = re.search(pattern, record)
    assert found is not None
    return record[: found.start()] + new + record[found.end() :]


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        pytest.param(rb"crc32=[0-9a-f]{8}", b"crc32=00000000", id="another checksum"),
        pytest.param(rb"2=WARC-Type:%20response", b"2=WARC-Type:%20revisit%20", id="no full type"),
        pytest.param(
            rb"2=WARC-Type:%20response", b"4=WARC-Date:%201999-01-01T00", id="another date"
        ),
        pytest.param(rb"added=6", b"added=5", id="a line too few"),
        pytest.param(rb"added=6", b"added=9", id="lines too many"),
        pytest.param(rb"version=1", b"version=7", id="another version"),
    ],
)
def test_a_field_that_does_not_fit_is_taken_for_a_crawlers(
    pattern: bytes, new: bytes, tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS["not compressed"])
    forged = record_id(2, 1).encode()
    kept = records_of(made.paths[2])
    kept[forged] = _forge(kept[forged], pattern, new)
    made.paths[2].write_bytes(b"".join(kept.values()))
    land_all(scene, made)
    assert not purge(scene, 1).problems
    now = records_now(scene)
    assert BY_CRAWLER in now[forged]
    assert now[forged].partition(b"\r\n\r\n")[2] == made.captured[forged].partition(b"\r\n\r\n")[2]
    others = {name: record for name, record in now.items() if OURS not in record}
    assert others == {name: made.captured[name] for name in others}


def test_those_that_an_older_version_re_pointed_are_restored(tmp_path: Path) -> None:
    """Older versions changed them like a crawler's: the field of ours is no longer the last."""
    made = deduplicate(tmp_path / "files", FORMS["not compressed"])
    changed = record_id(3, 1).encode()
    kept = records_of(made.paths[3])
    kept[changed] = _as_changed_before(kept[changed])
    made.paths[3].write_bytes(b"".join(kept.values()))
    done = call("restore", made.paths[3], "-o", tmp_path / "restored", "--dir", tmp_path / "files")
    assert done.exit_code == 0, done
    assert records_of(tmp_path / "restored" / "3.warc") == {
        name: made.captured[name] for name in kept
    }


def _as_changed_before(record: bytes) -> bytes:
    """Re-pointed at the same page of the second crawl, by hand."""
    head, _, block = record.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    named = {
        b"WARC-Refers-To": record_id(2, 1).encode(),
        b"WARC-Refers-To-Date": b"2012-01-01T00:00:01Z",
    }
    parts = [b"version=1; act=purge-a; crc32=%08x; added=1" % zlib.crc32(record)]
    for at, line in enumerate(lines):
        name = line.partition(b":")[0]
        if name in named:
            parts.append(b"%d=%b" % (at + 1, line.replace(b" ", b"%20")))
            lines[at] = name + b": " + named[name]
    lines.append(b"Pinakes-Revisit: " + b"; ".join(parts))
    return b"\r\n".join(lines) + b"\r\n\r\n" + block


def test_those_that_an_older_version_made_full_are_restored(tmp_path: Path) -> None:
    made = deduplicate(tmp_path / "files", FORMS["not compressed"])
    with open_source(made.paths[1]) as originals, open_source(made.paths[3]) as revisits:
        body, revisit = (next(iter(iter_records(one))) for one in (originals, revisits))
        assert isinstance(body, Record)
        assert isinstance(revisit, Record)
        filled = b"".join(map(bytes, filled_revisit(revisit, body, act="purge-a")))
    kept = records_of(made.paths[3])
    assert OURS in filled
    path = tmp_path / "filled.warc"
    path.write_bytes(b"".join([filled, b"\r\n\r\n", *list(kept.values())[1:]]))
    done = call("restore", path, "-o", tmp_path / "out", "--dir", tmp_path / "files")
    assert done.exit_code == 0, done
    back = records_of(tmp_path / "out" / "filled.warc")
    assert back == {name: made.captured[name] for name in kept}


def test_they_are_restored_once_their_originals_come(tmp_path: Path, scene: Scene) -> None:
    made = deduplicate(tmp_path / "files", FORMS["block digest"])
    for crawl in (2, 3):
        land_file(scene, crawl, made.paths[crawl])
    assert not found_by_fsck(scene)
    land_file(scene, 1, made.paths[1])
    assert restored_now(scene, tmp_path) == made.captured


# --- A take-down of what landed revisits of ours refer to: judged by zlib alone


def _first(scene: Scene, number: int) -> str:
    """The first crawl's capture of a page."""
    found = scan_captures_of(scene.rows, urlkey(f"http://example.org/{number}"))
    return next(one for one in found if one.facts.date == date(1, number)).key.decode()


def _id(crawl: int, number: int) -> bytes:
    return record_id(crawl, number).encode()


@pytest.mark.parametrize("form", FORMS)
def test_the_earliest_reference_is_as_captured_and_the_others_can_be_restored(
    form: str, tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS[form])
    land_all(scene, made)
    [report] = withdraw(scene, _first(scene, 1))
    assert report.is_complete, report
    assert len(report.promoted) == len(report.repointed) == 1
    now = records_now(scene)
    assert not any(BY_CRAWLER in record for record in now.values())
    assert b"Pinakes-Withdrawn" in now.pop(_id(1, 1))
    full = {name for name, record in now.items() if OURS not in record}
    assert full == {_id(1, 2), _id(1, 3), _id(2, 1)}
    assert not found_by_fsck(scene)
    captured = {name: made.captured[name] for name in now}
    restored = restored_now(scene, tmp_path)
    del restored[_id(1, 1)]
    assert restored == captured


def test_with_a_field_that_does_not_fit_it_is_refused(tmp_path: Path, scene: Scene) -> None:
    made = deduplicate(tmp_path / "files", FORMS["not compressed"])
    kept = records_of(made.paths[3])
    at = kept[_id(3, 1)].index(b"crc32=") + 6
    kept[_id(3, 1)] = kept[_id(3, 1)][:at] + b"00000000" + kept[_id(3, 1)][at + 8 :]
    made.paths[3].write_bytes(b"".join(kept.values()))
    land_all(scene, made)
    before = records_now(scene)
    [report] = withdraw(scene, _first(scene, 1))
    assert len(report.unprovided) == 1
    assert records_now(scene) == before


def _outcome(scene: Scene) -> dict[bytes, bytes]:
    return {
        name: b"withdrawn" if b"Pinakes-Withdrawn" in record else _without_run(record)
        for name, record in records_now(scene).items()
    }


def _without_run(record: bytes) -> bytes:
    before, run, behind = record.partition(b"; run=")
    return before + run + behind.partition(b"; ")[2]


def test_killed_at_any_step_and_run_again(tmp_path: Path) -> None:
    with make_scene(tmp_path / "made", crawls=()) as scene:
        land_all(scene, deduplicate(tmp_path / "files", FORMS["as most crawlers write"]))
        asked = _first(scene, 1)
    with copied_scene(tmp_path / "made", tmp_path / "whole") as scene:
        withdraw(scene, asked)
        whole, files = _outcome(scene), sorted(file.name for file in scene.archive.list())
    work = in_scene(lambda scene, at: withdraw(scene, asked, at=at))
    for step, folder, _ in deaths(tmp_path, work, made=tmp_path / "made", stride=2, more_than=20):
        with make_scene(folder, ()) as scene:
            assert not any(report.problems for report in withdraw(scene, asked))
            assert _outcome(scene) == whole, step
            assert sorted(file.name for file in scene.archive.list()) == files
            assert not found_by_fsck(scene), step


def test_an_export_that_needs_no_other_crawl_has_them_as_captured(
    tmp_path: Path, scene: Scene
) -> None:
    made = deduplicate(tmp_path / "files", FORMS["block digest"])
    land_all(scene, made)
    wacz = tmp_path / "c2.wacz"
    store = scene.folder / "store"
    done = call("export-wacz", "c2", "-o", wacz, "--standalone", "--store", store)
    assert done.exit_code == 0, done
    shutil.unpack_archive(wacz, tmp_path / "out", "zip")
    [path] = (tmp_path / "out" / "archive").iterdir()
    assert records_of(path) == {_id(2, n): made.captured[_id(2, n)] for n in (1, 2, 3)}


# --- Revisits as a real crawler wrote them: their originals go with their crawl, and no page do


@pytest.mark.parametrize("layout", ["gzip", "packed dictionary", "one frame"])
def test_pages_of_pywb_outlive_the_crawl_of_their_originals(
    layout: str, tmp_path: Path, shared_data: Path
) -> None:
    given = shared_data / "archives/webrecorder_py-wacz/tests/fixtures/example-iana.warc"
    parts: dict[bool, list[bytes]] = {True: [], False: []}
    for raw in members(given.read_bytes()):
        parts[b"\r\nWARC-Type: revisit\r\n" in raw].append(raw)
    assert len(parts[True]) == 34
    with make_scene(tmp_path, ()) as scene:
        for crawl, is_revisit in ((1, False), (2, True)):
            folder = scene.crawls / f"c{crawl}"
            folder.mkdir(parents=True)
            # An index has a line for each original: those lie alone.
            framed = FRAMED.get(layout if is_revisit else "frames")
            raws = parts[is_revisit]
            if layout == "gzip" or framed is None:
                (folder / "a.warc.gz").write_bytes(b"".join(map(member, raws)))
            else:
                (folder / "a.warc.zst").write_bytes(framed(raws))
            scene.land(crawl)
        before = payloads(paths_now(scene))
        report = purge(scene, 1)
        assert not report.problems
        assert len(report.filled) + len(report.repointed) == 34
        [path] = paths_now(scene)
        after = payloads([path])
        assert len(after) == 34
        assert after == {name: before[name] for name in after}
        assert None not in {digest for _, _, digest in after.values()}
    checked = call("validate", "--refs", path)
    assert checked.exit_code == 0, checked


def test_sidecars_of_different_files_are_not_compared(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    store.land("c1", "a.warc.gz", page("http://a.example/"))
    store.land("c1", "b.warc.gz", page("http://a.example/"), page("http://b.example/"))
    with pytest.raises(DigestMismatch, match="does not have the records of that of"):
        has_changed(store.archive, "c1/a.warc.gz", "c1/b.warc.gz")
    store.close()
