"""pywb replays what refs wrote as it replayed what was there before.

How pywb finds the body of a revisit (2.10, warcserver/index/cdxops.py and
warcserver/resource/resolvingloader.py): among the captures of the revisit's own URL,
the first full one with the revisit's digest *as text*; else, at WARC-Refers-To-Target-URI,
the full one nearest to WARC-Refers-To-Date with that text.  So a revisit carries its
original's declared digest character for character.
"""

from __future__ import annotations

import http.client
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from replayed_set import KINDS, captures, replayed_files
from warc_sets import plan, records_of, refs, validate, write_set
from wayback_server import plain_environment, wayback

from pinakes.cli import main
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.record import Record

pytestmark = pytest.mark.slow
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
    for record, (kind, _, capture) in zip(old, captures(), strict=True):
        assert replay(pywb, "before", record)[::2] == (capture.status, capture.body), kind


def test_validate_asks_pywb(sets: tuple[Path, Path], pywb: int) -> None:
    call = ["validate", *map(str, sets), "--replay"]
    assert main([*call, f"http://127.0.0.1:{pywb}/after"]) == 0
    assert main([*call, f"http://127.0.0.1:{pywb}/none"]) == 1
