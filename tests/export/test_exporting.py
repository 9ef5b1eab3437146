"""A crawl as a WACZ file: what lies in it, whatever happens on the way, and that it comes back."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import pytest
from exported import archives, described, export, given, indexed, members
from failing_store import failing_archive, failing_rows
from importing import import_all, sha256_of
from killing import KILLED, in_child, kill_after, kill_at
from landed_stores import LandedStore, in_one_member, page
from purged import given as given_by_store
from scenes import Scene, make_scene
from store_chain import call
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import change_crawl_state
from pinakes.catalog.file_rows import read_entry, set_withdrawing
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    PinakesError,
    StoreUnavailable,
)
from pinakes.export import exporting
from pinakes.export.exporting import ExportRequest, WaczExporter
from pinakes.index.external_sort import SortSpace
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

URI = "http://example.org/"


def left(folder: Path) -> list[str]:
    """What lies in the folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


# --- what is in it


def test_it_holds_the_files_as_they_are_now(deduplicated: Scene, out: Path, tmp_path: Path) -> None:
    report = export(deduplicated.rows, deduplicated.archive, "c2", out / "c2.wacz")
    found = members(out / "c2.wacz")
    assert list(found) == [
        "archive/part-0.warc.gz",
        "archive/part-1.warc.gz",
        "indexes/index.cdx",
        "pages/pages.jsonl",
        "datapackage.json",
        "datapackage-digest.json",
    ]
    for number in (0, 1):
        stored = deduplicated.archive.path_of(f"c2/g2/part-{number}.warc.gz").read_bytes()
        assert found[f"archive/part-{number}.warc.gz"] == stored
    package = described(found)
    assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
    assert (package["title"], package["software"]) == ("c2", "pinakes")
    index = indexed(out / "c2.wacz", tmp_path / "read")
    assert len(index) == 12
    assert [mime for _, mime in index.values()].count("warc/revisit") == 8
    pages = [json.loads(line) for line in found["pages/pages.jsonl"].splitlines()]
    assert pages[0] == {"format": "json-pages-1.0", "id": "pages", "title": "Pages"}
    assert {one["url"]: one["ts"] for one in pages[1:]} == {
        f"{URI}{number}": f"2022-01-01T00:00:{number:02d}Z" for number in range(12)
    }
    assert len({one["id"] for one in pages[1:]}) == 12
    assert (report.files, report.captures, report.unresolved) == (2, 12, 0)
    written = out / "c2.wacz"
    assert report.size == written.stat().st_size
    assert report.sha256 == sha256_of(written)


def test_the_same_state_gives_the_same_bytes(deduplicated: Scene, out: Path) -> None:
    rows, archive = deduplicated.rows, deduplicated.archive
    for standalone in (False, True):
        first = export(rows, archive, "c2", out / f"a-{standalone}", standalone=standalone)
        deduplicated.dedupe(act="dedupe-b")  # finds nothing to do
        again = export(rows, archive, "c2", out / f"b-{standalone}", standalone=standalone)
        assert first == again


def test_files_of_folders_have_names_of_their_own(store: LandedStore, out: Path) -> None:
    names = (
        "a.warc.gz",
        "x/b.warc.gz",
        "y/b.warc.gz",
        "y/B.warc.gz",
        "x-b.warc.gz",
        "o\udcff.warc",
    )
    for number, name in enumerate(names):
        store.land("c", name, page(f"{URI}{number}", date=f"2020-01-01T00:00:0{number}Z"))
    export(store.rows, store.archive, "c", out / "c.wacz")
    named = [name for name in members(out / "c.wacz") if name.startswith("archive/")]
    assert len({name.casefold() for name in named}) == 6
    plain = {"a.warc.gz", "x-b.warc.gz", "y-B.warc.gz", "o%FF.warc"}
    assert {f"archive/{name}" for name in plain} <= set(named)
    assert len(indexed(out / "c.wacz", out)) == 6


def test_what_was_withdrawn_is_a_tombstone(store: LandedStore, out: Path, tmp_path: Path) -> None:
    secret = b"a secret of some length, which nobody may read any more"
    store.land("c", "a.warc.gz", page(URI), page(f"{URI}secret", secret))
    store.close()
    done = call("withdraw", f"{URI}secret", "--reason", "x", "--store", store.folder)
    assert done.exit_code == 0, done
    assert call("export-wacz", "c", "-o", out / "c.wacz", "--store", store.folder).exit_code == 0
    [path] = archives(out / "c.wacz", tmp_path / "read")
    with path.open("rb") as file:
        records = [
            item for item in iter_records(Source(file, name="a")) if isinstance(item, Record)
        ]
        assert [record.type for record in records] == ["response", "metadata"]
        assert all(secret not in b"".join(map(bytes, record.chunks())) for record in records)
    assert b"secret" not in members(out / "c.wacz")["indexes/index.cdx"]


def test_a_capture_without_a_date_is_named_and_not_in_the_index(
    store: LandedStore, out: Path
) -> None:
    store.land("c", "a.warc.gz", page(URI), page(f"{URI}b", date="yesterday"))
    problems: list[PinakesError] = []
    export(store.rows, store.archive, "c", out / "c.wacz", problems=problems)
    assert ["left out of the index" in str(problem) for problem in problems] == [True]
    assert len(members(out / "c.wacz")["indexes/index.cdx"].splitlines()) == 1


def test_records_that_share_a_member_with_others_are_named_and_not_in_the_index(
    store: LandedStore, out: Path
) -> None:
    """A tool that reads the member at the place of a line finds the first record."""
    pages = [page(f"{URI}{name}", name.encode()) for name in "abcd"]
    store.land("c", "a.warc.gz", in_one_member(*pages[:3]), pages[3])
    problems: list[PinakesError] = []
    report = export(store.rows, store.archive, "c", out / "c.wacz", problems=problems)
    why = "several records share one gzip member, and this capture is not the first"
    assert [str(problem) for problem in problems] == [
        f"archive/a.warc.gz:0: {why}: left out of the index"
    ] * 2
    index = members(out / "c.wacz")["indexes/index.cdx"].splitlines()
    assert [line.split()[0][-1:] for line in index] == [b"a", b"d"]
    plan = WaczExporter(store.rows, store.archive, software="x").plan(ExportRequest(crawl="c"))
    assert (report.captures, plan.captures) == (2, 2)
    # `cdx` says the same of the file and of the crawl.
    store.close()
    said = [
        call_here(out, "cdx", str(store.inbox / "c/a.warc.gz")),
        call_here(out, "cdx", "c", "--store", str(store.folder)),
    ]
    for done in said:
        assert done.returncode == 3
        assert [line.split()[0][-1:] for line in done.stdout.splitlines()] == ["a", "d"]
        assert done.stderr.count(f"{why}: left out") == 2


def test_files_whose_names_are_no_archive_files_come_back(
    store: LandedStore, out: Path, tmp_path: Path
) -> None:
    for number, name in enumerate(("f.txt", "f.txt.warc.gz", "g.warc.gz.open", "noext")):
        store.land("c", name, page(f"{URI}{number}", date=f"2020-01-01T00:00:0{number}Z"))
    store.land("c", "plain.txt", gzip.decompress(page(f"{URI}4")))
    export(store.rows, store.archive, "c", out / "c.wacz")
    named = [n.removeprefix("archive/") for n in members(out / "c.wacz") if n[:8] == "archive/"]
    [marked] = set(named) - {
        "f.txt.warc.gz", "g.warc.gz.open.warc.gz", "noext.warc.gz", "plain.txt.warc"
    }  # fmt: skip
    assert marked.endswith("-f.txt.warc.gz")
    again = tmp_path / "again"
    assert call("init", "--store", again).exit_code == 0
    assert call("import-wacz", out / "c.wacz", "--store", again).exit_code == 0
    for number in range(5):
        assert call("lookup", f"{URI}{number}", "--store", again).exit_code == 0


def test_bytes_of_urls_that_are_no_utf_8_are_percent_encoded(store: LandedStore, out: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    record = gzip.decompress(page(f"{URI}XX", head=head)).replace(b"XX", b"\xe9\xc3\xa9")
    store.land("c", "a.warc", record)
    export(store.rows, store.archive, "c", out / "c.wacz")
    found = members(out / "c.wacz")
    _, page_line = found["pages/pages.jsonl"].splitlines()
    assert json.loads(page_line)["url"] == f"{URI}%E9é"
    [line] = found["indexes/index.cdx"].splitlines()
    assert json.loads(line.split(b" ", 2)[2])["url"] == f"{URI}%E9é"


def test_captures_are_counted_as_the_index_has_them(store: LandedStore, out: Path) -> None:
    store.land("c", "a.warc.gz", page(URI), page(f"{URI}b"), page(f"{URI}c", date="yesterday"))
    store.close()
    taken = call("withdraw", f"{URI}b", "--reason", "x", "--store", store.folder)
    assert taken.exit_code == 0, taken
    for more in (["--dry-run"], []):
        done = call("export-wacz", "c", "-o", out / "c", "--json", "--store", store.folder, *more)
        assert json.loads(done.out)["captures"] == 1


# --- it comes back


def test_imported_into_an_empty_store_it_gives_the_same_records(
    deduplicated: Scene, out: Path, tmp_path: Path
) -> None:
    wanted = given_by_store(deduplicated)
    waczs = [out / f"{crawl}.wacz" for crawl in ("c1", "c2")]
    for wacz in waczs:
        export(deduplicated.rows, deduplicated.archive, wacz.stem, wacz)
    assert given(waczs, tmp_path / "read") == wanted
    with make_scene(tmp_path / "again", crawls=()) as again:
        # The one with references lands before what it refers to.
        outcomes = import_all(again.rows, again.archive, waczs[::-1])
        assert not [one for one in outcomes if isinstance(one, PinakesError)]
        found = {
            k: v for k, v in given_by_store(again).items() if not v[0].startswith(b"urn:wacz:")
        }
        assert found == wanted
        assert None not in [digest for _, _, digest in found.values()]
        requires = call("crawl", "requires", "c2", "--json", "--store", again.folder / "store")
        [answer] = map(json.loads, requires.out.splitlines())
        assert answer["unresolved"] == 0
        assert [one["found"] for one in answer["declared"]] == [
            [f"c1/c1.wacz/archive/part-{number}.warc.gz"] for number in (0, 1)
        ]
        # Exported again, the archive files are the same bytes.
        export(again.rows, again.archive, "c2", out / "c2-again.wacz")
    before, after = members(waczs[1]), members(out / "c2-again.wacz")
    ours = [name for name in before if name.startswith("archive/")]
    assert {name: before[name] for name in ours} == {name: after[name] for name in ours}
    assert before["pages/pages.jsonl"] == after["pages/pages.jsonl"]


def test_an_ingested_one_says_what_it_needs(deduplicated: Scene, out: Path, tmp_path: Path) -> None:
    export(deduplicated.rows, deduplicated.archive, "c2", out / "c2.wacz")
    again = tmp_path / "again"
    assert call("init", "--store", again).exit_code == 0
    assert call("ingest", out / "c2.wacz", "--crawl", "x", "--store", again).exit_code == 0
    answer = json.loads(call("crawl", "requires", "x", "--json", "--store", again).out)
    assert answer["unresolved"] == 8
    assert [(one["filename"], one["found"]) for one in answer["declared"]] == [
        ("part-0.warc.gz", []),
        ("part-1.warc.gz", []),
    ]
    # What is missing stays named.
    exported = call("export-wacz", "x", "-o", out / "x.wacz", "--json", "--store", again)
    assert exported.exit_code == 0
    assert json.loads(exported.out)["unresolved"] == 8
    [said, kept] = [described(members(out / f"{name}.wacz"))["relation"] for name in ("c2", "x")]
    assert kept == said


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        pytest.param("netarchivesuite_jwat", 15, id="some", marks=pytest.mark.slow),
        pytest.param("", 150, id="all", marks=pytest.mark.large),
    ],
)
def test_real_archives_come_back(
    shared_data: Path, out: Path, tmp_path: Path, folder: str, files: int
) -> None:
    store, again = tmp_path / "store", tmp_path / "again"
    for made in (store, again):
        assert call("init", "--store", made).exit_code == 0
    ingested = call("ingest", shared_data / "archives" / folder, "--crawl", "all", "--store", store)
    assert ingested.exit_code in (0, 3)  # one is empty, some are packed as is not read here
    exported = call("export-wacz", "all", "-o", out / "all.wacz", "--json", "--store", store)
    assert exported.exit_code in (0, 3), exported
    report = json.loads(exported.out)
    assert report["files"] > files
    found = members(out / "all.wacz")
    assert sum(name.startswith("archive/") for name in found) == report["files"]
    imported = call("import-wacz", out / "all.wacz", "--store", again)
    nothing_read = "no record in it could be read" in imported.err  # as when they were ingested
    assert imported.exit_code == (3 if nothing_read else 0), imported
    assert "imported, " in imported.out

    def listed(made: Path) -> Counter[str]:
        """All that is printed of each record, but where it is, by which those of ARC have ids."""
        lines = call("ls", "all", "--json", "--store", made).out.splitlines()
        records = [json.loads(line) for line in lines]
        for record in records:
            is_arc = ".arc" in record["file"].rpartition("/")[2]
            for name in ("file", "place", *(["record_id"] if is_arc else [])):
                del record[name]
        return Counter(map(json.dumps, records))

    wanted, got = listed(store), listed(again)
    assert wanted.total() > 5 * files
    assert not wanted - got
    assert all('"urn:wacz:all.wacz/' in record for record in got - wanted)


@pytest.mark.slow
def test_real_wacz_files_come_back_from_each_other(
    shared_data: Path, out: Path, tmp_path: Path
) -> None:
    """Exported and imported again, twice: archive files and lists of pages are what they were."""
    waczs = sorted(shared_data.glob("archives/*/**/*.wacz"))
    assert len(waczs) > 10
    for number, wacz in enumerate(waczs):
        before = {name: data for name, data in wacz_members(wacz).items() if is_kept(name)}
        given_wacz = out / f"w{number}.wacz"
        shutil.copy(wacz, given_wacz)
        for _ in range(2):
            with make_scene(tmp_path / "store", crawls=()) as made:
                [imported] = import_all(made.rows, made.archive, [given_wacz])
                assert not isinstance(imported, PinakesError), imported
                given_wacz.unlink()
                export(made.rows, made.archive, f"w{number}", given_wacz)
            shutil.rmtree(tmp_path / "store")
            after = members(given_wacz)
            assert {name: after[name] for name in before} == before, wacz


def wacz_members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist() if name[-1] != "/"}


def is_kept(name: str) -> bool:
    is_archive = name.endswith((".warc", ".warc.gz"))
    return (name.startswith("archive/") and is_archive) or name.startswith("pages/")


# --- what is refused


def test_crawls_that_cannot_be_exported(landed: Scene, out: Path) -> None:
    rows, archive = landed.rows, landed.archive

    def refused(crawl: str, error: type[PinakesError], words: str) -> None:
        with pytest.raises(error, match=words):
            export(rows, archive, crawl, out / "c.wacz")
        with pytest.raises(error, match=words):
            WaczExporter(rows, archive, software="x").plan(ExportRequest(crawl=crawl))
        assert left(out) == []

    refused("nobody", ConfigError, "there is no crawl nobody")
    change_crawl_state(rows, "c1", ("open",), "cancelling", act="a")
    refused("c1", Conflict, "complete it with `pinakes crawl remove c1`")
    change_crawl_state(rows, "c1", ("cancelling",), "open", act="a")
    Remover(rows, archive, Actor()).take_out("c2", CANCEL)
    refused("c2", Conflict, "the crawl c2 is cancelled")


def test_a_crawl_of_nothing(store: LandedStore, out: Path) -> None:
    with pytest.raises(InputRefused, match="empty"):
        store.land("c", "a.warc.gz")
    with pytest.raises(InputRefused, match="the crawl c has no archive files"):
        export(store.rows, store.archive, "c", out / "c.wacz")


def test_a_file_that_is_landing(tmp_path: Path, out: Path) -> None:
    def land() -> None:
        made = LandedStore(tmp_path / "store")
        made.land("c", "a.warc.gz", page(URI))
        made.land("c", "b.warc.gz", page(f"{URI}b"), at=kill_after("published"))

    assert in_child(land) == KILLED
    made = LandedStore(tmp_path / "store")
    with pytest.raises(Conflict, match=r"c/b.warc.gz: is landing"):
        export(made.rows, made.archive, "c", out / "c.wacz")
    made.land("c", "b.warc.gz", page(f"{URI}b"))
    assert export(made.rows, made.archive, "c", out / "c.wacz").files == 2
    made.close()


def test_a_take_down_that_has_not_ended(store: LandedStore, out: Path) -> None:
    """Records are noted, and still there."""
    store.land("c", "a.warc.gz", page(URI))
    facts = read_entry(store.rows, "c/a.warc.gz").facts
    assert facts is not None
    held = store.actor.claim(store.rows, "c/a.warc.gz", act="withdraw-1")
    set_withdrawing(store.rows, held, facts, [0])
    for standalone in (False, True):
        with pytest.raises(Conflict, match=r"c/a\.warc\.gz: holds records that are withdrawn"):
            export(store.rows, store.archive, "c", out / "c.wacz", standalone=standalone)
    assert left(out) == []


def test_bytes_that_are_not_what_was_written(landed: Scene, out: Path) -> None:
    path = landed.archive.path_of("c1/part-0.warc.gz")
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    for standalone in (False, True):
        with pytest.raises(DigestMismatch, match=r"c1/part-0\.warc\.gz: is not what was written"):
            export(landed.rows, landed.archive, "c1", out / "c.wacz", standalone=standalone)
    path.write_bytes(data[:500])
    with pytest.raises(DigestMismatch, match="is not what was written"):
        export(landed.rows, landed.archive, "c1", out / "c.wacz")
    path.unlink()
    with pytest.raises(InputRefused, match=r"c1/part-0\.warc\.gz"):
        export(landed.rows, landed.archive, "c1", out / "c.wacz")
    assert left(out) == []


def test_an_existing_file_is_not_replaced(landed: Scene, out: Path) -> None:
    (out / "c.wacz").write_bytes(b"mine")
    with pytest.raises(InputRefused, match="exists already"):
        export(landed.rows, landed.archive, "c1", out / "c.wacz")
    assert (out / "c.wacz").read_bytes() == b"mine"
    store = landed.folder / "store"
    for more in (["--dry-run"], []):
        done = call("export-wacz", "c1", "-o", out / "c.wacz", "--store", store, *more)
        assert (done.exit_code, "exists already" in done.err) == (3, True)


def _dedupe(scene: Scene) -> None:
    scene.dedupe()


def _land_more(scene: Scene) -> None:
    shutil.copy(scene.crawls / "c2/part-0.warc.gz", scene.crawls / "c2/part-2.warc.gz")
    scene.land(2)


def _cancel(scene: Scene) -> None:
    Remover(scene.rows, scene.archive, Actor()).take_out("c2", CANCEL)


@pytest.mark.parametrize("act", [_dedupe, _land_more, _cancel])
@pytest.mark.parametrize("step", ["surveyed", "index", "described", "written"])
def test_a_crawl_that_changes_meanwhile_is_not_exported(
    landed: Scene, out: Path, act: Callable[[Scene], None], step: str
) -> None:
    def at(reached: str) -> None:
        if reached == step:
            act(landed)

    with pytest.raises(PinakesError) as refused:
        export(landed.rows, landed.archive, "c2", out / "c.wacz", at=at)
    assert isinstance(refused.value, (Conflict, InputRefused))
    assert left(out) == []


def test_what_happens_elsewhere_is_no_change(landed: Scene, out: Path) -> None:
    def at(reached: str) -> None:
        if reached == "described":
            landed.dedupe()  # changes the second crawl alone

    report = export(landed.rows, landed.archive, "c1", out / "c.wacz", at=at)
    assert report.files == 2
    members(out / "c.wacz")


# --- what breaks on the way


@pytest.mark.parametrize("standalone", [False, True], ids=["as it is", "standalone"])
def test_killed_at_any_step_there_is_no_half_file(
    deduplicated: Scene, out: Path, standalone: bool
) -> None:
    rows, archive = deduplicated.rows, deduplicated.archive
    steps = count()
    wanted = export(
        rows, archive, "c2", out / "c.wacz", standalone=standalone,
        at=lambda _: next(steps) and None,
    )  # fmt: skip
    whole = (out / "c.wacz").read_bytes()
    total = next(steps)
    assert total >= 9
    for step in range(total):
        (out / "c.wacz").unlink(missing_ok=True)
        code = in_child(
            lambda step=step: export(  # type: ignore[misc]
                rows, archive, "c2", out / "c.wacz", standalone=standalone, at=kill_at(step)
            )
        )
        assert code == KILLED
        if (out / "c.wacz").exists():
            assert step == total - 1
            assert (out / "c.wacz").read_bytes() == whole
            continue
        again = export(rows, archive, "c2", out / "c.wacz", standalone=standalone)
        assert (again, (out / "c.wacz").read_bytes()) == (wanted, whole)
        assert left(out) == ["c.wacz"]


@pytest.mark.parametrize("which", ["rows", "archive"])
def test_a_store_that_fails_at_any_call_leaves_nothing(
    deduplicated: Scene, out: Path, which: str
) -> None:
    for number in count(1):
        rows, archive = deduplicated.rows, deduplicated.archive
        these = failing_rows(rows, number if which == "rows" else 0)
        those = failing_archive(archive, number if which == "archive" else 0)
        try:
            export(these, those, "c2", out / "c.wacz", standalone=True)
        except StoreUnavailable:
            assert left(out) == [], f"call {number}"
        else:
            assert number > 8
            break
    members(out / "c.wacz")


def test_a_full_disk_leaves_nothing(
    deduplicated: Scene, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write of the WACZ file may be the one that does not fit."""
    written = exporting.WaczWriter

    for room in (0, 100, 5000, 9000, 13_000, 14_500):

        class Full(written):  # type: ignore[misc, valid-type]
            def __init__(self, file: object, *more: object, room: int = room) -> None:
                super().__init__(_Bounded(file, room), *more)

        monkeypatch.setattr(exporting, "WaczWriter", Full)
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            export(deduplicated.rows, deduplicated.archive, "c2", out / "c.wacz")
        assert left(out) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_crawl(store: LandedStore, out: Path) -> None:
    """A file of 64 MiB, and one of 9,000 captures, more than are read at once."""
    store.land("c", "big.warc.gz", page(f"{URI}big", Random(1).randbytes(1 << 26)))
    dates = (f"2020-01-01T{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}Z" for n in range(9000))
    store.land("c", "small.warc.gz", *(page(f"{URI}{date}", date=date) for date in dates))
    space = SortSpace(memory_bytes=1 << 20)
    exporter = WaczExporter(store.rows, store.archive, software="pinakes", space=space)
    tracemalloc.start()
    exporter.export(ExportRequest(crawl="c"), out / "c.wacz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 << 20
    assert (out / "c.wacz").stat().st_size > 64 << 20


class _Bounded:
    """A file with so much room."""

    def __init__(self, file: object, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: bytes) -> int:
        if self._file.tell() + len(data) > self._room:  # type: ignore[attr-defined]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self._file.write(data))  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)
