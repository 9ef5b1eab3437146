"""What rows have lost, or a damaged file: acts name it, and leave or make nothing half."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from rows_of_before import BODY, DEDUPE, DROP, Site

pytestmark = pytest.mark.slow
DIGEST = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
WITHDRAW = ("withdraw", DIGEST, "--reason", "asked", "--by", "me")


@pytest.fixture(params=["gzip", "plain"])
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    site = Site(tmp_path, request.param)
    site.make()
    return site


def change(site: Site, statement: str) -> None:
    with closing(sqlite3.connect(site.store / "rows.sqlite")) as rows, rows:
        assert rows.execute(statement).rowcount


def whole_records(path: Path) -> int:
    """The records of a plain file, each with its end (ISO 28500:2017, 4)."""
    data, at, count = path.read_bytes(), 0, 0
    while at < len(data):
        head = data.index(b"\r\n\r\n", at) + 4
        length = re.search(rb"Content-Length: *(\d+)", data[at:head])
        assert length is not None
        end = head + int(length[1])
        assert data[end : end + 4] == b"\r\n\r\n"
        at, count = end + 4, count + 1
    return count


@pytest.mark.parametrize(
    "lost",
    [
        "DELETE FROM captures WHERE CAST(row AS TEXT) LIKE 'org,example)/2 %'",
        "DELETE FROM digests WHERE CAST(value AS TEXT) LIKE '%example)/2 %'",
    ],
    ids=["captures", "digests"],
)
def test_a_capture_that_rows_do_not_lead_to_is_not_left(site: Site, lost: str) -> None:
    change(site, lost)
    before = site.files()
    assert "of which rows are lost" in site.call(*WITHDRAW, code=3)
    assert "of which rows are lost" in site.call(*WITHDRAW, "--plan", code=3)
    assert site.files() == before
    site.call("fsck", "--full", "--repair", code=1)
    site.call(*WITHDRAW)
    assert site.bodies() == 0


def test_a_mended_file_has_whole_records(site: Site) -> None:
    """Nothing is left of the damaged ones, and nothing is missing between them."""
    current = site.file(f"c2/g2/a{site.suffix}")
    current.write_bytes(current.read_bytes()[: current.stat().st_size // 3])
    site.call(*DROP, code=3)
    site.call(*DROP)
    site.call("fsck", "--full", "--repair")
    assert (site.bodies(), site.bodies(BODY[2:] * 2)) == (1, 1)
    if site.suffix == ".warc":
        assert whole_records(site.file("c2/g3/a.warc"))


def test_accepted_damage_is_not_mended(site: Site) -> None:
    """Before, the new sidecar was that of the damaged record."""
    current = site.file(f"c2/g2/a{site.suffix}")
    rotten = bytearray(current.read_bytes())
    rotten[-400] ^= 4
    current.write_bytes(rotten)
    said = site.call("fsck", "--accept", f"c2/a{site.suffix}")
    before = site.files()
    assert "its damage was accepted" in site.call(*DROP, code=3)
    assert site.files().items() >= {k: v for k, v in before.items() if "/c2/" in k}.items()
    repair = re.search(r"--undo (\S+)", said)
    assert repair is not None
    site.call("fsck", "--undo", repair[1])
    assert "mended" in site.call(*DROP, code=3)
    site.call(*DROP)
    assert "nothing found" in site.call("fsck", "--full")


def test_a_current_generation_that_cannot_be_is_named_and_mended(site: Site) -> None:
    change(
        site,
        "UPDATE files SET value = CAST(REPLACE(CAST(value AS TEXT), '\"generation\":2', "
        "'\"generation\":0') AS BLOB) WHERE CAST(col AS TEXT) = 'l:generation' "
        "AND CAST(row AS TEXT) LIKE 'c2/%'",
    )
    for words in (DEDUPE, WITHDRAW):
        assert f"row c2/a{site.suffix}, column l:generation" in site.call(*words, code=3)
    assert "files l:generation cannot be read" in site.call("fsck", "--repair", code=1)
    site.call("fsck", "--full")
    for words in (DEDUPE, WITHDRAW):
        site.call(*words)


@pytest.mark.parametrize("how", ["--quick", "--full", "--seed=1"])
def test_a_row_that_cannot_be_read_ends_no_check_but_of_what_leads_to_it(
    site: Site, how: str
) -> None:
    """It ended all, or was taken for the sidecar's damage, which was mended without end."""
    change(
        site,
        "UPDATE files SET value = CAST('{\"v*' AS BLOB) WHERE CAST(row AS TEXT) LIKE 'c1/%' "
        "AND CAST(col AS TEXT) IN ('f:facts', 'f:generation.1')",
    )
    lose = site.file(f"c2/g2/a{site.suffix}.sidecar.parquet")
    lose.rename(lose.with_suffix(".away"))
    said = site.call("fsck", how, "--repair", code=1)
    assert f"c1/a{site.suffix}: unreadable-row: files f:facts cannot be read" in said
    assert f"c2/g2/a{site.suffix}: sidecar-missing" in said
    said = site.call("fsck", how, "--repair", code=1)
    assert f"c2/g2/a{site.suffix}: cell: not checked to its end: table files, row c1/a" in said
