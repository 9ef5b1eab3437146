"""An original rots in the store: what the last whole copy held is still there after `dedupe`."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from rotten import dangling_in, flipped, whole_contents
from steps_here import run_by
from verbs_here import call_here
from warc_sets import OTHER, ArchiveFile, Rec, write_set

from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

pytestmark = pytest.mark.slow
# Larger than what is read of a member for its head.
BODY = random.Random(48).randbytes(6000)
COPIES = {"c1": ("1", "2020-01-01T00:00:00Z"), "c2": ("2", "2021-01-01T00:00:00Z")}
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")
HOWS = {
    "bytes": (),
    "sha256": ("--compare", "sha256"),
    "none": ("--compare", "none"),
    "two processes": ("--compare", "none", "-j", "2"),
    "jobs": ("--compare", "none", "--runner", "inline"),
}
# Each way on gzip, and each layout; all of both are for `make test-large`.
CASES = [
    pytest.param(
        layout,
        how,
        id=f"{layout}-{name}",
        marks=[] if layout == "gzip" or name == "bytes" else pytest.mark.large,
    )
    for layout in ("gzip", "frames", "plain")
    for name, how in HOWS.items()
]


def land(folder: Path, layout: str) -> Path:
    """A store of two crawls; the second has two copies of what the first has."""
    store = folder / "store"
    call(folder, "init")
    for crawl, (number, date) in COPIES.items():
        uris = [f"http://example.org/{number}", f"http://example.org/{number}/again"]
        copies = [Rec(uri=uri, date=date, body=BODY) for uri in uris[: int(number)]]
        other = Rec(uri=f"http://example.org/other/{number}", date=date, body=OTHER * int(number))
        write_set(folder / crawl, [ArchiveFile("a", [*copies, other], layout, int(number) * 10)])
        call(folder, "ingest", str(folder / crawl), "--crawl", crawl)
    return store


def call(folder: Path, *words: str, code: int = 0) -> tuple[str, str]:
    done = call_here(folder, *words, "--store", str(folder / "store"), "--json")
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def archive_files(store: Path) -> list[Path]:
    names = re.compile(r".*\.warc(\.gz|\.zst)?\Z")
    return sorted(path for path in (store / "archive").rglob("*") if names.match(path.name))


@pytest.mark.parametrize(("layout", "how"), CASES)
def test_the_last_whole_copy_stays(layout: str, how: tuple[str, ...], tmp_path: Path) -> None:
    land(tmp_path, layout)
    store, kept = tmp_path / "store", tmp_path / "kept"
    [rotting] = (path for path in archive_files(store) if path.parent.name == "c1")
    sound = rotting.read_bytes()
    with open_source(rotting) as source:
        first, *_ = (item for item in iter_records(source) if isinstance(item, Record))
    shutil.copytree(store, kept)
    for at in (first.offset + first.length // 2, first.offset + first.length - 5):
        shutil.rmtree(store)
        shutil.copytree(kept, store)
        rotting.write_bytes(flipped(sound, at))
        with run_by("here"):
            out, err = call(tmp_path, *DEDUPE, *how, code=3)
        report = json.loads(out.splitlines()[-1])
        assert report["revisits"] in (0, 1)
        assert f"{rotting.name}:{first.offset}: " in err
        call(tmp_path, *DEDUPE, "--drop-old", "--grace", "0", *how, code=3)
        contents = whole_contents(archive_files(store))
        assert any(BODY in content for content in contents)
        assert dangling_in(contents) == set()
        assert rotting.read_bytes() != sound
