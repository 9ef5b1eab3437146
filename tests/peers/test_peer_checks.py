"""warcio and jwarc report nothing on what refs wrote that they did not report before.

Record by record, over generated kinds and real archives: the records of a file keep their
number and order, so what a checker says of the n-th is set against what it said of it.
"""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from faulty_warcs import BLOCKS, packed, record, sha1
from replayed_set import KINDS, captures, replayed_files
from warc_sets import copy_real_archives, plan, records_of, refs, validate, write_set
from warcio.archiveiterator import ArchiveIterator
from wayback_server import plain_environment, wayback

from pinakes.cli import main
from pinakes.rewrite.repair_file import repair_file
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.record import Record

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
    paths = copy_real_archives(shared_data, before)
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


# --- What `repair` writes is sound for warcio and jwarc, which say something of each file befor


PAGE = BLOCKS["page"]
FAULTS = {
    "too short": {"length": "20"},
    "too long": {"length": "99999"},
    "LF": {"nl": "\n"},
    "brackets": {"WARC_Target_URI": "<http://example.org/1>"},
    "not closed": {"end": ""},
    "closed once": {"end": "\r\n"},
    "block digest": {"WARC_Block_Digest": sha1(b"else")},
    "payload digest": {"WARC_Payload_Digest": sha1(PAGE.data)},
    "date": {"WARC_Date": "20200102030405"},
}


@pytest.mark.parametrize("form", ["plain", "gzip"])
@pytest.mark.parametrize("fields", FAULTS.values(), ids=FAULTS)
def test_peers_find_nothing(
    fields: dict[str, str | None], form: str, peer_tools: Path, jwarc: list[str], tmp_path: Path
) -> None:
    path = tmp_path / ("a.warc" if form == "plain" else "a.warc.gz")
    path.write_bytes(packed([record(7, PAGE), record(1, PAGE, **fields), record(9, PAGE)], form))
    (tmp_path / "out").mkdir()
    repair_file(str(path), tmp_path / "out", lambda told: None)
    new = str(tmp_path / "out" / path.name)
    for call in ([str(peer_tools / "warcio"), "check", "-v", new], [*jwarc, "validate", new]):
        done = subprocess.run(call, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    with open(new, "rb") as file:
        found = [one.raw_stream.read() for one in ArchiveIterator(file, no_record_parse=True)]
    assert found == [PAGE.data] * 3


# --- pywb replays what refs wrote as it replayed what was there before


COMPARED = ("content-type", "content-encoding", "location", "memento-datetime")


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The collection before and after refs."""
    folder = tmp_path_factory.mktemp("replay")
    paths = write_set(folder / "before", replayed_files())
    count = refs(paths, plan(paths, resources=True), folder / "after")
    assert (count.records, count.problems) == (2 * len(KINDS) + 1, [])
    assert validate(folder / "before", folder / "after").passed
    return folder / "before", folder / "after"


@pytest.fixture(scope="module")
def pywb(
    sets: tuple[Path, Path],
    peer_tools: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[int]:
    """pywb's port; its collections: before and after by its own indexer, and by cdxj-indexer."""
    root = tmp_path_factory.mktemp("pywb")

    def call(tool: str, *arguments: object) -> None:
        command = [str(peer_tools / tool), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=root, env=plain_environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    for name, folder in (("before", sets[0]), ("after", sets[1]), ("aftercdxj", sets[1])):
        call("wb-manager", "init", name)
        collection = root / "collections" / name
        files = sorted(folder.iterdir())
        if name != "aftercdxj":
            call("wb-manager", "add", name, *files)
            continue
        for file in files:
            shutil.copy(file, collection / "archive")
        call("cdxj-indexer", "--sort", *files, "-o", collection / "indexes" / "index.cdxj")
    with wayback(peer_tools, root) as port:
        yield port


def replay(port: int, collection: str, record: Record) -> tuple[int, dict[str, str], bytes]:
    moment = parse_date(record.date_text or "")
    assert moment is not None
    path = f"/{collection}/{format_14(moment)}id_/{record.target_uri}"
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    headers = {k.lower(): v for k, v in answer.getheaders() if k.lower() in COMPARED}
    data = answer.read()
    connection.close()
    return answer.status, headers, data


@pytest.mark.parametrize("collection", ["after", "aftercdxj"])
def test_every_capture_replays_as_before(
    collection: str, sets: tuple[Path, Path], pywb: int
) -> None:
    before, after = sets
    compared = wrong = 0
    for path in sorted(before.iterdir()):
        now = records_of(after / path.name)
        for old, new in zip(records_of(path), now, strict=True):
            expected = replay(pywb, "before", old)
            answer = replay(pywb, collection, new)
            if answer != expected:
                wrong += 1
                print(old.target_uri, old.date_text, old.type, new.type)
                print("  before", expected[0], expected[1], len(expected[2]), expected[2][:60])
                print("  after ", answer[0], answer[1], len(answer[2]), answer[2][:60])
            compared += 1
    assert wrong == 0
    assert compared == 3 * len(KINDS) + 5


def test_replayed_bodies_are_the_stored_ones(sets: tuple[Path, Path], pywb: int) -> None:
    """Not all the same error page: what is compared above is what was captured."""
    old = records_of(sets[0] / "duplicates.warc.gz")
    for one, (kind, _, capture) in zip(old, captures(), strict=True):
        assert replay(pywb, "before", one)[::2] == (capture.status, capture.body), kind


def test_validate_asks_pywb(sets: tuple[Path, Path], pywb: int) -> None:
    call = ["validate", *map(str, sets), "--replay"]
    assert main([*call, f"http://127.0.0.1:{pywb}/after"]) == 0
    assert main([*call, f"http://127.0.0.1:{pywb}/none"]) == 1
