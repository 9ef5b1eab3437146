"""fsck --accept names the records that are lost or altered, and leaves nothing to be found."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_builders import FORMS
from fsck_here import look
from landed_stores import LandedStore, page

from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.ingest.fsck.accepting import Losses
from pinakes.ingest.fsck.check import Fsck

PAGES = 8
HARMED = 3
"""The record that is damaged."""


def uri(number: int) -> str:
    return f"http://example.org/{number}"


def member(number: int, *, date: str = "2020-01-02T03:04:05Z") -> bytes:
    """Most of its body does not compress, so that the middle of the record is body."""
    return page(uri(number), b"words " * 60 + random.Random(number).randbytes(2000), date=date)


@pytest.fixture(params=FORMS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(tmp_path: Path, ending: str) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", f"a.{ending}", *(FORMS[ending](member(n)) for n in range(PAGES)))
    yield made
    made.close()


def accept(store: LandedStore, file: str) -> Losses:
    return Fsck(store.rows, store.archive, Actor()).accept(file).losses


def spoil(path: Path, at: int) -> None:
    """Flip one bit."""
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)


def middle_of(ending: str, number: int) -> int:
    """The offset of the middle of a record: of its body."""
    sizes = [len(FORMS[ending](member(n))) for n in range(number + 1)]
    return sum(sizes[:-1]) + sizes[-1] // 2


def named(losses: Losses) -> list[tuple[int, str | None, bool]]:
    return [(one.ordinal, one.target_uri, one.altered) for one in losses.named]


def digests_of(store: LandedStore, number: int) -> set[tuple[str | None, str | None]]:
    """Of the captures of a page: the CDX digest, and the SHA-256."""
    facts = [
        json.loads(row.cells[CaptureFacts.COLUMN].value)
        for row in store.rows.scan("captures")
        if CaptureFacts.COLUMN in row.cells
    ]
    return {
        (one.get("digest"), one.get("payload_sha256")) for one in facts if one["url"] == uri(number)
    }


@pytest.mark.parametrize("sidecar", ["there", "lost", "spoiled"])
def test_one_altered_record_is_named(store: LandedStore, ending: str, sidecar: str) -> None:
    file = f"one/a.{ending}"
    spoil(store.path_of(file), middle_of(ending, HARMED))
    if sidecar == "lost":
        store.path_of(sidecar_name(file)).unlink()
    elif sidecar == "spoiled":
        store.path_of(sidecar_name(file)).write_bytes(b"PAR1 no more")
    losses = accept(store, file)
    assert (losses.before, losses.lost, losses.altered, losses.new) == (PAGES, 0, 1, 0)
    assert named(losses) == [(HARMED, uri(HARMED), True)]
    assert look(store, full=True) == []
    if ending != "warc":  # it did not decode whole
        assert digests_of(store, HARMED) == {(None, None)}


def test_another_file_altogether_loses_all(store: LandedStore, ending: str) -> None:
    file = f"one/a.{ending}"
    store.land("two", f"b.{ending}", *(FORMS[ending](member(n)) for n in range(20, 23)))
    store.path_of(file).write_bytes(store.path_of(f"two/b.{ending}").read_bytes())
    losses = accept(store, file)
    assert (losses.before, losses.lost, losses.altered, losses.new) == (PAGES, PAGES, 0, 3)
    assert named(losses) == [(n, uri(n), False) for n in range(PAGES)]
    assert look(store, full=True) == []


def test_a_lost_record_between_others_is_named_alone(store: LandedStore, ending: str) -> None:
    """As many records as before: one is another's."""
    file = f"one/a.{ending}"
    numbers = [50 if n == HARMED else n for n in range(PAGES)]
    store.path_of(file).write_bytes(b"".join(FORMS[ending](member(n)) for n in numbers))
    losses = accept(store, file)
    assert (losses.before, losses.lost, losses.altered, losses.new) == (PAGES, 1, 0, 1)
    assert named(losses) == [(HARMED, uri(HARMED), False)]
    assert look(store, full=True) == []


def test_very_many_are_counted(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc.gz", *(member(n) for n in range(50)))
    store.path_of("one/a.warc.gz").write_bytes(member(0))
    losses = accept(store, "one/a.warc.gz")
    assert (losses.before, losses.lost, len(losses.named)) == (50, 49, 20)
    store.close()


@pytest.fixture
def rewritten(tmp_path: Path) -> Iterator[LandedStore]:
    """The originals' file in Zstandard; another crawl has revisits that refer to it."""
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", *(member(n) for n in range(PAGES)))
    later = "2021-01-02T03:04:05Z"
    made.land("two", "b.warc.gz", *(member(n, date=later) for n in range(PAGES)))
    folder = str(made.folder)
    assert main(["dedupe", "--store", folder, "--all"]) == 0
    assert main(["zstd", "compress", "--store", folder, "one"]) == 0
    assert read_entry(made.rows, "one/a.warc.gz").stored_name == "one/g2-gz/a.warc.zst"
    assert read_entry(made.rows, "two/b.warc.gz").generation == 2
    assert look(made, full=True) == []
    yield made
    made.close()


def zst_places(store: LandedStore) -> list[int]:
    """Where its frames begin."""
    data = store.path_of("one/g2-gz/a.warc.zst").read_bytes()
    return [at for at in range(len(data)) if data.startswith(b"\x28\xb5\x2f\xfd", at)]


def rows_of_two(store: LandedStore) -> dict[tuple[bytes, bytes], bytes]:
    return {
        (row.key, column): cell.value
        for row in store.rows.scan("captures")
        for column, cell in row.cells.items()
        if b" 2021" in row.key
    }


def test_a_recompressed_generation_is_accepted_whole(rewritten: LandedStore) -> None:
    before = rows_of_two(rewritten)
    start, end = zst_places(rewritten)[HARMED : HARMED + 2]
    spoil(rewritten.path_of("one/g2-gz/a.warc.zst"), (start + end) // 2)
    losses = accept(rewritten, "one/a.warc.gz")
    assert named(losses) == [(HARMED, uri(HARMED), True)]
    for _ in range(2):
        # Only the revisit is named whose original does not decode any more.
        found = [(one.code, one.file, one.mend) for one in look(rewritten, repair=True, full=True)]
        assert found == [("reference", "two/g2/b.warc.gz", None)]
    assert rows_of_two(rewritten) == before
    of_original, of_revisit = sorted(digests_of(rewritten, HARMED), key=str)
    assert None in (of_original[0], of_revisit[0])


def test_references_follow_records_that_have_another_number(rewritten: LandedStore) -> None:
    """A frame is lost: those behind it are proven by their bytes, and found again."""
    path = rewritten.path_of("one/g2-gz/a.warc.zst")
    start, end = zst_places(rewritten)[HARMED : HARMED + 2]
    data = path.read_bytes()
    path.write_bytes(data[:start] + data[end:])
    losses = accept(rewritten, "one/a.warc.gz")
    assert named(losses) == [(HARMED, uri(HARMED), False)]
    look(rewritten, repair=True, full=True)
    found = [(one.code, one.file) for one in look(rewritten, full=True)]
    assert found == [("reference", "two/g2/b.warc.gz")]


def test_revisits_of_a_damaged_file_keep_their_originals(rewritten: LandedStore) -> None:
    path = rewritten.path_of("two/g2/b.warc.gz")
    data = path.read_bytes()
    at = [n for n in range(len(data)) if data.startswith(b"\x1f\x8b\x08", n)]
    path.write_bytes(data[: at[HARMED]] + data[at[HARMED + 1] :])
    losses = accept(rewritten, "two/b.warc.gz")
    assert (losses.before, losses.lost, losses.altered) == (PAGES, 1, 0)
    assert look(rewritten, full=True) == []


def test_a_strange_record_between_others_costs_them_nothing(rewritten: LandedStore) -> None:
    """Those behind it are known by their rows before, which alone name their originals."""
    path = rewritten.path_of("two/g2/b.warc.gz")
    data = path.read_bytes()
    at = [n for n in range(len(data)) if data.startswith(b"\x1f\x8b\x08", n)][HARMED]
    path.write_bytes(data[:at] + FORMS["warc.gz"](member(50)) + data[at:])
    losses = accept(rewritten, "two/b.warc.gz")
    assert (losses.before, losses.lost, losses.altered, losses.new) == (PAGES, 0, 0, 1)
    assert look(rewritten, full=True) == []


def test_the_verb_names_them(
    store: LandedStore, ending: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = f"one/a.{ending}"
    spoil(store.path_of(file), middle_of(ending, HARMED))
    assert main(["fsck", "--store", str(store.folder), "--accept", file]) == 0
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith(f"{file}: accepted: of 8 records, 0 lost, 1 altered; undo: ")
    assert second.startswith(f"{file}: altered: record {HARMED}: urn:uuid:")
    assert second.endswith(f" {uri(HARMED)} 2020-01-02T03:04:05Z")
