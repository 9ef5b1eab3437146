"""A stored file of which a bit has flipped is not written anew: the checksum of the new one would
cover the damage, and nothing would tell of it any more."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from rotten import flipped
from steps_here import run_by
from verbs_here import call_here
from warc_sets import ArchiveFile, Rec, write_set

pytestmark = pytest.mark.slow
BODY = random.Random(48).randbytes(6000)
LATER = "http://example.org/later"
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")
DROP = ("--drop-old", "--grace", "0")


def call(folder: Path, *words: str, code: int = 0) -> str:
    done = call_here(folder, *words, "--store", str(folder / "store"))
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


def land(folder: Path) -> None:
    """A store of two crawls: the second has a copy of what the first has, then another record."""
    call(folder, "init")
    for number, uri in enumerate(("http://example.org/first", LATER), start=1):
        date = f"202{number}-01-01T00:00:00Z"
        other = Rec(uri=f"{uri}/other", date=date, body=BODY[number:] * 2)
        records = [Rec(uri=uri, date=date, body=BODY), other]
        write_set(folder / f"c{number}", [ArchiveFile("a", records, "gzip", number * 10)])
        call(folder, "ingest", str(folder / f"c{number}"), "--crawl", f"c{number}")


def stored(folder: Path) -> dict[str, bytes]:
    found = (folder / "store" / "archive").rglob("*")
    files = [path for path in found if path.name.endswith((".warc.gz", ".warc.zst"))]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def rot(folder: Path, name: str) -> Path:
    """Flip a bit of the last record of a file."""
    path = folder / "store" / "archive" / name
    data = path.read_bytes()
    path.write_bytes(flipped(data, len(data) - 3000))
    return path


# What comes before the damage, the file that rots, and the act that would write it anew.
ACTS = {
    "dedupe": ((), "c2/a.warc.gz", DEDUPE),
    "dedupe and drop": ((), "c2/a.warc.gz", (*DEDUPE, *DROP)),
    "two processes": ((), "c2/a.warc.gz", (*DEDUPE, "-j", "2")),
    "jobs": ((), "c2/a.warc.gz", (*DEDUPE, "--runner", "inline")),
    "zstd": ((), "c2/a.warc.gz", ("zstd", "compress", "c2")),
    "withdraw": ((), "c2/a.warc.gz", ("withdraw", LATER, "--reason", "asked")),
    "purge": (
        ((*DEDUPE,), (*DEDUPE, *DROP)),
        "c2/g2/a.warc.gz",
        ("crawl", "purge", "c1", "--references", "promote"),
    ),
}


@pytest.mark.parametrize(("before", "name", "act"), ACTS.values(), ids=ACTS)
def test_rotten_file_is_not_written_anew(
    before: tuple[tuple[str, ...], ...], name: str, act: tuple[str, ...], tmp_path: Path
) -> None:
    land(tmp_path)
    for words in before:
        call(tmp_path, *words)
    path = tmp_path / "store" / "archive" / name
    sound = path.read_bytes()
    rot(tmp_path, name)
    kept = stored(tmp_path)
    with run_by("here"):
        said = call(tmp_path, *act, code=3)
    assert f"{name}: is not what was stored" in re.sub(r"\s+", " ", said)
    assert stored(tmp_path) == kept
    assert f"{name}: checksum: " in call(tmp_path, "fsck", code=1)
    path.write_bytes(sound)
    with run_by("here"):
        call(tmp_path, *act)
    assert stored(tmp_path) != kept
