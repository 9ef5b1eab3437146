"""What a repair replaced is kept, is put back, and goes only where it is no last copy."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from archive_builders import dictionary
from killing import deaths_of_verb
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import QUARANTINE
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.kept_dictionaries import keep_dictionary
from pinakes.catalog.kept_repairs import read_repair, record_name, scan_repairs
from pinakes.catalog.sidecar import read_sidecar, sidecar_name, write_sidecar
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import REMOVE
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.discarding import Discarder
from pinakes.ingest.fsck.undoing import Undoer
from pinakes.row_store.port import Delete, Put

FILE = "one/a.warc.gz"
SIDECAR = sidecar_name(FILE)
PAGES = 6
LATER = 1 << 42


def uri(number: int) -> str:
    return f"http://example.org/{number}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", *(page(uri(n), b"body %d" % n) for n in range(PAGES)))
    made.land("two", "b.warc.gz", page("http://b.example/"))
    yield made
    made.close()


def mend(store: LandedStore) -> tuple[list[str], list[str]]:
    """The codes of what a full fsck found, and the ids of what it replaced."""
    codes, repairs = [], []
    for finding in Fsck(store.rows, store.archive, Actor(), full=True).findings():
        codes.append(finding.code)
        repair = finding.mend() if finding.mend is not None else None
        repairs += [repair] if repair is not None else []
    return codes, repairs


def undo(store: LandedStore, repair: str) -> str | None:
    undone = Undoer(store.rows, store.archive, Actor()).undo(repair)
    assert undone.is_whole
    return undone.repair


def values(store: LandedStore) -> dict[tuple[str, bytes, bytes], bytes]:
    return {
        (table, row.key, column): cell.value
        for table in ("captures", "digests", "inflight", "files", "crawls")
        for row in store.rows.scan(table)
        for column, cell in row.cells.items()
        if column not in (b"l:claim", b"l:lease")
    }


def files(store: LandedStore) -> dict[str, bytes]:
    names = [name for name in store.names() if not name.startswith(QUARANTINE)]
    return {name: store.path_of(name).read_bytes() for name in names}


def state(store: LandedStore) -> tuple[object, object]:
    return values(store), files(store)


# --- harms, each of which a repair replaces or deletes something for


def spoil_sidecar(store: LandedStore) -> None:
    store.path_of(SIDECAR).write_bytes(b"PAR1 no more")


def put_sidecar_of_another(store: LandedStore) -> None:
    shutil.copy(store.path_of(sidecar_name("two/b.warc.gz")), store.path_of(SIDECAR))


def read_otherwise(store: LandedStore) -> None:
    """Sidecar and rows agree, and are wrong, as by an older reader; one row is too many."""
    path = store.path_of(SIDECAR)
    first, *rest = read_sidecar(str(path))
    key = first.row_key
    assert key is not None
    wrong = key.replace(b"org,example)/", b"org,example)/wrong")
    with path.open("wb") as file:
        write_sidecar(file, [first._replace(target_uri=uri(0) + "wrong", row_key=wrong), *rest])
    cells = {
        column: cell.value
        for column, cell in store.rows.get_rows("captures", [key])[key].cells.items()
    }
    store.rows.mutate("captures", [Put(wrong, cells, 1), Delete(key, 1)])


def shift_row(store: LandedStore, *, later: bool = False) -> None:
    [capture] = scan_captures_of(store.rows, urlkey(uri(1)))
    facts = replace(capture.facts, offset=7, length=7)
    cell = {CaptureFacts.COLUMN: encode_cell(facts)}
    store.rows.mutate("captures", [Put(capture.key, cell, capture.landed_ms + later)])


def shift_row_later(store: LandedStore) -> None:
    shift_row(store, later=True)


def leave_aside(store: LandedStore) -> None:
    store.path_of(".landing").mkdir(exist_ok=True)
    store.path_of(".landing/0123.copy").write_bytes(b"half")


def leave_folder_aside(store: LandedStore) -> None:
    store.path_of(".landing/0123").mkdir(parents=True, exist_ok=True)
    store.path_of(".landing/0123/part").write_bytes(b"half")


def leave_sidecar_alone(store: LandedStore) -> None:
    store.path_of("one/g2").mkdir()
    name = sidecar_name("one/g2/a.warc.gz")
    shutil.copy(store.path_of(SIDECAR), store.path_of(name))


def spoil_dictionary(store: LandedStore) -> None:
    kept = keep_dictionary(store.archive, "default", dictionary(), token="dictionary-1")
    store.path_of(kept.name).write_bytes(dictionary()[:-1])


def leave_rows_alone(store: LandedStore) -> None:
    for name in ("two/b.warc.gz", sidecar_name("two/b.warc.gz")):
        store.path_of(name).unlink()
    key = b"two/b.warc.gz"
    store.rows.mutate("files", [Delete(key, LATER), Delete(key, None)])


HARMS = [
    (spoil_sidecar, "sidecar-unreadable"),
    (put_sidecar_of_another, "sidecar-other"),
    (read_otherwise, "location"),
    (shift_row, "location"),
    (shift_row_later, "location"),
    (leave_aside, "aside"),
    (leave_folder_aside, "aside"),
    (leave_sidecar_alone, "sidecar-alone"),
    (spoil_dictionary, "dictionary"),
    (leave_rows_alone, "rows-alone"),
]


ONLY_PUT_BACK = ("aside", "sidecar-alone", "dictionary", "rows-alone")
"""Where undoing replaces nothing, and is not recorded."""


@pytest.mark.parametrize(("harm", "code"), HARMS, ids=[harm.__name__ for harm, _ in HARMS])
def test_each_repair_is_undone_and_done_again(
    store: LandedStore, harm: Callable[[LandedStore], None], code: str
) -> None:
    harm(store)
    harmed = state(store)
    codes, [repair] = mend(store)
    assert codes == [code]
    mended = state(store)
    assert mended != harmed
    assert mend(store) == ([], [])
    record = read_repair(store.archive, repair)
    assert (record.id, record.code) == (repair, code)
    undone = undo(store, repair)
    assert state(store) == harmed
    assert undone is not None or code in ONLY_PUT_BACK
    with pytest.raises(InputRefused, match="nothing of this id"):
        undo(store, repair)
    if undone is None:
        assert mend(store)[0] == [code]
    else:
        undo(store, undone)
    assert state(store) == mended
    assert mend(store) == ([], [])


def test_what_is_only_added_is_not_kept(store: LandedStore) -> None:
    before = state(store)
    with sqlite3.connect(store.folder / "rows.sqlite") as connection:
        connection.execute("DELETE FROM captures")
    connection.close()
    assert mend(store) == (["rows-missing"] * 2, [])
    assert state(store) == before
    assert list(scan_repairs(store.archive)) == []


def test_what_has_changed_since_is_left(store: LandedStore) -> None:
    shift_row(store)
    put_sidecar_of_another(store)
    _, [repair] = mend(store)
    [capture] = scan_captures_of(store.rows, urlkey(uri(1)))
    facts = replace(capture.facts, status=418)
    cell = {CaptureFacts.COLUMN: encode_cell(facts)}
    store.rows.mutate("captures", [Put(capture.key, cell, capture.landed_ms)])
    store.path_of(SIDECAR).write_bytes(b"of somebody")
    before = state(store)
    undone = Undoer(store.rows, store.archive, Actor()).undo(repair)
    assert (undone.left_rows, undone.left_files) == (1, (SIDECAR,))
    assert state(store) == before
    assert list(scan_repairs(store.archive)) == [repair]


def test_what_an_act_has_removed_since_is_not_put_back(store: LandedStore) -> None:
    read_otherwise(store)
    _, [repair] = mend(store)
    commit_crawl(store.rows, store.archive, "one", store.actor)
    Remover(store.rows, store.archive, Actor()).take_out("one", REMOVE)
    before = state(store)
    with pytest.raises(Conflict, match="an act has rewritten or removed the file since"):
        undo(store, repair)
    assert state(store) == before
    assert Discarder(store.rows, store.archive, Actor()).why_kept(repair) is None


@pytest.mark.parametrize("rotten", ["0", "rows.jsonl"])
def test_what_was_kept_and_has_rotted_is_not_put_back(store: LandedStore, rotten: str) -> None:
    read_otherwise(store)
    _, [repair] = mend(store)
    path = store.path_of(f"{QUARANTINE}/{repair}/{rotten}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    before = state(store)
    with pytest.raises(DigestMismatch, match="what was kept is damaged"):
        undo(store, repair)
    assert state(store) == before


# --- accepting


def cut(store: LandedStore) -> bytes:
    """Half of the file is lost; returns all of it."""
    path = store.path_of(FILE)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return whole


def seen(store: LandedStore) -> list[int]:
    return [n for n in range(PAGES) if list(scan_captures_of(store.rows, urlkey(uri(n))))]


def test_damage_for_good_is_accepted_and_taken_back(store: LandedStore) -> None:
    before = state(store)
    whole = cut(store)
    assert mend(store) == (["checksum"], [])
    accepted = Fsck(store.rows, store.archive, Actor()).accept(FILE)
    left = seen(store)
    assert 0 < len(left) < PAGES
    assert left == list(range(len(left)))
    losses = accepted.losses
    assert (losses.before, losses.lost, losses.altered) == (PAGES, PAGES - len(left), 0)
    assert len(list(read_sidecar(str(store.path_of(SIDECAR))))) >= len(left)
    assert mend(store) == ([], [])
    store.path_of(FILE).write_bytes(whole)
    assert mend(store) == (["checksum"], [])
    assert accepted.repair is not None
    undo(store, accepted.repair)
    assert mend(store) == ([], [])
    assert state(store) == before


@pytest.mark.parametrize(
    ("file", "why"),
    [(FILE, "there is nothing to accept"), ("one/x.warc.gz", "no such file")],
)
def test_nothing_else_is_accepted(store: LandedStore, file: str, why: str) -> None:
    before = state(store)
    with pytest.raises(InputRefused, match=why):
        Fsck(store.rows, store.archive, Actor()).accept(file)
    assert state(store) == before


def test_what_describes_lost_records_is_not_discarded(store: LandedStore) -> None:
    cut(store)
    accepted = Fsck(store.rows, store.archive, Actor()).accept(FILE)
    assert accepted.repair is not None
    why = Discarder(store.rows, store.archive, Actor()).why_kept(accepted.repair)
    assert why is not None
    assert "only this describes the records" in why


# --- discarding


def test_nothing_is_discarded_while_its_file_is_damaged(store: LandedStore) -> None:
    put_sidecar_of_another(store)
    _, [repair] = mend(store)
    whole = cut(store)
    discarder = Discarder(store.rows, store.archive, Actor())
    assert "is damaged" in str(discarder.why_kept(repair))
    store.path_of(FILE).write_bytes(whole)
    assert discarder.why_kept(repair) is None
    discarder.discard(repair)
    assert list(store.archive.list(QUARANTINE)) == []
    assert mend(store) == ([], [])


@pytest.mark.parametrize(
    ("name", "content", "stays"),
    [
        ("0123.copy", None, False),
        ("0123.copy", b"of no file that has landed", True),
        ("0123.copy", b"", False),
        ("0123.rewritten", b"made from stored files", False),
    ],
)
def test_copy_of_a_dead_landing_stays_unless_it_has_landed(
    store: LandedStore, name: str, content: bytes | None, stays: bool
) -> None:
    store.path_of(".landing").mkdir(exist_ok=True)
    half = store.path_of(FILE).read_bytes()[:-100]
    store.path_of(f".landing/{name}").write_bytes(half if content is None else content)
    _, [repair] = mend(store)
    discarder = Discarder(store.rows, store.archive, Actor())
    assert (discarder.why_kept(repair) is not None) == stays


# --- by the verb


def said(
    store: LandedStore, capfd: pytest.CaptureFixture[str], *words: str
) -> tuple[int, list[str]]:
    """The exit code of `fsck` with these words, and the lines of its standard output."""
    capfd.readouterr()
    code = main(["fsck", "--store", str(store.folder), *words])
    return code, capfd.readouterr().out.splitlines()


def test_the_verb_names_lists_undoes_and_discards(
    store: LandedStore, capfd: pytest.CaptureFixture[str]
) -> None:
    put_sidecar_of_another(store)
    harmed = state(store)
    code, [line] = said(store, capfd, "--repair")
    [repair] = scan_repairs(store.archive)
    assert code == 1
    assert line == (
        f"{FILE}: sidecar-other: its sidecar describes two/b.warc.gz; mended: rebuild the sidecar "
        f"and the rows from the archive file; undo: pinakes fsck --undo {repair}"
    )
    code, [line] = said(store, capfd, "--json", "--quarantine")
    listed = json.loads(line)
    assert (code, listed["id"], listed["file"], listed["files"]) == (0, repair, FILE, [SIDECAR])
    assert said(store, capfd, "--undo", repair)[0] == 0
    assert state(store) == harmed
    assert said(store, capfd, "--undo", repair)[0] == 3
    assert said(store, capfd, "--repair")[0] == 1
    code, lines = said(store, capfd, "--discard", "all")
    assert code == 0
    assert all(line.endswith(": can be deleted: --yes") for line in lines)
    assert len(lines) == len(list(scan_repairs(store.archive))) == 2
    assert said(store, capfd, "--discard", "all", "--yes")[0] == 0
    assert list(store.archive.list(QUARANTINE)) == []
    assert said(store, capfd, "--full") == (0, [])


def test_the_verb_accepts(store: LandedStore, capfd: pytest.CaptureFixture[str]) -> None:
    cut(store)
    code, [line] = said(store, capfd)
    assert code == 1
    assert "put it back from a copy" in line
    assert "pinakes fsck --accept" in line
    code, [line, *named] = said(store, capfd, "--accept", FILE)
    lost = PAGES - len(seen(store))
    assert code == 0
    assert line.startswith(f"{FILE}: accepted: of {PAGES} records, {lost} lost, 0 altered; undo: ")
    assert len(named) == lost
    assert said(store, capfd, "--full") == (0, [])
    assert said(store, capfd, "--discard", "all", "--yes")[0] == 3


# --- kills


def harmed_store(folder: Path) -> tuple[LandedStore, tuple[object, object]]:
    """One whose repair replaces a sidecar, changes a row, and deletes one."""
    made = LandedStore(folder / "store")
    made.land("one", "a.warc.gz", *(page(uri(n), b"body %d" % n) for n in range(PAGES)))
    before = state(made)
    read_otherwise(made)
    return made, before


def each_kill(
    made: LandedStore, tmp_path: Path, words: list[str]
) -> Iterator[tuple[LandedStore, bool]]:
    """Copies of the store in which the verb died at one step each; and one where it did not."""
    made.close()
    for _, folder, died in deaths_of_verb(
        tmp_path,
        lambda folder: ["fsck", *words, "--store", folder],
        made=made.folder,
        well=1 if "--repair" in words else 0,
        more_than=20,
    ):
        left = LandedStore(folder)
        yield left, died
        left.close()


@pytest.mark.slow
def test_repair_killed_anywhere_is_ended_by_the_next(tmp_path: Path) -> None:
    made, before = harmed_store(tmp_path / "made")
    for left, _ in each_kill(made, tmp_path, ["--full", "--repair"]):
        codes, _ = mend(left)
        assert set(codes) <= {"location", "sidecar-missing", "dead-claim", "aside", "rows-missing"}
        assert mend(left) == ([], [])
        assert state(left) == before


@pytest.mark.slow
def test_undo_killed_anywhere_is_ended_by_the_next(tmp_path: Path) -> None:
    made, before = harmed_store(tmp_path / "made")
    harmed = state(made)
    _, [repair] = mend(made)
    for number, (left, _) in enumerate(each_kill(made, tmp_path, ["--undo", repair])):
        if number % 2:  # it is repaired instead
            mend(left)
            assert mend(left) == ([], [])
            assert state(left) == before
        else:
            if left.archive.size(record_name(repair)) is not None:
                undo(left, repair)
            put_back = {n: data for n, data in files(left).items() if not n.startswith(".landing/")}
            assert (values(left), put_back) == harmed


@pytest.mark.slow
def test_acceptance_killed_anywhere_is_ended_by_the_next(tmp_path: Path) -> None:
    made, _ = harmed_store(tmp_path / "made")
    mend(made)
    before = state(made)
    whole = cut(made)
    for left, _ in each_kill(made, tmp_path, ["--accept", FILE]):
        with suppress(InputRefused):  # it was noted before the kill
            Fsck(left.rows, left.archive, Actor()).accept(FILE)
        mend(left)
        assert mend(left) == ([], [])
        assert 0 < len(seen(left)) < PAGES
        left.path_of(FILE).write_bytes(whole)
        for repair in reversed(list(scan_repairs(left.archive))):
            if left.archive.size(record_name(repair)) is not None:
                record = read_repair(left.archive, repair)
                if record.code == "accepted":
                    Undoer(left.rows, left.archive, Actor()).undo(repair)
        mend(left)
        assert mend(left) == ([], [])
        assert state(left) == before
