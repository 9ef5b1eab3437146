"""A WACZ file that needs no other: its revisits of other crawls are full records."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from exported import archives, described, export, given, indexed, members
from landed_stores import in_one_member
from purged import body, capture, land, purge, record_id, revisit_of, uri, write
from purged import given as given_by_store
from raw_payloads import raw_records
from scenes import Scene, make_scene
from store_chain import call
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import scan_entries
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, FORCE
from pinakes.errors import Conflict, DigestMismatch, PinakesError, UnresolvedReference
from pinakes.warc.changed_revisit import old_revisit
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """An empty store."""
    with make_scene(tmp_path, crawls=()) as made:
        yield made


NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"


def _by_dedupe(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), capture(2, 3), capture(2, 2))
    scene.dedupe()


def _within_the_crawl(scene: Scene) -> None:
    """One of its revisits refers to another crawl, one to the crawl itself."""
    land(scene, 1, capture(1, 1))
    land(scene, 2, capture(2, 1), capture(2, 4), capture(2, 5, 4))
    scene.dedupe()


def _by_a_crawler(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, revisit_of(2, 1, (1, 1)), capture(2, 3), revisit_of(2, 7, (1, 2)))
    scene.dedupe()


def _by_both(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), revisit_of(2, 2, (1, 2)), capture(2, 3))
    scene.dedupe()


def _of_its_own_revisit(scene: Scene) -> None:
    """A crawler's revisit of a record of its crawl that is a revisit of another crawl by now."""
    land(scene, 1, capture(1, 1))
    land(scene, 2, capture(2, 1))
    scene.dedupe()
    write(scene, 2, revisit_of(2, 9, (2, 1)), name="b.warc.gz")
    scene.land(2)


def _of_an_own_duplicate(scene: Scene) -> None:
    """A crawler's revisit of a record that is a revisit of its own crawl by now."""
    land(scene, 2, capture(2, 1), capture(2, 2, 1))
    scene.dedupe()
    write(scene, 2, revisit_of(2, 9, (2, 2), content=1), name="b.warc.gz")
    scene.land(2)


def _of_a_revisit_elsewhere(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 5, 1))
    scene.dedupe()
    land(scene, 2, revisit_of(2, 9, (1, 5), content=1))


def _landed_as_revisits_of_ours(scene: Scene) -> None:
    """A file that was deduplicated before it landed."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 3, capture(2, 1), capture(2, 2))
    scene.dedupe()
    [name] = [e.stored_name for e in scan_entries(scene.rows, "c3")]
    data = scene.archive.path_of(name).read_bytes()
    Remover(scene.rows, scene.archive, Actor()).take_out("c3", CANCEL)
    (scene.crawls / "c2").mkdir()
    (scene.crawls / "c2" / "a.warc.gz").write_bytes(data)
    scene.land(2)


def _by_id_and_digest(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2), capture(1, 3))
    land(scene, 2, revisit_of(2, 1, (1, 1), named="id"), revisit_of(2, 2, (1, 2), named="digest"))


def _not_modified(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, revisit_of(2, 1, (1, 1), head=NOT_MODIFIED), revisit_of(2, 2, (1, 2), head=b""))


class Case(NamedTuple):
    """A store, how many revisits of crawl 2 become full there, and which files it needs."""

    make: Callable[[Scene], None]
    restored: int
    requires: int


CASES = {
    "revisits by dedupe": Case(_by_dedupe, 2, 1),
    "one refers to the crawl itself": Case(_within_the_crawl, 1, 1),
    "revisits by a crawler": Case(_by_a_crawler, 2, 1),
    "by both in one file": Case(_by_both, 2, 1),
    "a crawler's of a revisit that becomes full": Case(_of_its_own_revisit, 1, 1),
    "a crawler's of a revisit that stays": Case(_of_an_own_duplicate, 1, 0),
    "a crawler's of a revisit elsewhere": Case(_of_a_revisit_elsewhere, 1, 1),
    "ours, as they landed": Case(_landed_as_revisits_of_ours, 2, 1),
    "by id, by digest": Case(_by_id_and_digest, 2, 1),
    "other heads than the original's": Case(_not_modified, 2, 1),
}


def payload_only(found: dict[bytes, tuple[bytes, bytes, str | None]]) -> object:
    return {name: what for name, what in found.items() if name in of_crawl_2(found)}


def of_crawl_2(found: dict[bytes, tuple[bytes, bytes, str | None]]) -> set[bytes]:
    return {name for name in found if re.search(rb"-0*2\d\d\d\Z", name)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_alone_it_gives_what_the_store_gives(case: Case, scene: Scene, tmp_path: Path) -> None:
    case.make(scene)
    wanted = payload_only(dict(given_by_store(scene)))
    assert wanted
    wacz = tmp_path / "c2.wacz"
    report = export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    assert (report.restored, report.requires) == (case.restored, [])
    assert report.size == wacz.stat().st_size
    with zipfile.ZipFile(wacz) as package:
        sizes = {one.filename: one.file_size for one in package.infolist()}
    assert report.archive_bytes == sum(sizes[n] for n in sizes if n.startswith("archive/"))
    assert "relation" not in described(members(wacz))
    found = given([wacz], tmp_path / "read")
    mended = {name for name, (_, _, digest) in wanted.items() if digest is None}  # type: ignore[attr-defined]
    assert {k: v for k, v in found.items() if k not in mended} == {
        k: v
        for k, v in wanted.items()
        if k not in mended  # type: ignore[attr-defined]
    }
    assert None not in [digest for _, _, digest in found.values()]
    validated = call("validate", "--refs", wacz)
    assert validated.exit_code == 0, validated
    assert len(indexed(wacz, tmp_path / "read")) == len(found)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_it_needs_is_named_otherwise(case: Case, scene: Scene, tmp_path: Path) -> None:
    case.make(scene)
    wacz = tmp_path / "c2.wacz"
    report = export(scene.rows, scene.archive, "c2", wacz)
    requires = described(members(wacz)).get("relation", {}).get("requires", [])
    assert (requires, len(requires), report.restored) == (report.requires, case.requires, 0)
    assert {one["crawlId"] for one in requires} <= {"c1"}
    stored = {path.name: path.read_bytes() for path in archives(wacz, tmp_path / "read")}
    current = scene.archive.folder / "c2"
    for name, data in stored.items():
        paths = [current / name, *current.glob(f"g*/{name}")]
        assert data == max(paths, key=str).read_bytes()


def test_what_becomes_full_gives_back_what_it_was(scene: Scene, tmp_path: Path) -> None:
    """Ours are as they landed, byte for byte; a crawler's carries the crawler's record."""
    _by_both(scene)
    wacz = tmp_path / "c2.wacz"
    export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    [path] = archives(wacz, tmp_path / "read")
    landed = scene.crawls / "c2/a.warc.gz"

    def records(at: Path) -> list[bytes]:
        with at.open("rb") as file:
            items = [i for i in iter_records(Source(file, name="x")) if isinstance(i, Record)]
            return [bytes(i.header.raw) + b"".join(map(bytes, i.chunks())) for i in items]

    before, after = records(landed), records(path)
    assert (before[0], before[2]) == (after[0], after[2])
    with path.open("rb") as file:
        changed = [i for i in iter_records(Source(file, name="x")) if isinstance(i, Record)][1]
        assert changed.type == "response"
        old = old_revisit(changed)
        assert old.header + old.block == before[1]


def test_one_that_refers_to_nothing_cannot_stand_alone(scene: Scene, tmp_path: Path) -> None:
    land(scene, 2, capture(2, 3), revisit_of(2, 1, (1, 1)), revisit_of(2, 2, (1, 2)))
    wacz = tmp_path / "c2.wacz"
    with pytest.raises(UnresolvedReference, match=r"2 revisits refer to nothing .*c2/a.warc.gz:"):
        export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    assert not wacz.exists()
    report = export(scene.rows, scene.archive, "c2", wacz)
    assert (report.unresolved, report.requires) == (2, [])
    said = call("export-wacz", "c2", "--standalone", "-o", tmp_path / "x", "--dry-run",
                "--store", scene.folder / "store")  # fmt: skip
    assert said.exit_code == 3, said


UNPROVEN = {
    "another digest": (
        [revisit_of(2, 1, (1, 1), digest=lambda _: f"md5:{'0' * 32}")],
        "nothing proves",
    ),
    "two bodies at its second": (
        [revisit_of(2, 3, (1, 3), head=NOT_MODIFIED, digest=lambda _: None)],
        "several records of unequal bodies",
    ),
    "the id of a record at another URL": (
        [revisit_of(2, 1, (2, 5), named="id", digest=lambda _: None), capture(2, 5)],
        "refer to nothing",
    ),
}


@pytest.mark.parametrize(("records", "why"), UNPROVEN.values(), ids=UNPROVEN)
def test_a_body_that_is_not_proven_is_not_written(
    scene: Scene, tmp_path: Path, records: list[bytes], why: str
) -> None:
    land(scene, 1, capture(1, 1), capture(1, 3), capture(1, 3, 4))
    land(scene, 2, *records)
    wacz = tmp_path / "c2.wacz"
    with pytest.raises(UnresolvedReference, match=why):
        export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    assert not wacz.exists()
    export(scene.rows, scene.archive, "c2", wacz)


def test_what_it_needs_may_be_gone_since(scene: Scene, tmp_path: Path) -> None:
    """Taken out by force between the survey and the writing."""
    _by_both(scene)

    def at(step: str) -> None:
        if step == "surveyed":
            purge(scene, 1, FORCE)

    wacz = tmp_path / "c2.wacz"
    with pytest.raises(UnresolvedReference, match=r"c2/.*a\.warc\.gz:.* refers to nothing"):
        export(scene.rows, scene.archive, "c2", wacz, standalone=True, at=at)
    assert not wacz.exists()


@pytest.mark.parametrize("standalone", [False, True])
def test_a_crawl_that_is_purged_meanwhile(scene: Scene, tmp_path: Path, standalone: bool) -> None:
    _by_both(scene)

    def at(step: str) -> None:
        if step == "surveyed":
            purge(scene, 2)

    wacz = tmp_path / "c2.wacz"
    with pytest.raises(Conflict, match="the crawl c2 is purged: there is nothing to export"):
        export(scene.rows, scene.archive, "c2", wacz, standalone=standalone, at=at)
    assert not wacz.exists()


def test_one_that_cannot_be_changed_is_the_end(scene: Scene, tmp_path: Path) -> None:
    """A crawler's revisit whose header has other line ends."""
    head, _, block = gzip.decompress(revisit_of(2, 1, (1, 1))).partition(b"\r\n\r\n")
    cut = gzip.compress(head.replace(b"\r\n", b"\n") + b"\n\n" + block, mtime=0)
    land(scene, 1, capture(1, 1))
    land(scene, 2, capture(2, 3), cut)
    wacz = tmp_path / "c2.wacz"
    with pytest.raises(UnresolvedReference, match="cannot be made full, so nothing was written"):
        export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    assert not wacz.exists()
    export(scene.rows, scene.archive, "c2", wacz)


def test_what_shares_a_member_with_one_made_full_has_a_place(scene: Scene, tmp_path: Path) -> None:
    """They are cut apart; in a file in which nothing is made full they are not."""
    land(scene, 1, capture(1, 1))
    land(scene, 2, in_one_member(capture(2, 4), revisit_of(2, 1, (1, 1)), capture(2, 3)))
    problems: list[PinakesError] = []
    wacz = tmp_path / "c2.wacz"
    report = export(scene.rows, scene.archive, "c2", wacz, standalone=True, problems=problems)
    assert problems == []
    assert (report.captures, len(indexed(wacz, tmp_path / "read"))) == (3, 3)


def test_line_ends_behind_one_made_full_are_kept(scene: Scene, tmp_path: Path) -> None:
    """They are in its member, and no part of the record."""
    land(scene, 1, capture(1, 1))
    behind = gzip.compress(gzip.decompress(revisit_of(2, 1, (1, 1))) + b"\r\n" * 3)
    land(scene, 2, behind, capture(2, 3))
    wacz = tmp_path / "c2.wacz"
    assert export(scene.rows, scene.archive, "c2", wacz, standalone=True).restored == 1
    [path] = archives(wacz, tmp_path / "read")
    full, third = gzip.decompress(path.read_bytes()).split(b"\r\n" * 5)
    assert b"WARC-Type: response" in full
    assert third == gzip.decompress(capture(2, 3))


@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside one made full"])
def test_a_revisit_without_url_stays_and_is_named(
    scene: Scene, tmp_path: Path, others: int
) -> None:
    nameless = gzip.decompress(revisit_of(2, 1, (1, 1)))
    nameless = re.sub(rb"\r\nWARC-Target-URI: [^\r]*", b"", nameless, count=1)
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, gzip.compress(nameless), capture(2, 3), *[revisit_of(2, 2, (1, 2))] * others)
    problems: list[PinakesError] = []
    wacz = tmp_path / "c2.wacz"
    report = export(scene.rows, scene.archive, "c2", wacz, standalone=True, problems=problems)
    assert report.restored == others
    assert [str(problem) for problem in problems] == [
        "archive/a.warc.gz:0: a capture without URL or readable date: left out of the index"
    ]
    assert call("validate", "--refs", wacz).exit_code != 0


def test_a_revisit_without_date_becomes_full_and_is_named(scene: Scene, tmp_path: Path) -> None:
    undated = gzip.decompress(revisit_of(2, 1, (1, 1)))
    undated = re.sub(rb"\r\nWARC-Date: [^\r]*", b"\r\nWARC-Date: yesterday", undated, count=1)
    land(scene, 1, capture(1, 1))
    land(scene, 2, gzip.compress(undated), capture(2, 3))
    problems: list[PinakesError] = []
    wacz = tmp_path / "c2.wacz"
    report = export(scene.rows, scene.archive, "c2", wacz, standalone=True, problems=problems)
    assert report.restored == 1
    [problem] = problems
    assert (problem.file, problem.offset) == ("archive/a.warc.gz", 0)
    assert call("validate", "--refs", wacz).exit_code == 0


@pytest.mark.parametrize("at", [1000, -1000], ids=["of ours", "of a crawler's"])
def test_a_damaged_original_is_not_copied(scene: Scene, tmp_path: Path, at: int) -> None:
    _by_both(scene)
    path = scene.archive.path_of("c1/a.warc.gz")
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    wacz = tmp_path / "c2.wacz"
    with pytest.raises((DigestMismatch, UnresolvedReference)):
        export(scene.rows, scene.archive, "c2", wacz, standalone=True)
    assert not wacz.exists()


def test_two_exports_together_need_nothing_else(scene: Scene, tmp_path: Path) -> None:
    _by_both(scene)
    land(scene, 3, capture(3, 1), revisit_of(3, 2, (1, 2)), revisit_of(3, 3, (2, 3)))
    scene.dedupe(act="dedupe-b")
    waczs = [tmp_path / f"c{crawl}.wacz" for crawl in (1, 2, 3)]
    for wacz in waczs:
        export(scene.rows, scene.archive, wacz.stem, wacz)
    requires = described(members(waczs[2]))["relation"]["requires"]
    assert [(one["crawlId"], one["filename"]) for one in requires] == [
        ("c1", "a.warc.gz"),
        ("c2", "a.warc.gz"),
    ]
    read = tmp_path / "read"
    assert given(waczs, read) == given_by_store(scene)
    assert None in [digest for _, _, digest in given(waczs[1:], read).values()]
    again = tmp_path / "again"
    assert call("init", "--store", again).exit_code == 0
    assert call("import-wacz", *reversed(waczs), "--store", again).exit_code == 0
    answer = json.loads(call("crawl", "requires", "c3", "--json", "--store", again).out)
    assert answer["unresolved"] == 0
    assert [len(one["found"]) for one in answer["declared"]] == [1, 1]
    for number, crawl in ((1, 3), (2, 3), (3, 3), (1, 2)):
        year, following = f"20{10 + crawl}", f"20{11 + crawl}"
        found = call(
            "timeline", uri(number), "--json", "--from", year, "--to", following, "--store", again
        )
        key = json.loads(found.out)["capture"]
        shown = call_here(tmp_path, "cat", key, "--payload", "--store", str(again))
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout.encode("utf-8", "surrogateescape") == body(number)


def test_records_of_the_others_are_untouched(scene: Scene, tmp_path: Path) -> None:
    _within_the_crawl(scene)
    before = {name: path.read_bytes() for name, path in _stored(scene).items()}
    export(scene.rows, scene.archive, "c2", tmp_path / "c2.wacz", standalone=True)
    assert {name: path.read_bytes() for name, path in _stored(scene).items()} == before
    [path] = archives(tmp_path / "c2.wacz", tmp_path / "read")
    kinds = {
        (record.get(b"WARC-Record-ID") or b"").decode(): record.get(b"WARC-Type")
        for record in raw_records(path)
    }
    inside = record_id(2, 5).strip("<>")
    assert kinds.pop(inside) == b"revisit"
    assert set(kinds.values()) == {b"response"}


def _stored(scene: Scene) -> dict[str, Path]:
    return {str(p): p for p in scene.archive.folder.rglob("*") if p.is_file()}
