"""Rows that are older than the files: an act replaces no later generation on their word."""

from __future__ import annotations

import gzip
import hashlib
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import pytest
from rows_of_before import BODY, DEDUPE, DROP, Site

pytestmark = pytest.mark.slow


def members_of(wacz: Path) -> list[bytes]:
    with ZipFile(wacz) as package:
        names = [name for name in package.namelist() if name.endswith(".gz")]
        return [gzip.decompress(package.read(name)) for name in names]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with its old generations, to be copied."""
    folder = tmp_path_factory.mktemp("made")
    Site(folder).make()
    return folder


@pytest.fixture(scope="module")
def dropped(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without them."""
    folder = tmp_path_factory.mktemp("dropped") / "site"
    shutil.copytree(made, folder)
    Site(folder).call(*DROP)
    return folder


@pytest.fixture
def site(dropped: Path, tmp_path: Path) -> Site:
    shutil.copytree(dropped, tmp_path, dirs_exist_ok=True)
    return Site(tmp_path)


ACTS = {
    "zstd": ("zstd", "decompress", "c2", "--again"),
    "dedupe": DEDUPE,
    "withdraw": ("withdraw", "http://example.org/2/other", "--reason", "asked", "--by", "me"),
    "purge": ("crawl", "purge", "c2", "--references", "promote"),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_the_only_whole_copy_is_in_a_generation_that_they_do_not_know(
    site: Site, act: tuple[str, ...]
) -> None:
    old, revisits = site.rows(), site.file("c2/g2/a.warc.gz")
    kept = {path: path.read_bytes() for path in revisits.parent.iterdir()}
    site.call("crawl", "purge", "c1", "--references", "promote")
    assert (site.bodies(), site.file("c2/g3/a.warc.gz").exists()) == (1, True)
    site.put_back(old)
    for path, data in kept.items():
        path.write_bytes(data)
    before = site.files()
    site.call(*act, code=3)
    assert site.files().items() >= before.items()
    assert site.bodies() == 1


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_what_was_withdrawn_since_stays_withdrawn(site: Site, act: tuple[str, ...]) -> None:
    old, before = site.rows(), site.file("c2/g2/a.warc.gz")
    kept = {path: path.read_bytes() for path in before.parent.iterdir()}
    site.call("withdraw", "http://example.org/2", "--reason", "asked", "--by", "me")
    later = site.file("c2/g3/a.warc.gz")
    sha256 = hashlib.sha256(later.read_bytes()).hexdigest()
    site.put_back(old)
    for path, data in kept.items():
        path.write_bytes(data)
    site.call(*act, code=3)
    assert hashlib.sha256(later.read_bytes()).hexdigest() == sha256


@pytest.mark.parametrize(
    "act",
    [("zstd", "compress", "c2", "--min-file-saving", "0"), ACTS["dedupe"]],
    ids=["zstd", "dedupe"],
)
def test_a_later_generation_that_holds_nothing_more_stays(
    made: Path, tmp_path: Path, act: tuple[str, ...]
) -> None:
    """The rows that know it may come back."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    site = Site(tmp_path)
    newer = site.rows()
    site.put_back(tmp_path / "landed.sqlite")
    before = site.files()
    assert any("/g2/" in name for name in before)
    site.call(*act, code=3)
    assert site.files().items() >= before.items()
    site.put_back(newer)
    assert "nothing found" in site.call("fsck", "--full")


@pytest.mark.parametrize("verb", ["backup", "fsck"])
def test_they_are_named(site: Site, verb: str) -> None:
    old = site.rows()
    site.call("withdraw", "http://example.org/2", "--reason", "asked", "--by", "me")
    site.put_back(old)
    words = ("backup", str(site.folder / "backup")) if verb == "backup" else ("fsck",)
    assert "c2/g3/a.warc.gz: " in site.call(*words, code=3 if verb == "backup" else 1)


def lose(site: Site, column: bytes, row: bytes = b"c2/a.warc.gz") -> None:
    with closing(sqlite3.connect(site.store / "rows.sqlite")) as rows, rows:
        done = rows.execute("DELETE FROM files WHERE row=? AND col=?", (row, column))
        assert done.rowcount


LOST = {
    "state": b"l:state",
    "current": b"l:generation",
    "facts": b"f:generation.2",
    "what landed": b"f:facts",
}
# Who rewrites nothing of a file does not ask what it was; a crawl goes with all its files.
NOT_ASKED = {("dedupe", "facts"), ("purge", "facts")}
ASKED = [(act, lost) for act in ACTS for lost in LOST if (act, lost) not in NOT_ASKED]


@pytest.mark.parametrize(("act", "lost"), ASKED)
def test_a_row_that_is_not_whole_is_named(site: Site, act: str, lost: str) -> None:
    lose(site, LOST[lost])
    before = site.files()
    said = site.call(*ACTS[act], code=3)
    assert "c2/a.warc.gz: " in said or "c2/g2/a.warc.gz: " in said
    assert site.files() == before


@pytest.mark.parametrize("column", LOST.values(), ids=LOST)
def test_a_backup_of_it_says_so(site: Site, column: bytes) -> None:
    lose(site, column)
    assert "c2/" in site.call("backup", str(site.folder / "backup"), code=3)


@pytest.mark.parametrize("is_rotten", [False, True])
def test_its_sidecar_says_whether_a_file_is_whole(site: Site, is_rotten: bool) -> None:
    """Of which the rows have lost what it was stored with; nothing is noted on its word alone."""
    lose(site, LOST["facts"])
    file = site.file("c2/g2/a.warc.gz")
    if is_rotten:
        rotten = bytearray(file.read_bytes())
        rotten[len(rotten) // 2] ^= 1
        file.write_bytes(rotten)
    said = site.call("fsck", "--repair", code=1)
    assert ("by its sidecar it had others: put it back" in said) == is_rotten
    assert ("by its sidecar it is whole" in said) != is_rotten
    assert "by its sidecar" not in site.call("fsck", "--quick", code=1)


def test_no_other_generation_is_given_out_in_its_place(site: Site) -> None:
    """What was withdrawn is in the first generation, which was put back from a copy."""
    landed = (site.folder / "c2" / "a.warc.gz").read_bytes()
    site.call("withdraw", "http://example.org/2/other", "--reason", "asked", "--by", "me")
    lose(site, b"l:generation")
    site.file("c2/a.warc.gz").write_bytes(landed)
    gone, wacz = BODY[2:] * 2, site.folder / "c2.wacz"

    def given() -> list[str]:
        events = site.ask("timeline", "http://example.org/2/other").stdout
        events += site.ask("cat", "--payload", "http://example.org/2/other").stdout
        out = [events] if gone.hex()[:60] in events.encode("utf-8", "surrogateescape").hex() else []
        site.ask("export-wacz", "c2", "-o", str(wacz))
        if wacz.exists() and gone in b"".join(members_of(wacz)):
            out.append("wacz")
        return out

    assert given() == []
    site.call("fsck", "--repair", code=1)
    wacz.unlink(missing_ok=True)
    assert given() == []
    assert "generation-back" in site.call("fsck", code=1)


@pytest.mark.parametrize("column", [b"l:state", b"l:generation"])
def test_one_finding_says_what_is_lost_and_is_mended(site: Site, column: bytes) -> None:
    lose(site, column)
    assert re.findall(r": ([a-z-]+): ", site.call("fsck", code=1)) == ["state-lost"]
    site.call("fsck", "--repair", code=1)
    assert "nothing found" in site.call("fsck", "--full")


def test_a_rotten_file_does_not_land_in_its_own_place(site: Site) -> None:
    """What its row still says is not replaced by what it has become."""
    path = site.file("c1/a.warc.gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    lose(site, b"l:state", b"c1/a.warc.gz")
    assert "its SHA-256 is not the one that was stored" in site.call("fsck", code=1)
    (site.folder / "again").mkdir()
    shutil.copy(path, site.folder / "again")
    words = ("ingest", str(site.folder / "again"), "--crawl", "c1")
    assert "other bytes are known as c1/a.warc.gz" in site.call(*words, code=3)
    shutil.copy(site.folder / "c1" / "a.warc.gz", path)
    site.call("fsck", "--repair", code=1)
    assert "nothing found" in site.call("fsck", "--full")


def test_a_damaged_catalogue_is_not_backed_up(site: Site) -> None:
    path = site.store / "rows.sqlite"
    with closing(sqlite3.connect(path)) as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = rows.execute("SELECT max(pageno) FROM dbstat WHERE name='captures'").fetchone()
        (size,) = rows.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    site.call("backup", str(site.folder / "backup"), code=4)


@pytest.mark.parametrize("references", ["promote", "refuse"])
def test_a_crawl_whose_rows_are_lost_does_not_go(site: Site, references: str) -> None:
    """What refers to its records is found by them."""
    with closing(sqlite3.connect(site.store / "rows.sqlite")) as rows, rows:
        done = rows.execute("DELETE FROM captures WHERE CAST(row AS TEXT) LIKE 'org,example)/1 %'")
        assert done.rowcount
    before = site.files()
    said = site.call("crawl", "purge", "c1", "--references", references, code=3)
    assert "c1/a.warc.gz: rows of 1 capture in it are lost" in said
    assert site.files() == before
    site.call("fsck", "--full", "--repair", code=1)
    site.call("crawl", "purge", "c1", "--references", "promote")
    assert site.bodies() == 1
