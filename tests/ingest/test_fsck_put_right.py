"""fsck --repair of a damaged store makes nothing worse: put right by hand, all is as before.

Judged by the rows' values, the sidecars' and the files' bytes, and by `cat` and `cdx` of the verbs.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from archive_builders import FORMS
from landed_stores import LandedStore, page, revisit

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import QUARANTINE
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.kept_repairs import scan_repairs
from pinakes.catalog.references import scan_references
from pinakes.catalog.sidecar import read_sidecar, read_sidecar_of, sidecar_name, write_sidecar
from pinakes.cli import main
from pinakes.errors import InputRefused
from pinakes.index.urlkey import urlkey
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.findings import CODES, FsckFinding
from pinakes.ingest.fsck.undoing import Undoer
from pinakes.row_store.port import Put

PAGES = 12
CUTS = 20


def uri(file: str, number: int) -> str:
    return f"http://{file}.example.org/{number}"


def body(file: str, number: int) -> bytes:
    return f"{file} {number} ".encode() * 40


@pytest.fixture(params=FORMS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(tmp_path: Path, ending: str) -> Iterator[LandedStore]:
    """Two files of one shape, with other bodies; another crawl refers to the first."""
    made = LandedStore(tmp_path / "store")
    form = FORMS[ending]
    for file in ("a", "b"):
        pages = [form(page(uri(file, n), body(file, n))) for n in range(PAGES)]
        made.land("one", f"{file}.{ending}", *pages)
    date = "2020-01-02T03:04:05Z"
    refers = [
        form(revisit(uri("a", n), "2021-01-02T03:04:05Z", uri("a", n), date)) for n in range(PAGES)
    ]
    made.land("two", f"c.{ending}", *refers)
    yield made
    made.close()


def look(store: LandedStore, *, repair: bool = True, **depth: bool) -> list[FsckFinding]:
    found = []
    for finding in Fsck(store.rows, store.archive, Actor(), **depth).findings():
        assert finding.code in CODES
        found.append(finding)
        if repair and finding.mend is not None:
            with suppress(InputRefused):  # by the verb it is named, and left
                finding.mend()
    return found


def state(store: LandedStore) -> dict[str, object]:
    """Values of all rows that fsck may write, the files' bytes, the sidecars' rows."""
    found: dict[str, object] = {
        f"{table} {row.key!r} {column!r}": cell.value
        for table in ("captures", "digests", "inflight", "files")
        for row in store.rows.scan(table)
        for column, cell in row.cells.items()
        if column != b"l:claim"
    }
    for name in store.names():
        if not name.startswith(QUARANTINE):
            path = store.path_of(name)
            is_sidecar = name.endswith(sidecar_name(""))
            found[name] = list(read_sidecar(str(path))) if is_sidecar else path.read_bytes()
    return found


def cut(store: LandedStore, ending: str, number: int) -> None:
    path = store.path_of(f"one/a.{ending}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size * number // CUTS])


def swap(store: LandedStore, one: str, other: str) -> None:
    first, second = store.path_of(one), store.path_of(other)
    aside = first.with_name("aside")
    first.rename(aside)
    second.rename(first)
    aside.rename(second)


def swap_files(store: LandedStore, ending: str) -> None:
    swap(store, f"one/a.{ending}", f"one/b.{ending}")


def swap_sidecars(store: LandedStore, ending: str) -> None:
    swap(store, sidecar_name(f"one/a.{ending}"), sidecar_name(f"one/b.{ending}"))


def swap_both(store: LandedStore, ending: str) -> None:
    swap_files(store, ending)
    swap_sidecars(store, ending)


def flip(store: LandedStore, ending: str) -> None:
    path = store.path_of(f"one/a.{ending}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def put_old_sidecar(store: LandedStore, ending: str) -> None:
    """That of an earlier file of this name, in another store."""
    older = LandedStore(store.folder.with_name("older"))
    older.land("one", f"a.{ending}", FORMS[ending](page(uri("a", 99), b"other")))
    older.close()
    name = sidecar_name(f"one/a.{ending}")
    shutil.copy(older.folder / "archive" / name, store.path_of(name))


def put_nameless_sidecar_of_another(store: LandedStore, ending: str) -> None:
    """As an older version wrote it, which does not say whose it is."""
    rows = read_sidecar(str(store.path_of(sidecar_name(f"one/b.{ending}"))))
    path = store.path_of(sidecar_name(f"one/a.{ending}"))
    kept = list(rows)
    with path.open("wb") as file:
        write_sidecar(file, kept)


def lose_sidecar_and_cut(store: LandedStore, ending: str) -> None:
    store.path_of(sidecar_name(f"one/a.{ending}")).unlink()
    cut(store, ending, 9)


def spoil_sidecar_and_flip(store: LandedStore, ending: str) -> None:
    store.path_of(sidecar_name(f"one/a.{ending}")).write_bytes(b"PAR1 no more")
    flip(store, ending)


HARMS = [
    swap_files,
    swap_sidecars,
    swap_both,
    flip,
    put_old_sidecar,
    put_nameless_sidecar_of_another,
    lose_sidecar_and_cut,
    spoil_sidecar_and_flip,
]


def tree_of(store: LandedStore) -> dict[str, bytes]:
    names = [name for name in store.names() if not name.startswith(QUARANTINE)]
    return {name: store.path_of(name).read_bytes() for name in names}


def put_right(store: LandedStore, tree: dict[str, bytes], harmed: dict[str, bytes]) -> None:
    """Put back by hand what was harmed, and no more."""
    for name, content in tree.items():
        if harmed.get(name) != content:
            store.path_of(name).write_bytes(content)


def said(store: LandedStore, capfd: pytest.CaptureFixture[str], *words: str) -> str:
    """What a verb prints to standard output; it exits with 0."""
    capfd.readouterr()
    assert main([words[0], "--store", str(store.folder), *words[1:]]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_nothing_is_worse_after_it_was_put_right(
    store: LandedStore, ending: str, harm: Callable[[LandedStore, str], None]
) -> None:
    before, tree = state(store), tree_of(store)
    for depth in ("quick", "default", "full"):
        harm(store, ending)
        harmed = tree_of(store)
        for _ in range(2):
            look(store, quick=depth == "quick", full=depth == "full")
        put_right(store, tree, harmed)
        look(store, full=True)
        assert look(store, full=True) == [], depth
        assert state(store) == before, depth


def test_nothing_is_derived_from_a_file_that_is_cut(store: LandedStore, ending: str) -> None:
    before, tree = state(store), tree_of(store)
    file = f"one/a.{ending}"
    for number in range(CUTS):
        cut(store, ending, number)
        found = [(finding.code, finding.mend) for finding in look(store, full=True)]
        assert found == [("checksum", None)], number
        assert {**state(store), file: tree[file]} == before, number
        store.path_of(file).write_bytes(tree[file])
    assert look(store, full=True) == []
    assert state(store) == before


@pytest.mark.parametrize("harm", [lose_sidecar_and_cut, swap_both], ids=lambda harm: harm.__name__)
def test_verbs_say_what_they_said(
    store: LandedStore,
    ending: str,
    harm: Callable[[LandedStore, str], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """All captures, all references of another crawl, and the bodies of these pages."""

    def all_said() -> list[str]:
        captures = [
            capture.key.decode("ascii")
            for file in "ab"
            for number in range(PAGES)
            for capture in scan_captures_of(store.rows, urlkey(uri(file, number)))
            if capture.facts.type == "response"
        ]
        return [
            said(store, capfd, "cdx", "one"),
            str(len([*scan_references(store.rows, store.archive, "one", "default")])),
            *(said(store, capfd, "cat", "--payload", capture) for capture in captures),
        ]

    before, tree = all_said(), tree_of(store)
    assert len(before[0].splitlines()) == 2 * PAGES
    assert before[1] == str(PAGES)
    assert before[2:] == [body(file, n).decode() for file in "ab" for n in range(PAGES)]
    harm(store, ending)
    harmed = tree_of(store)
    look(store)
    put_right(store, tree, harmed)
    look(store)
    assert all_said() == before


def test_swapped_sidecars_are_mended_by_their_files(store: LandedStore, ending: str) -> None:
    before = state(store)
    swap_sidecars(store, ending)
    swapped = {name: store.path_of(name).read_bytes() for name in store.names()}
    assert [finding.code for finding in look(store)] == ["sidecar-other"] * 2
    assert state(store) == before
    assert look(store, full=True) == []
    kept = {store.path_of(n).read_bytes() for n in store.names() if n.endswith("/0")}
    assert kept == {content for name, content in swapped.items() if name.endswith(".parquet")} - {
        swapped[sidecar_name(f"two/c.{ending}")]
    }


def put_old_claim_back(store: LandedStore, file: str) -> None:
    """As SQL puts an old row back: beside the claim that is there, at an earlier time."""
    connection = sqlite3.connect(store.folder / "rows.sqlite")
    place = (file.encode(), b"l:claim")
    sql = "SELECT ts, value FROM files WHERE row = ? AND col = ?"
    [(ts, value)] = connection.execute(sql, place).fetchall()
    old = {**json.loads(value), "expires_ms": 1 << 42, "token": "old"}
    connection.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?)", (*place, ts - 1, json.dumps(old).encode())
    )
    connection.commit()
    connection.close()


def test_an_old_claim_beside_a_newer_one_blocks_nothing(store: LandedStore, ending: str) -> None:
    file = f"one/a.{ending}"
    before = state(store)
    put_old_claim_back(store, file)
    swap_sidecars(store, ending)
    look(store)
    assert look(store, full=True) == []
    assert state(store) == before
    put_old_claim_back(store, file)
    for repair in scan_repairs(store.archive):
        assert Undoer(store.rows, store.archive, Actor()).undo(repair).is_whole
    look(store)
    assert state(store) == before


def test_findings_show_digests_as_text(store: LandedStore, ending: str) -> None:
    name = sidecar_name(f"one/a.{ending}")
    of = read_sidecar_of(str(store.path_of(name)))
    rows = [
        row._replace(sha1=bytes(20), sha256=bytes(32))
        for row in read_sidecar(str(store.path_of(name)))
    ]
    with store.path_of(name).open("wb") as file:
        write_sidecar(file, rows, lambda: of)
    row = next(iter(store.rows.scan("digests")))
    [cell] = row.cells.values()
    column = next(iter(row.cells))
    wrong = cell.value.replace(b" 202", b" 192")
    store.rows.mutate("digests", [Put(row.key, {column: wrong}, cell.timestamp_ms)])
    messages = [finding.message for finding in look(store, repair=False, full=True)]
    assert any("sha1 of record 0 is 'sha1:AAAAAAAA" in one for one in messages), messages
    assert any("not as the file says: 1 cell: " in one for one in messages), messages
    assert not any(re.search(r"\bb['\"]", one) for one in messages), messages
    assert not any(re.search(r"\b1 (?!is\b)\w+s\b", one) for one in messages), messages


def test_old_rows_put_back(tmp_path: Path, ending: str) -> None:
    """The files are newer than the rows: neither is changed, and new rows fit again."""
    store = LandedStore(tmp_path / "store")
    form = FORMS[ending]
    store.land("one", f"a.{ending}", form(page(uri("a", 1))))
    rows, old, new = store.folder / "rows.sqlite", tmp_path / "old", tmp_path / "new"
    store.close()
    shutil.copy(rows, old)
    store = LandedStore(store.folder)
    store.land("one", f"b.{ending}", form(page(uri("b", 1))))
    before = state(store)
    store.close()
    shutil.copy(rows, new)
    shutil.copy(old, rows)
    store = LandedStore(store.folder)
    assert [finding.code for finding in look(store, full=True)] == ["unknown-file"]
    store.close()
    shutil.copy(new, rows)
    store = LandedStore(store.folder)
    assert look(store, full=True) == []
    assert state(store) == before
    store.close()
