"""fsck takes nothing from an original that has another body than the revisit stands for.

Judged by the rows' values, the sidecars' bytes, and what `withdraw` finds by digest.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_builders import FORMS
from landed_stores import LandedStore, page, sha1_of

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import readable_capture
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, read_sidecar_of, write_sidecar
from pinakes.cli import main
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.undoing import Undoer

PAGES, HARMED = 5, 2
SEVERAL = 3
FIRST, LATER = "2020-01-02T03:04:05Z", "2021-01-02T03:04:05Z"
DEPTHS: dict[str, dict[str, bool]] = {"default": {}, "full": {"full": True}}
Found = list[tuple[str, str, str]]


def body(number: int) -> bytes:
    return random.Random(number).randbytes(1000).hex().encode()


def member(number: int, date: str, form: str, *, is_declared: bool, altered: bytes = b"") -> bytes:
    """A page; `altered` is what it has for a body once it is."""
    content = body(number)
    extra = [("WARC-Payload-Digest", sha1_of(content))] if is_declared else []
    uri = f"http://example.org/{number}"
    return FORMS[form](page(uri, altered or content, date=date, extra=extra))


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["declared", "bare"])
def is_declared(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def store(tmp_path: Path, form: str, is_declared: bool) -> Iterator[LandedStore]:
    """A crawl of originals, and one whose records refer to them."""
    made = LandedStore(tmp_path / "store")
    for crawl, date in (("one", FIRST), ("two", LATER)):
        pages = [member(n, date, form, is_declared=is_declared) for n in range(PAGES)]
        made.land(crawl, f"a.{form}", *pages)
    assert main(["dedupe", "--store", str(made.folder), "--all"]) == 0
    assert read_entry(made.rows, f"two/a.{form}").generation == 2
    assert look(made, full=True) == []
    yield made
    made.close()


def look(store: LandedStore, *, repair: bool = False, **depth: bool) -> Found:
    found = []
    for finding in Fsck(store.rows, store.archive, Actor(), **depth).findings():
        found.append((finding.code, finding.file, finding.message))
        if repair and finding.mend is not None:
            finding.mend()
    return found


def accept_altered(store: LandedStore, form: str, altered: bytes, *, is_declared: bool) -> str:
    """The originals' file with one of another body, whole by every checksum.  Returns the id of the
    repair."""
    pages = [
        member(n, FIRST, form, is_declared=is_declared, altered=altered if n == HARMED else b"")
        for n in range(PAGES)
    ]
    store.path_of(f"one/a.{form}").write_bytes(b"".join(pages))
    accepted = Fsck(store.rows, store.archive, Actor()).accept(f"one/a.{form}")
    assert (accepted.losses.lost, accepted.losses.altered) == (0, 1)
    assert accepted.repair is not None
    return accepted.repair


def put_back(store: LandedStore, form: str, repair: str, *, is_declared: bool) -> None:
    """The right file, and what was known of it before the acceptance."""
    pages = [member(n, FIRST, form, is_declared=is_declared) for n in range(PAGES)]
    store.path_of(f"one/a.{form}").write_bytes(b"".join(pages))
    assert Undoer(store.rows, store.archive, Actor()).undo(repair).is_whole


def flipped(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


ALTERED = {
    "one bit": flipped(body(HARMED)),
    "of another length": body(HARMED)[:-7],
    "that of another page": body(HARMED + 1),
}


def of_revisits(store: LandedStore, form: str) -> dict[object, object]:
    """Rows and sidecar of the revisits' file."""
    found: dict[object, object] = {
        (row.key, column): cell.value
        for row in store.rows.scan("captures")
        for column, cell in row.cells.items()
        if b" 2021" in row.key
    }
    found |= {
        (row.key, column): cell.value
        for row in store.rows.scan("digests")
        for column, cell in row.cells.items()
        if b" 2021" in row.key
    }
    sidecar = store.path_of(f"two/g2/a.{form}.sidecar.parquet")
    return found | {"sidecar": sidecar.read_bytes()}


def says_other_body(found: Found, form: str) -> bool:
    [(code, file, message)] = found
    return (code, file) == ("reference", f"two/g2/a.{form}") and message.endswith(
        " has another body"
    )


@pytest.mark.parametrize("altered", ALTERED.values(), ids=ALTERED)
def test_no_cell_is_derived_from_another_body(
    store: LandedStore, form: str, is_declared: bool, altered: bytes
) -> None:
    before = of_revisits(store, form)
    assert len(before) > PAGES * 2
    repair = accept_altered(store, form, altered, is_declared=is_declared)
    for depth in DEPTHS.values():
        for is_repairing in (False, True, False):
            assert says_other_body(look(store, repair=is_repairing, **depth), form)
    assert look(store, quick=True) == []
    assert of_revisits(store, form) == before
    put_back(store, form, repair, is_declared=is_declared)
    assert look(store, full=True) == []
    assert of_revisits(store, form) == before


def test_what_an_old_generation_mends_is_right(
    store: LandedStore, form: str, is_declared: bool
) -> None:
    accept_altered(store, form, flipped(body(HARMED)), is_declared=is_declared)
    look(store, repair=True, full=True)
    mending = ["dedupe", "--all", "--drop-old", "--grace", "0"]
    assert main([*mending, "--store", str(store.folder)]) == SEVERAL
    assert read_entry(store.rows, f"two/a.{form}").generation == SEVERAL
    assert look(store, full=True) == []


def test_withdraw_finds_revisits_by_their_digest(
    store: LandedStore,
    form: str,
    is_declared: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    accept_altered(store, form, flipped(body(HARMED)), is_declared=is_declared)
    look(store, repair=True, full=True)
    words = ["withdraw", sha1_of(body(HARMED)), "--reason", "x", "--dry-run"]
    assert main([*words, "--store", str(store.folder)]) == 0
    assert "would be withdrawn; 1 capture" in "".join(capfd.readouterr())


@pytest.mark.parametrize("form", ["warc"], indirect=True)
@pytest.mark.parametrize("is_declared", [True], indirect=True)
def test_digests_that_older_versions_took_from_it_are_found(store: LandedStore, form: str) -> None:
    """Sidecar and rows agree with the altered original, not with what the revisit declares."""
    altered = flipped(body(HARMED))
    before = of_revisits(store, form)
    repair = accept_altered(store, form, altered, is_declared=True)
    [original] = [
        facts
        for row in store.rows.scan("captures")
        if (capture := readable_capture(row)) is not None
        and (facts := capture.facts).target_uri == f"http://example.org/{HARMED}"
        and facts.date == FIRST
    ]
    path = str(store.path_of(f"two/g2/a.{form}.sidecar.parquet"))
    of = read_sidecar_of(path)
    rows = [falsified(row, altered) for row in read_sidecar(path)]
    with open(path, "wb") as file:
        write_sidecar(file, rows, lambda: of)  # type: ignore[arg-type, return-value]
    assert original.payload_sha1 == sha1_of(altered)
    assert ("reference", True) in {
        (code, message.endswith(" has another body")) for code, _, message in look(store)
    }
    # Its right body gives the right digests back.
    put_back(store, form, repair, is_declared=True)
    look(store, repair=True, full=True)
    assert look(store, full=True) == []
    after = of_revisits(store, form)
    assert {**after, "sidecar": b""} == {**before, "sidecar": b""}


def falsified(row: SidecarRow, content: bytes) -> SidecarRow:
    if row.ordinal != HARMED:
        return row
    return row._replace(
        sha1=hashlib.sha1(content).digest(),
        sha256=hashlib.sha256(content).digest(),
    )
