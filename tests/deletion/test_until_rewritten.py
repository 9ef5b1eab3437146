"""Between the note that a record is withdrawn and its tombstone nobody is given its bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from fsck_here import fsck_lines
from killing import KILLED, in_child, kill_after
from rotten import whole_contents
from scenes import Scene, copied_scene, make_scene, page, response
from taken_down import bodies, key_of, land_site, uri, withdraw
from whole_payloads import flip

from pinakes.access.archive_bytes import ArchiveBytes, Withdrawn
from pinakes.access.pages.capture_page import record_bytes
from pinakes.access.readable import ReadableCaptures
from pinakes.access.rules import AccessRules
from pinakes.catalog.captures import get_captures, place_captures
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.stored_generations import find_generation
from pinakes.cli import main
from pinakes.deletion.requests import WithdrawalReport
from pinakes.errors import InputRefused

NAME = "c1/site.warc.gz"


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The site, of which a take-down of /0 in all crawls died once it was noted.  Only read it."""
    with make_scene(tmp_path_factory.mktemp("noted") / "made", ()) as scene:
        land_site(scene, 1, 2, 3)

        def act() -> list[WithdrawalReport]:
            return withdraw(scene, uri(0), at=kill_after("withdrawals noted", 3))

        assert in_child(act) == KILLED
        yield scene


@pytest.fixture
def done(noted: Scene, tmp_path: Path) -> Iterator[Scene]:
    """A copy, where the same command has completed it."""
    with copied_scene(noted.folder, tmp_path / "done") as scene:
        withdraw(scene, uri(0))
        yield scene


def files_of(scene: Scene) -> ArchiveBytes:
    now = datetime(2026, 11, 25, tzinfo=timezone.utc)
    return ArchiveBytes(scene.rows, scene.archive, rules=AccessRules(), now=lambda: now)


def given(scene: Scene, name: str) -> list[bool]:
    """Of each record of a stored file, whether its range is given out."""
    files = files_of(scene)
    file = files.find(name)
    assert file is not None
    found = []
    for row in iter_sidecar(scene.archive, name):
        try:
            files.open(file, row.offset + 1, row.offset + 2).close()
            found.append(True)
        except Withdrawn:
            found.append(False)
    return found


def test_ranges_of_other_records_are_given(noted: Scene, done: Scene) -> None:
    assert given(noted, NAME) == [False] * 3 + [True] * 6
    assert given(noted, "c2/g2/site.warc.gz") == [False] * 3 + [True] * 6
    name = f"c1/g{read_entry(done.rows, NAME).generation}/site.warc.gz"
    assert given(done, name) == [True] * 9


def test_a_whole_file_is_given_once_it_is_rewritten(noted: Scene, done: Scene) -> None:
    files = files_of(noted)
    file = files.find(NAME)
    assert file is not None
    with pytest.raises(Withdrawn):
        files.open(file, 0, file.size)
    entry = read_entry(done.rows, NAME)
    assert entry.withdrawing == frozenset()
    file = find_generation(done.rows, f"c1/g{entry.generation}/site.warc.gz")
    assert file is not None
    files_of(done).open(file, 0, file.size).close()


@pytest.mark.parametrize("number", [0, 1, 2], ids=["request", "capture", "metadata"])
@pytest.mark.parametrize("verb", ["cat", "show"])
def test_a_place_is_refused(
    noted: Scene, verb: str, number: int, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    row = list(iter_sidecar(noted.archive, NAME))[number]
    words = [verb, f"{NAME}:{row.offset}", "--store", str(noted.folder / "store")]
    code = main([*words, *(["--payload"] if verb == "show" else [])])
    said = capfdbinary.readouterr()
    assert code == 3
    assert said.out == b""
    assert b"withdrawn" in said.err
    neighbour = list(iter_sidecar(noted.archive, NAME))[4]
    assert main(["cat", f"{NAME}:{neighbour.offset}", *words[2:]]) == 0


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["ls"], id="ls"),
        pytest.param(["ls", "--fields", "WARC-Record-ID"], id="ls --fields"),
        pytest.param(["unpack", "--records", "-o", "out"], id="unpack"),
        pytest.param(["filter", "-o", "out.warc.gz"], id="filter"),
    ],
)
def test_verbs_leave_it_out_by_name(
    noted: Scene,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *options = words
    code = main([verb, "c1", *options, "--store", str(noted.folder / "store"), "--json"])
    out, err = capsys.readouterr()
    assert code == 3
    assert err.count("the record here was withdrawn") == 3
    assert "example.org/0" not in out
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == (1 if verb == "filter" else 6)
    for path in (path for path in tmp_path.glob("out*/**/*") if path.is_file()):
        assert b"secret-1-0" not in path.read_bytes()


def test_an_index_leaves_it_out_by_name(noted: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cdx", "c1", "--store", str(noted.folder / "store")]) == 3
    out, err = capsys.readouterr()
    assert err.count("the record here was withdrawn") == 3
    assert "example.org/0" not in out
    assert "example.org/1" in out


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Scene]:
    """A store with a member of two captures whose checksum is wrong, the first withdrawn."""
    with make_scene(tmp_path, ()) as scene:
        (scene.crawls / "c1").mkdir(parents=True)
        both = [response(uri(n), "2021-01-01T00:00:00Z", page(n), n) for n in (0, 1)]
        data = gzip.compress(b"".join(both), mtime=0)
        (scene.crawls / "c1" / "site.warc.gz").write_bytes(data[:-8] + b"harm" + data[-4:])
        scene.land(1)
        [report] = withdraw(scene, uri(0))
        assert [problem.message.endswith("(`pinakes filter`)") for problem in report.problems] == [
            True
        ]
        yield scene


def test_a_damaged_member_stays_closed(damaged: Scene) -> None:
    assert given(damaged, NAME) == [False, False]
    assert bodies(damaged, 1) == [page(1)]
    captures = ReadableCaptures(damaged.rows, damaged.archive)
    found = get_captures(damaged.rows, [key_of(damaged, 1, 1).encode()])
    [neighbour] = place_captures(damaged.rows, found.values())
    with pytest.raises(InputRefused, match="withdrawn"):
        record_bytes(captures, neighbour)


def test_the_neighbour_in_a_damaged_member_can_be_read_alone(
    damaged: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(damaged.folder / "store")]
    row = list(iter_sidecar(damaged.archive, NAME))[1]
    for inner, code in ((row.inner_offset, 0), (0, 3), (row.inner_offset - 9, 3)):
        place = f"{NAME}:{row.offset}+{inner}"
        assert main(["cat", place, "--headers", *store]) == code, place
    assert "example.org/0" not in capsys.readouterr().out


def test_what_is_withdrawn_and_still_there_is_no_original(tmp_path: Path) -> None:
    """Its file is damaged elsewhere, so it is not rewritten yet; then its content lands again."""
    with make_scene(tmp_path) as scene:
        scene.land(1)
        file = scene.archive.folder / "c1" / "part-1.warc.gz"
        whole = file.read_bytes()
        flip(file, len(whole) - 60)
        key = key_of(scene, 1, 1)
        [report] = withdraw(scene, key)
        assert report.problems
        scene.land(2)
        scene.dedupe()
        rewritten = b"".join(whole_contents(scene.archive.folder.rglob("g2/*.warc.gz")))
        assert b"WARC-Refers-To-Target-URI: http://example.org/3\r\n" not in rewritten
        assert b"WARC-Refers-To-Target-URI: http://example.org/2\r\n" in rewritten
        assert b"WARC-Refers-To-Target-URI: http://example.org/1\r\n" not in rewritten
        file.write_bytes(whole)
        [report] = withdraw(scene, key)
        assert not report.problems
        assert fsck_lines(scene) == []
