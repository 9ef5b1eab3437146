"""warcio and jwarc report nothing on what refs wrote that they did not report before.

Record by record, over generated kinds and real archives: the records of a file keep their
number and order, so what a checker says of the n-th is set against what it said of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from replayed_set import replayed_files
from warc_sets import plan, records_of, refs, write_set
from warcio.archiveiterator import ArchiveIterator

pytestmark = pytest.mark.slow
COMPLAINT = re.compile("error|fail|invalid|exception|missing|not ", re.IGNORECASE)
NO_COMPLAINT = re.compile(r" *(https?:|HTTP|dns:|Failed to validate)")
Complaints = dict[str, list[set[str]]]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("generated")
    paths = write_set(folder / "before", replayed_files())
    assert refs(paths, plan(paths, resources=True), folder / "after").records > 30
    return folder / "before", folder / "after"


@pytest.fixture(scope="module")
def real(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The real archives that refs changes, and what it made of them."""
    folder = tmp_path_factory.mktemp("real")
    before, after = folder / "before", folder / "after"
    before.mkdir()
    found = sorted(
        path
        for pattern in ("*.warc", "*.warc.gz")
        for path in (shared_data / "archives").rglob(pattern)
        if "_oracle" not in path.parts
    )
    for number, path in enumerate(found):
        shutil.copyfile(path, before / f"{number:03d}-{path.name}")
    paths = sorted(before.iterdir())
    assert refs(paths, plan(paths), after).records > 50
    for path in paths:
        if (after / path.name).read_bytes() == path.read_bytes():
            path.unlink()
            (after / path.name).unlink()
    assert len(list(before.iterdir())) > 5
    return before, after


@pytest.fixture(params=["generated", "real"])
def both(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    return request.getfixturevalue(request.param)


def run(command: Sequence[object], folder: Path) -> str:
    """What the checker prints of each file, and a line `GAVE UP` where it went no further."""
    printed = []
    for path in sorted(folder.iterdir()):
        # jwarc goes on to no file behind a faulty one.
        done = subprocess.run(
            [*map(str, command), path.name], cwd=folder, capture_output=True, check=False
        )
        assert done.returncode in (0, 1)
        assert b"Traceback" not in done.stderr
        printed.append(done.stdout.decode("utf-8", "replace"))
        if b"Exception" in done.stderr:
            printed.append(f"{path.name}: offset 0 (gave up)\n    ERROR: GAVE UP\n")
    return "".join(printed)


def jwarc_says(output: str) -> Complaints:
    """What `jwarc validate -v` finds wrong with each record."""
    said: Complaints = {}
    current: set[str] = set()
    for line in output.splitlines():
        start = re.match(r"(\S+): +offset (\d+) ", line)
        if start:
            current = set()
            said.setdefault(start[1], []).append(current)
        elif COMPLAINT.search(line) and not NO_COMPLAINT.match(line):
            current.add(line.strip())
    return said


def warcio_says(output: str) -> Complaints:
    """What `warcio check -v` finds wrong with each record."""
    said: Complaints = {}
    name = ""
    for line in output.splitlines():
        if not line.startswith(" "):
            name = line
        elif line.startswith("  offset "):
            said.setdefault(name, []).append(set())
        elif "fail" in line or "fail" in line.lower():
            said[name][-1].add(line.strip())
    return said


def check_no_more(before: Complaints, after: Complaints, folder: Path) -> int:
    """Each record's complaints after are some of those before; the number of records."""
    assert before.keys() == after.keys()
    count = 0
    for name, said in after.items():
        assert len(said) == len(before[name])
        gave_up = any("GAVE UP" in complaint for complaint in said[-1])
        assert gave_up or len(said) == len(records_of(folder / name))
        for number, (old, new) in enumerate(zip(before[name], said, strict=True)):
            assert new <= old, (name, number)
            count += 1
    return count


def test_jwarc_finds_no_more(both: tuple[Path, Path], jwarc: list[str]) -> None:
    before, after = (
        jwarc_says(run([*jwarc, "validate", "-v", "-j", "1"], folder)) for folder in both
    )
    assert check_no_more(before, after, both[1]) > 50


def test_warcio_check_finds_no_more(both: tuple[Path, Path], peer_tools: Path) -> None:
    before, after = (
        warcio_says(run([peer_tools / "warcio", "check", "-v"], folder)) for folder in both
    )
    assert check_no_more(before, after, both[1]) > 50


def test_warcio_reads_every_record(both: tuple[Path, Path]) -> None:
    """Types, ids and blocks as we read them; and of a revisit, its HTTP head."""
    for path in sorted(both[1].iterdir()):
        with path.open("rb") as file:
            for record, ours in zip(ArchiveIterator(file), records_of(path), strict=True):
                assert record.rec_type == ours.type
                if ours.type == "revisit" and ours.http is not None and ours.http.raw:
                    assert record.http_headers.get_statuscode() == str(ours.http.status)
                record.content_stream().read()


FINDERS: dict[str, Callable[[str], Complaints]] = {
    "a.warc:   offset 0 (length 9) response x\n    payload digest failed\n": jwarc_says,
    "a.warc:   offset 0 (length 9) response x\n    ERROR: invalid HTTP header\n": jwarc_says,
    "a.warc\n  offset 0 WARC-Record-ID <x> response\n    payload digest failed: y\n": warcio_says,
}


@pytest.mark.parametrize("output", FINDERS)
def test_a_complaint_is_seen(output: str) -> None:
    assert [len(found) for found in FINDERS[output](output)["a.warc"]] == [1]
