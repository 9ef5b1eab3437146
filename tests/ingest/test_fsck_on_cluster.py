"""What `fsck` replaces on HDFS and HBase: kept, put back, accepted, and deleted if no last copy.

The verb is called; bytes and cells are judged by WebHDFS and happybase.
"""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from landed_stores import LandedStore, page
from rotten import FORMS, flipped
from shared_cluster import RunningCluster
from stored_on_cluster import Cluster, stores_on
from stored_things import SIDECAR, Cell, StoredThings
from verbs_here import call_here

from pinakes.archive_store.port import QUARANTINE
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, read_sidecar_of, write_sidecar
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.cells import decode_cell, encode_cell

PAGES, HARMED = 6, 3
A, B = "one/a.warc.gz", "two/b.warc.gz"
Said = list[dict[str, Any]]


@pytest.fixture(scope="module")
def place(
    shared_cluster: RunningCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Tables of the module's own, which each store fills anew."""
    folder = tmp_path_factory.mktemp("settings")
    with shared_cluster.used(alone=False), stores_on(shared_cluster, folder) as made:
        yield made


def body(number: int) -> bytes:
    """It does not compress, so that the middle of a record is body."""
    return random.Random(number).randbytes(2000)


def lay(place: Cluster, folder: Path, *, form: str = "gzip") -> StoredThings:
    """Files of two crawls, as they have landed; the first is in the form."""
    scene = LandedStore(folder / "scene")
    name, packed = FORMS[form]
    pages = [page(f"http://example.org/{n}", body(n)) for n in range(PAGES)]
    scene.land("one", name, *(packed(gzip.decompress(one)) for one in pages))
    scene.land("two", "b.warc.gz", page("http://b.example/", b"another"))
    scene.close()
    return place.lay(scene.folder, folder / "laid")


@pytest.fixture
def store(place: Cluster, tmp_path: Path) -> StoredThings:
    return lay(place, tmp_path)


def fsck(store: StoredThings, *words: str, code: int = 0) -> Said:
    """What the verb says; it exits with this code."""
    done = call_here(Path("/"), "fsck", "--json", *words, *store.options)
    assert done.returncode == code, (done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def mend(store: StoredThings) -> tuple[list[str], list[str]]:
    """The codes of what is found, and the ids of the repairs that replaced something."""
    said = fsck(store, "--full", "--repair", code=1)
    return [one["code"] for one in said], [one["undo"] for one in said if one["undo"]]


def files(store: StoredThings) -> dict[str, bytes]:
    """All but what repairs have kept."""
    names = [name for name in store.files.names() if not name.startswith(QUARANTINE)]
    return {name: store.files.read(name) for name in names}


def kept(store: StoredThings) -> list[str]:
    return [name for name in store.files.names() if name.startswith(QUARANTINE)]


def state(store: StoredThings) -> tuple[object, object]:
    """Values of cells, but for claims and runs, and the files."""
    values = {
        (cell.table, cell.row, cell.column): cell.value
        for cell in store.cells()
        if cell.table != "runs" and cell.column not in (b"l:claim", b"l:lease")
    }
    return values, files(store)


def rows_of(store: StoredThings, name: str) -> list[SidecarRow]:
    return list(read_sidecar(io.BytesIO(store.files.read(name + SIDECAR))))


def cells_of(store: StoredThings, key: bytes) -> list[Cell]:
    return [cell for cell in store.cells() if (cell.table, cell.row) == ("captures", key)]


# --- harms, each of which a repair replaces or deletes something for


def shift_row(store: StoredThings) -> None:
    key = rows_of(store, A)[1].row_key
    assert key is not None
    [cell] = [cell for cell in cells_of(store, key) if cell.column == CaptureFacts.COLUMN]
    facts = decode_cell(CaptureFacts, cell.value)
    store.put(cell, encode_cell(replace(facts, offset=7, length=7)))


def read_otherwise(store: StoredThings) -> None:
    """The sidecar names another page, which has a row, too."""
    of = read_sidecar_of(io.BytesIO(store.files.read(A + SIDECAR)))
    first, *rest = rows_of(store, A)
    assert first.row_key is not None
    assert of is not None
    wrong = first.row_key.replace(b"org,example)/", b"org,example)/wrong")
    sidecar = io.BytesIO()
    uri = f"{first.target_uri}wrong"
    write_sidecar(sidecar, [first._replace(target_uri=uri, row_key=wrong), *rest], lambda: of)
    store.files.write(A + SIDECAR, sidecar.getvalue())
    for cell in cells_of(store, first.row_key):
        store.put(cell._replace(row=wrong), cell.value)


def swap_sidecars(store: StoredThings) -> None:
    one, other = (store.files.read(name + SIDECAR) for name in (A, B))
    store.files.write(A + SIDECAR, other)
    store.files.write(B + SIDECAR, one)


@pytest.mark.parametrize(
    ("harm", "codes"),
    [
        (shift_row, ["location"]),
        (read_otherwise, ["location"]),
        (swap_sidecars, ["sidecar-other"] * 2),
    ],
    ids=["shifted row", "sidecar and a row too many", "swapped sidecars"],
)
def test_repairs_are_undone_and_done_again(
    store: StoredThings, harm: Callable[[StoredThings], None], codes: list[str]
) -> None:
    """HBase hides what is put at the time of a delete: what was deleted comes back later."""
    before = state(store)
    harm(store)
    harmed = state(store)
    found, repairs = mend(store)
    assert found == codes
    assert state(store) == before
    assert fsck(store, "--full") == []
    assert [one["id"] for one in fsck(store, "--quarantine")] == repairs
    undone = [fsck(store, "--undo", repair)[0]["repair"] for repair in reversed(repairs)]
    assert state(store) == harmed
    for repair in reversed(undone):
        fsck(store, "--undo", repair)
    assert state(store) == before
    assert fsck(store, "--full") == []
    assert all(one["deleted"] for one in fsck(store, "--discard", "all", "--yes"))
    assert kept(store) == []
    assert state(store) == before


def test_rows_of_a_file_that_is_gone_come_back(store: StoredThings) -> None:
    for name in (B, B + SIDECAR):
        store.files.delete(name)
    store.delete_row("files", B.encode())
    harmed = state(store)
    for _ in range(2):  # each time HBase has more deletes to hide rows by
        codes, [repair] = mend(store)
        assert codes == ["rows-alone"]
        assert state(store) != harmed
        assert fsck(store, "--full") == []
        [stays] = fsck(store, "--discard", "all", "--yes", code=3)
        assert stays["stays"] == f"{B} has not landed"
        fsck(store, "--undo", repair)
        assert state(store) == harmed
    assert kept(store) == []


def test_a_lost_row_is_written_again(store: StoredThings) -> None:
    """The delete hides what is put at the row's old time; what is only added is not kept."""
    before = state(store)
    key = rows_of(store, A)[1].row_key
    assert key is not None
    store.delete_row("captures", key)
    assert mend(store) == (["rows-missing"], [])
    assert state(store) == before
    assert (fsck(store, "--full"), kept(store)) == ([], [])


def test_a_cut_file_is_left_until_it_is_put_back(store: StoredThings) -> None:
    before = state(store)
    whole = store.files.read(A)
    store.files.write(A, whole[: len(whole) // 2])
    harmed = state(store)
    assert mend(store) == (["checksum"], [])
    assert (state(store), kept(store)) == (harmed, [])
    store.files.write(A, whole)
    assert fsck(store, "--full") == []
    assert state(store) == before


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_damage_is_accepted_and_taken_back(place: Cluster, tmp_path: Path, form: str) -> None:
    store = lay(place, tmp_path, form=form)
    before, file = state(store), f"one/{FORMS[form][0]}"
    whole = store.files.read(file)
    row = rows_of(store, file)[HARMED]
    rotten = flipped(whole, row.offset + row.length // 2)
    store.files.write(file, rotten)
    assert mend(store) == (["checksum"], [])
    [accepted] = fsck(store, "--accept", file)
    assert (accepted["before"], accepted["lost"], accepted["altered"]) == (PAGES, 0, 1)
    assert [one["ordinal"] for one in accepted["named"]] == [HARMED]
    assert fsck(store, "--full") == []
    assert store.files.read(file) == rotten
    names = kept(store)
    [stays] = fsck(store, "--discard", "all", "--yes", code=3)
    assert "only this describes the records" in stays["stays"]
    assert kept(store) == names
    store.files.write(file, whole)
    assert [one["code"] for one in fsck(store, "--full", code=1)] == ["checksum"]
    fsck(store, "--undo", accepted["repair"])
    assert fsck(store, "--full") == []
    assert state(store) == before


def test_a_last_copy_is_not_discarded(store: StoredThings) -> None:
    """Copies of dead landings: one begins as a file that has landed, one is of no file."""
    of_none = body(99)
    asides = {
        ".landing/01.copy/0": store.files.read(A)[:-100],
        ".landing/02.copy/0": of_none,
    }
    for name, content in asides.items():
        store.files.write(name, content)
    harmed = state(store)
    codes, repairs = mend(store)
    assert (codes, len(repairs)) == (["aside"] * 2, 2)
    for repair in repairs:
        fsck(store, "--undo", repair)
    assert state(store) == harmed
    mend(store)
    said = fsck(store, "--discard", "all", "--yes", code=3)
    assert sorted(one["deleted"] for one in said) == [False, True]
    [stays] = fsck(store, "--quarantine")
    left = {name: store.files.read(name) for name in kept(store)}
    assert all(name.startswith(f"{QUARANTINE}/{stays['id']}/") for name in left)
    assert of_none in left.values()
    assert fsck(store, "--full") == []
