"""The manifest job writes what the verb writes, wherever it runs."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest
from archive_builders import warc
from steps_here import INLINE

from pinakes.cli import main

NOW = ("--options", "--now 2026-01-01T00:00:00+00:00")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three that are well, one damaged in the middle, one that is not there."""
    folder = tmp_path / "with space"
    folder.mkdir()
    names = []
    for number in range(3):
        members = [gzip.compress(warc(number=10 * number + n)) for n in range(5)]
        path = folder / f"é-{number}.warc.gz"
        path.write_bytes(b"".join(members))
        names.append(str(path))
    whole = gzip.compress(warc(number=99))
    (folder / "damaged.warc.gz").write_bytes(whole + b"rubbish" * 9 + whole)
    return [*names, str(folder / "damaged.warc.gz"), str(folder / "none.warc.gz")]


def test_it_writes_what_the_verb_writes(
    files: list[str], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["manifest", *files]) == 3
    by_verb = capsysbinary.readouterr()
    out = tmp_path / "lines"
    assert main(["manifest", *files, *INLINE, "-o", str(out), *NOW]) == 3
    said = capsysbinary.readouterr()
    lines = by_verb.out.splitlines()
    assert len(lines) == 17
    assert sorted(out.read_bytes().splitlines()) == sorted(lines)
    warnings = [line for line in by_verb.err.splitlines() if line.startswith(b"pinakes: warning")]
    assert len(warnings) == 2
    assert set(warnings) <= set(said.err.splitlines())
    assert b"files read: 5" in said.err


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_relative_paths_begin_where_we_are(
    runner: str,
    files: list[str],
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(Path(files[0]).parent)
    names = [Path(file).name for file in files]
    assert main(["manifest", *names]) == 3
    by_verb = capsysbinary.readouterr()
    assert main(["manifest", *names, "--runner", runner, *NOW]) == 3
    said = capsysbinary.readouterr()
    assert sorted(said.out.splitlines()) == sorted(by_verb.out.splitlines())
    warnings = [line for line in by_verb.err.splitlines() if line.startswith(b"pinakes: warning")]
    assert set(warnings) <= set(said.err.splitlines())
    assert b"files read: 5" in said.err


def test_options_of_the_job_reach_it(
    files: list[str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["manifest", "--digest", "sha256", files[0]]) == 0
    by_verb = capsysbinary.readouterr().out
    assert main(["manifest", *INLINE, files[0], "--options", "--digest sha256 " + NOW[1]]) == 0
    assert capsysbinary.readouterr().out == by_verb


@pytest.mark.parametrize(
    "options", ["--plain", "--records", "--digest md5", "--trust-declared", "--empty skip"]
)
def test_options_of_the_verb_reach_the_job(
    options: str, files: list[str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    call = ["manifest", files[0], *options.split()]
    assert main(call) == 0
    by_verb = capsysbinary.readouterr().out
    assert main([*call, *INLINE]) == 0
    assert capsysbinary.readouterr().out == by_verb


def test_folders_are_read_through(
    files: list[str], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = Path(files[0]).parent
    (folder / "B.WARC.bz2").write_bytes(bz2.compress(warc(number=7)))
    (folder / "unfinished.warc.gz.open").write_bytes(b"")
    assert main(["manifest", str(folder)]) == 3
    by_verb = sorted(capsysbinary.readouterr().out.splitlines())
    assert len(by_verb) == 18
    assert main(["manifest", str(folder), *INLINE]) == 3
    assert sorted(capsysbinary.readouterr().out.splitlines()) == by_verb
    assert main(["manifest", f"file://{folder}/", *INLINE]) == 3
    said = capsysbinary.readouterr()
    assert sorted(said.out.splitlines()) == [b"file://" + line for line in by_verb]
    assert b"unfinished.warc.gz.open: not finished: skipped" in said.err


def test_a_folder_without_archive_files_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["manifest", str(tmp_path), *INLINE]) == 2
    assert "nothing to list" in capsys.readouterr().err


def test_a_name_that_cannot_be_listed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.warc"
    path.write_bytes(warc())
    assert main(["manifest", *INLINE, str(path)]) == 3


def test_files_may_be_in_very_many_folders(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    paths = [tmp_path / str(number % 70) / f"{number}.warc.gz" for number in range(140)]
    for number, path in enumerate(paths):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(warc(number=number)))
    assert main(["manifest", *map(str, paths)]) == 0
    by_verb = sorted(b"file://" + line for line in capsysbinary.readouterr().out.splitlines())
    assert main(["manifest", *INLINE, *(path.as_uri() for path in paths), *NOW]) == 0
    assert sorted(capsysbinary.readouterr().out.splitlines()) == by_verb
