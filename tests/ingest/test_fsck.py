"""fsck finds what is wrong both ways, mends it, and finds nothing then."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from archive_builders import dictionary
from fsck_here import look
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor, release_lease
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import QUARANTINE
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.file_records import iter_sidecar, sidecar_rows_at
from pinakes.catalog.file_rows import read_entry, release_claim, scan_entries, scan_inflight
from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.catalog.reported import Report, has_reports, open_scope, put_reports
from pinakes.catalog.sidecar import read_sidecar, sidecar_name, write_sidecar
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.file_removal import VERB as REMOVAL
from pinakes.deletion.file_removal import FileRemover
from pinakes.deletion.requests import REMOVE
from pinakes.errors import Conflict, MalformedRecord
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import FileStateCell
from pinakes.hbase_schema.seen_cells import SeenCapture
from pinakes.hbase_schema.seen_keys import seen_in
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl
from pinakes.ingest.fsck import check as fsck
from pinakes.ingest.fsck import strays as fsck_strays
from pinakes.ingest.fsck.accounts import Account
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.findings import CODES, FsckFinding
from pinakes.ingest.fsck.strays import Strays
from pinakes.row_store.port import Delete, Put, RowStore
from pinakes.warc.digest import Digest

URI = "http://example.org/"
FILE = "one/a.warc.gz"
LATER = 1 << 42


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", page(URI), page("http://example.org/b", b"b"))
    yield made
    made.close()


def codes(findings: list[FsckFinding]) -> list[str]:
    return [finding.code for finding in findings]


def contents(store: LandedStore) -> object:
    return [
        [(row.key, row.cells) for row in store.rows.scan(table)]
        for table in ("captures", "digests", "inflight")
    ]


def test_a_sound_store_has_no_findings(store: LandedStore) -> None:
    assert look(store, full=True) == []


def drop_sidecar(store: LandedStore) -> None:
    store.path_of(sidecar_name(FILE)).unlink()


def spoil_sidecar(store: LandedStore) -> None:
    store.path_of(sidecar_name(FILE)).write_bytes(b"PAR1 no more")


def shift_sidecar(store: LandedStore) -> None:
    path = store.path_of(sidecar_name(FILE))
    rows = [row._replace(offset=row.offset + 1) for row in read_sidecar(str(path))]
    with path.open("wb") as file:
        write_sidecar(file, rows)


def drop_rows(store: LandedStore, *tables: str) -> None:
    # As if they had never been written: no tombstone, which nothing undoes.
    import sqlite3

    with sqlite3.connect(store.folder / "rows.sqlite") as connection:
        for table in tables:
            connection.execute(f"DELETE FROM {table}")
    connection.close()


def drop_capture_rows(store: LandedStore) -> None:
    drop_rows(store, "captures", "digests")


def drop_digest_rows(store: LandedStore) -> None:
    drop_rows(store, "digests")


def shift_location(store: LandedStore) -> None:
    [capture] = scan_captures_of(store.rows, urlkey(URI))
    facts = replace(capture.facts, offset=7, length=7)
    cell = {CaptureFacts.COLUMN: encode_cell(facts)}
    store.rows.mutate("captures", [Put(capture.key, cell, capture.landed_ms)])


def leave_in_flight(store: LandedStore) -> None:
    store.rows.mutate(
        "inflight", [Put(b"one/a.warc.gz", {b"l:present": b'{"v":1,"act":"x"}'}, None)]
    )


def leave_aside(store: LandedStore) -> None:
    store.path_of(".landing").mkdir(exist_ok=True)
    store.path_of(".landing/0123.copy").write_bytes(b"half")


def leave_half_a_dictionary(store: LandedStore) -> None:
    store.path_of(".landing").mkdir(exist_ok=True)
    store.path_of(".landing/dictionary-0123").write_bytes(dictionary()[:9])


def test_a_damaged_sidecar_is_named_by_what_reads_it(store: LandedStore) -> None:
    spoil_sidecar(store)
    for read in (
        lambda: list(iter_sidecar(store.archive, FILE)),
        lambda: sidecar_rows_at(store.archive, FILE, 0),
    ):
        with pytest.raises(MalformedRecord, match="the sidecar is damaged") as raised:
            read()
        assert raised.value.file == sidecar_name(FILE)


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (drop_sidecar, ["sidecar-missing"]),
        (spoil_sidecar, ["sidecar-unreadable"]),
        (shift_sidecar, ["location"]),
        (drop_capture_rows, ["rows-missing"]),
        (drop_digest_rows, ["rows-missing"]),
        (shift_location, ["location"]),
        (leave_in_flight, ["hidden"]),
        (leave_aside, ["aside"]),
        (leave_half_a_dictionary, ["aside"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_can_be_mended_is_as_it_was(
    store: LandedStore, harm: Callable[[LandedStore], None], found: list[str]
) -> None:
    before, names = contents(store), store.names()
    harm(store)
    assert codes(look(store, full=True)) == found
    again = look(store, full=True, repair=True)
    # What one repair mends, another has not to.
    assert list(dict.fromkeys(codes(again))) == list(dict.fromkeys(found))
    assert all(finding.repair for finding in again)
    assert look(store, full=True) == []
    assert contents(store) == before
    assert [name for name in store.names() if not name.startswith(QUARANTINE)] == names


def test_rows_that_another_reading_made_go_with_it(store: LandedStore) -> None:
    """An older reader may have read another URI: sidecar and rows agree, and are wrong."""
    before = store.dump()
    path = store.path_of(sidecar_name(FILE))
    first, *rest = read_sidecar(str(path))
    key = first.row_key
    assert key is not None
    wrong = key.replace(b"org,example)/", b"org,example)/wrong")
    with path.open("wb") as file:
        write_sidecar(file, [first._replace(target_uri=URI + "wrong", row_key=wrong), *rest])
    cells = {
        column: cell.value
        for column, cell in store.rows.get_rows("captures", [key])[key].cells.items()
    }
    store.rows.mutate("captures", [Put(wrong, cells, 1), Delete(key, 1)])
    assert codes(look(store, full=True, repair=True)) == ["location"]
    assert look(store, full=True) == []
    assert store.dump() == before


def drop_file(store: LandedStore) -> None:
    store.path_of(FILE).unlink()


def flip_byte(store: LandedStore) -> None:
    path = store.path_of(FILE)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def add_file(store: LandedStore) -> None:
    store.path_of("one/unknown.warc.gz").write_bytes(page(URI))


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (drop_file, ["file-missing", "sidecar-alone"]),
        (flip_byte, ["checksum"]),
        (add_file, ["unknown-file"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_mended_is_named_and_left(
    store: LandedStore, harm: Callable[[LandedStore], None], found: list[str]
) -> None:
    harm(store)
    before, names = contents(store), store.names()
    for _ in range(2):
        findings = look(store, repair=True)
        assert codes(findings) == found
        assert [finding.mend for finding in findings] == [None] * len(found)
    assert contents(store) == before
    assert store.names() == names


def test_quick_reads_no_bytes(store: LandedStore) -> None:
    flip_byte(store)
    assert look(store, quick=True) == []


def test_rows_of_no_file_are_found_by_a_full_look(store: LandedStore) -> None:
    store.land("two", "b.warc.gz", page("http://b.example/"))
    store.rows.mutate("files", [Delete(b"two/b.warc.gz", LATER), Delete(b"two/b.warc.gz", None)])
    store.path_of("two/b.warc.gz").unlink()
    assert "rows-alone" in codes(look(store, full=True, repair=True))
    assert not [
        key for key in store.dump()["captures"] if b"b,example" in key or b"example,b" in key
    ]
    assert "rows-alone" not in codes(look(store, full=True))


def test_reports_of_a_crawl_that_has_ended_are_deleted(store: LandedStore) -> None:
    def report(crawl: str) -> None:
        scope = open_scope(store.rows, crawl)
        seen = SeenCapture(url=URI, date="2024-02-29T12:34:56Z")
        put_reports(store.rows, scope, [Report(digest=Digest("sha1", b"d" * 20), seen=seen)])

    for crawl in ("two", "three"):
        store.land(crawl, "b.warc.gz", page(f"http://{crawl}.example/"))
        report(crawl)
    assert codes(look(store)) == []
    end_crawl(store, "two")
    [finding] = look(store, repair=True)
    assert (finding.code, finding.file) == ("reports-alone", "two")
    assert codes(look(store)) == []
    assert has_reports(store.rows, open_scope(store.rows, "three"))


def end_crawl(store: LandedStore, crawl: str) -> None:
    """Commit it, as beside a server that wrote reports at that moment and died."""
    rows = [*store.rows.scan("crawls", seen_in("default", crawl))]
    assert rows
    commit_crawl(store.rows, store.archive, crawl, store.actor)
    cells = ((row.key, {c: cell.value for c, cell in row.cells.items()}) for row in rows)
    store.rows.mutate("crawls", [Put(key, found, None) for key, found in cells])


# --- acts that died


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["landing", "fsck", "removal"])
def test_the_act_that_completes_a_dead_one_forgets_its_token(store: LandedStore, ends: str) -> None:
    def killed() -> None:
        child = LandedStore(store.folder)
        child.land("dead", f"{step}.warc.gz", page("http://d.example/"), at=kill_at(step))

    for step in range(9):
        assert in_child(killed) == KILLED
        if ends == "landing":
            store.land("dead", f"{step}.warc.gz", page("http://d.example/"))
        elif ends == "fsck":
            look(store, repair=True)
        else:
            act = Act(store.rows, store.archive, store.actor, store.actor.new_act(REMOVAL))
            FileRemover(act).remove(act.claim(f"dead/{step}.warc.gz"))
        claim = read_entry(store.rows, f"dead/{step}.warc.gz").claim
        assert claim is not None
        assert (claim.expires_ms, claim.dead) == (0, ()), step
        assert not any(".landing" in name for name in store.names()), step


@pytest.mark.slow
@pytest.mark.parametrize("step", range(9))
def test_a_landing_that_died_is_ended_or_withdrawn(store: LandedStore, step: int) -> None:
    def killed() -> None:
        child = LandedStore(store.folder)
        child.land("dead", "d.warc.gz", page("http://d.example/"), at=kill_at(step))

    assert in_child(killed) == KILLED
    found = look(store, repair=True)
    assert found
    assert look(store, full=True) == []
    state = read_entry(store.rows, "dead/d.warc.gz").state
    seen = list(scan_captures_of(store.rows, urlkey("http://d.example/")))
    assert len(seen) == (state == "stored")
    assert (state == "stored") == (step >= 6)
    store.land("dead", "d.warc.gz", page("http://d.example/"))
    assert len(list(scan_captures_of(store.rows, urlkey("http://d.example/")))) == 1
    assert look(store, full=True) == []


@pytest.mark.parametrize("state", ["leaving", "left", "removed"])
@pytest.mark.parametrize("act", ["ingest-1", "remove-1"])
def test_one_cell_that_says_that_a_file_goes_deletes_no_bytes(
    store: LandedStore, state: str, act: str
) -> None:
    """It is rotten, or was exchanged with that of a file that goes: its crawl does not."""
    content = (store.folder / "archive" / FILE).read_bytes()
    cell = {FileStateCell.COLUMN: encode_cell(FileStateCell(state=state, act=act))}
    store.rows.mutate("files", [Put(FILE.encode(), cell, None)])
    assert look(store, repair=True)
    kept = [path.read_bytes() for path in (store.folder / "archive").rglob("*") if path.is_file()]
    assert content in kept
    if act == "ingest-1":
        assert look(store, full=True) == []
        assert read_entry(store.rows, FILE).state == "stored"


def test_what_a_landing_that_died_wrote_is_kept(store: LandedStore) -> None:
    """What it landed from may be gone."""
    pages = [page("http://d.example/", random.Random(1).randbytes(5000))]

    def killed() -> None:
        LandedStore(store.folder).land("dead", "d.warc.gz", *pages, at=kill_at(3))

    assert in_child(killed) == KILLED
    written = {path.read_bytes() for path in (store.folder / "archive/.landing").iterdir()}
    assert any(len(content) > 5000 for content in written)
    look(store, repair=True)
    kept = store.folder / "archive" / QUARANTINE
    assert written <= {path.read_bytes() for path in kept.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, 4, 7, 8, 9, 10, 13])
def test_a_removal_that_died_is_ended(store: LandedStore, step: int) -> None:
    commit_crawl(store.rows, store.archive, "one", store.actor)

    def killed() -> None:
        child = LandedStore(store.folder)
        Remover(child.rows, child.archive, Actor(), at=kill_at(step)).take_out("one", REMOVE)

    assert in_child(killed) == KILLED
    look(store, repair=True)
    # Files are gone; that the crawl is, its own command says.
    assert set(codes(look(store, full=True))) == {"unfinished-act"}
    assert store.dump() == {"captures": {}, "digests": {}, "inflight": {}}
    assert Remover(store.rows, store.archive, Actor()).take_out("one", REMOVE).is_complete
    assert look(store, full=True) == []


def test_a_claim_of_an_act_that_nobody_goes_on_with_is_released(store: LandedStore) -> None:
    """It goes on while its collection's lease is not released."""
    act = "purge-20260101T000000-00000000"

    def killed() -> None:
        child = LandedStore(store.folder)
        Actor().lease(child.rows, "default", act=act)
        Actor().claim(child.rows, FILE, act=act)

    assert in_child(killed) == 0
    assert codes(look(store, repair=True)) == ["unfinished-act", "unfinished-act"]
    release_lease(store.rows, Actor().lease(store.rows, "default", act=act))
    assert codes(look(store, repair=True)) == ["dead-claim"]
    assert look(store) == []


def test_a_landing_refused_for_a_file_it_found_leaves_that_file(store: LandedStore) -> None:
    from pinakes.errors import InputRefused

    store.path_of("two").mkdir()
    store.path_of("two/x.warc.gz").write_bytes(b"somebody's")
    with pytest.raises(InputRefused, match="not in the catalogue"):
        store.land("two", "x.warc.gz", page("http://x.example/"))
    assert codes(look(store, repair=True)) == ["dead-landing", "unknown-file"]
    assert codes(look(store, repair=True, full=True)) == ["unknown-file"]
    assert store.path_of("two/x.warc.gz").read_bytes() == b"somebody's"
    assert list(scan_captures_of(store.rows, urlkey("http://x.example/"))) == []


def test_what_somebody_works_on_is_left_alone(store: LandedStore) -> None:
    seen: list[list[FsckFinding]] = []
    store.land("two", "b.warc.gz", page("http://b.example/"), at=lambda _: seen.append(look(store)))
    assert len(seen) == 9
    assert [findings for findings in seen if findings] == []


def test_every_code_is_documented(repository: Path) -> None:
    page_text = (repository / "docs/fsck.md").read_text("utf-8")
    assert [code for code in CODES if f"| `{code}` |" not in page_text] == []


# --- beside processes that work on


def kill_a_landing(store: LandedStore, step: int) -> None:
    def killed() -> None:
        child = LandedStore(store.folder)
        child.land("dead", "d.warc.gz", page("http://d.example/"), at=kill_at(step))

    assert in_child(killed) == KILLED


@pytest.mark.parametrize("step", [1, 3, 5])
def test_what_has_landed_since_is_not_withdrawn(store: LandedStore, step: int) -> None:
    """fsck saw a dead landing; before it mends that, the file lands again."""
    kill_a_landing(store, step)
    findings = iter(Fsck(store.rows, store.archive, Actor(), full=True).findings())
    found = next(found for found in findings if found.code == "dead-landing")
    store.land("dead", "d.warc.gz", page("http://d.example/"))
    before, names = store.dump(), store.names()
    assert found.mend is not None
    with pytest.raises(Conflict, match="another process has worked on it since"):
        found.mend()
    assert (store.dump(), store.names()) == (before, names)
    assert look(store, full=True) == []


@pytest.mark.parametrize("step", [1, 3, 5])
def test_a_list_of_files_that_has_aged_gives_no_findings(
    store: LandedStore, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_a_landing(store, step)
    aged, hidden = list(scan_entries(store.rows)), scan_inflight(store.rows)
    store.land("dead", "d.warc.gz", page("http://d.example/"))
    monkeypatch.setattr(fsck, "scan_entries", lambda rows, **_: iter(aged))
    monkeypatch.setattr(fsck, "scan_inflight", lambda rows: set(hidden))
    before = store.dump()
    assert look(store, full=True, repair=True) == []
    assert store.dump() == before


def test_rows_of_a_file_that_lands_meanwhile_stay(
    store: LandedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = fsck_strays.scan_strays

    def land_first(rows: RowStore, stored: set[str], accounts: Iterable[Account]) -> Strays:
        store.land("two", "b.warc.gz", page("http://b.example/"))
        return scan(rows, stored, accounts)

    monkeypatch.setattr(fsck_strays, "scan_strays", land_first)
    assert look(store, full=True, repair=True) == []
    assert len(list(scan_captures_of(store.rows, urlkey("http://b.example/")))) == 1


def test_what_somebody_works_on_meanwhile_is_left_to_the_next_fsck(
    store: LandedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.path_of(FILE).unlink()
    size_of, acts = LocalArchiveStore.size, iter(["dedupe-1"])

    def claim_first(archive: LocalArchiveStore, name: str) -> int | None:
        for act in acts if name == FILE else ():
            release_claim(store.rows, Actor().claim(store.rows, FILE, act=act))
        return size_of(archive, name)

    monkeypatch.setattr(LocalArchiveStore, "size", claim_first)
    assert codes(look(store)) == ["sidecar-alone"]
    assert codes(look(store)) == ["file-missing", "sidecar-alone"]


def test_files_of_a_crawl_that_is_being_removed_are_left(store: LandedStore) -> None:
    seen: dict[str, list[str]] = {}
    commit_crawl(store.rows, store.archive, "one", Actor())
    remover = Remover(
        store.rows,
        store.archive,
        Actor(),
        at=lambda step: seen.update({step: codes(look(store, full=True))}),
    )
    remover.take_out("one", REMOVE)
    # Its last write is to say that the crawl is gone.
    assert seen.pop("lease released") == ["unfinished-act"]
    assert len(seen) > 5
    assert not any(seen.values()), seen


def test_a_kept_dictionary_is_known_and_compared_with_its_name(store: LandedStore) -> None:
    kept = keep_dictionary(store.archive, "default", dictionary(), token="dictionary-1")
    assert look(store, full=True) == []
    store.path_of(kept.name).write_bytes(dictionary()[:-1])
    assert look(store, quick=True) == []
    assert [(f.code, f.file) for f in look(store, repair=True)] == [("dictionary", kept.name)]
    assert look(store, full=True) == []
    assert not store.path_of(kept.name).exists()


def test_other_files_of_a_collection_are_not_known(store: LandedStore) -> None:
    store.path_of("+default").mkdir()
    store.path_of("+default/0001.dict").write_bytes(dictionary())
    assert codes(look(store)) == ["unknown-file"]
