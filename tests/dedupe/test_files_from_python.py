"""`pinakes.dedupe_files`: what the verb does, with a typed result and no console."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from killing import tree
from warc_sets import OTHER, ArchiveFile, Rec, write_set

import pinakes
from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.dedupe.run.run_report import FILES_STEPS
from pinakes.errors import ConfigError

LATER = "2021-01-01T00:00:00Z"
NOISE = random.Random(1).randbytes(2000)
FILES = [
    ArchiveFile("a", [Rec(uri="http://a/1", body=NOISE), Rec(uri="http://a/2", body=OTHER)]),
    ArchiveFile("b", [Rec(uri="http://a/1", body=NOISE, date=LATER), Rec(uri="http://b/2")]),
    ArchiveFile("c", [Rec(uri="http://c/1", body=b"nothing like it")], "plain"),
]


@pytest.fixture
def before(tmp_path: Path) -> Path:
    write_set(tmp_path / "before", FILES)
    return tmp_path / "before"


@pytest.mark.parametrize("compare", ["bytes", "sha256", "none"])
def test_it_writes_what_the_verb_writes(
    before: Path, tmp_path: Path, compare: str, capfd: pytest.CaptureFixture[str]
) -> None:
    result = pinakes.dedupe_files(before, tmp_path / "ours", compare=compare)
    assert tuple(capfd.readouterr()) == ("", "")
    words = ["-q", "dedupe", str(before), "-o", str(tmp_path / "verb's"), "--compare", compare]
    assert main(words) == Exit.DONE
    assert tree(tmp_path / "ours") == tree(tmp_path / "verb's")
    assert (result.revisits, result.validated, result.discrepancies) == (1, True, ())
    assert [file.revisits for file in result.files] == [0, 1, 0]
    sizes = [sum(map(len, tree(folder).values())) for folder in (before, tmp_path / "ours")]
    assert (result.size, result.saved_bytes) == (sizes[0], sizes[0] - sizes[1])
    assert (result.left_full, result.problems) == ({}, ())


def test_it_tells_of_files_and_problems_and_steps(before: Path, tmp_path: Path) -> None:
    events: list[object] = []
    steps: list[str] = []

    class Noted:
        def begin(self, step: str, total_bytes: int) -> None:
            steps.append(step.partition(", ")[2])

        def advance(self, count: int) -> None:
            pass

    missing = tmp_path / "missing.warc"
    result = pinakes.dedupe_files(
        [before, missing], tmp_path / "out", on_event=events.append, progress=Noted()
    )
    assert [one for one in events if isinstance(one, pinakes.DedupedFile)] == list(result.files)
    assert [one for one in events if isinstance(one, pinakes.PinakesError)] == list(result.problems)
    assert steps == list(FILES_STEPS)


def test_counting_only(before: Path, tmp_path: Path) -> None:
    planned = pinakes.dedupe_files(sorted(before.iterdir()), None)
    done = pinakes.dedupe_files(str(before), str(tmp_path / "out"))
    assert (planned.validated, planned.discrepancies) == (None, None)
    assert planned.files == done.files
    assert planned.saved_bytes == done.saved_bytes > 0


def test_what_stays_full_is_counted(before: Path) -> None:
    result = pinakes.dedupe_files(before, None, min_saving_bytes=10_000)
    assert (result.revisits, sum(result.left_full.values())) == (0, 1)


def test_what_cannot_be_read_is_a_problem(before: Path, tmp_path: Path) -> None:
    (before / "d.warc.gz.open").write_bytes(b"")
    missing = tmp_path / "missing.warc"
    result = pinakes.dedupe_files([before, missing], tmp_path / "out")
    assert [problem.file for problem in result.problems] == [
        str(before / "d.warc.gz.open"),
        str(missing),
    ]
    assert (len(result.files), result.validated) == (3, True)


def test_another_file_of_that_name_is_not_overwritten(before: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    name = min(before.iterdir()).name
    (tmp_path / "out" / name).write_bytes(b"something else")
    result = pinakes.dedupe_files(before, tmp_path / "out")
    assert [Path(problem.file or "").name for problem in result.problems] == [name]
    assert (tmp_path / "out" / name).read_bytes() == b"something else"


@pytest.mark.parametrize(
    "options", [{"compare": "md5"}, {"sample_bytes": 2}, {"paths": []}, {"paths": "empty"}], ids=str
)
def test_wrong_calls(
    before: Path, tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError):
        pinakes.dedupe_files(**{"paths": before, "output": tmp_path / "out", **options})
    assert not (tmp_path / "out").exists()
