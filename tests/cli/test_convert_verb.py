"""`pinakes convert`: exit codes, results, what is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

BLOCK = b"HTTP/1.1 200 OK\r\n\r\nhello"
HEAD = b"filedesc://a.arc 0.0.0.0 20200102030405 text/plain 4\n1 0\n\n"
ARC = HEAD + b"http://example.org/ 192.0.2.1 20200102030405 text/html %d\n%b\n" % (
    len(BLOCK),
    BLOCK,
)


@pytest.fixture
def arc_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("a.arc")
    path.write_bytes(ARC)
    return path


def test_a_line_a_file(arc_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "a.arc", "-o", "out", "--verify"]) == Exit.DONE
    shown = capsys.readouterr()
    assert shown.out == (
        f"a.arc -> out/a.warc: written, 1 filedesc, 1 response; verified, {len(ARC)} bytes\n"
    )
    assert shown.err == ""


def test_json(arc_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["convert", "a.arc", "-o", "out"])
    capsys.readouterr()
    assert main(["convert", "a.arc", "-o", "out", "--verify", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out) == {
        "arc": "a.arc",
        "warc": "out/a.warc",
        "outcome": "unchanged",
        "records": {"filedesc": 1, "response": 1},
        "stretches": [],
        "findings": [],
        "verified_bytes": len(ARC),
    }


def test_what_is_no_record_is_kept_and_named(
    arc_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arc_path.write_bytes(ARC + b"garbage")
    assert main(["convert", "a.arc", "-o", "out", "--verify"]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert f"a.arc:{len(ARC)}: 7 bytes kept unchanged: no record begins here" in shown.err
    assert "1 stretch that is not a record, kept unchanged" in shown.out
    assert b"garbage" in Path("out/a.warc").read_bytes()


def test_a_record_cut_off_is_named_and_is_no_failure(
    arc_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arc_path.write_bytes(ARC[:-3])
    assert main(["convert", "a.arc", "-o", "out"]) == Exit.DONE
    assert f"a.arc:{len(HEAD)}: the file ends 2 bytes before" in capsys.readouterr().err


def test_one_bad_file_does_not_end_the_batch(
    arc_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("text.arc").write_text("no archive")
    Path("folder.arc").mkdir()
    names = ["text.arc", "folder.arc", "missing.arc", "a.arc"]
    assert main(["convert", *names, "-o", "out"]) == Exit.SOME_FAILED
    shown = capsys.readouterr()
    assert [name in shown.err for name in names] == [True, True, True, False]
    assert [path.name for path in Path("out").iterdir()] == ["a.warc"]


def test_dry_run(arc_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "a.arc", "-o", "out", "--dry-run"]) == Exit.DONE
    assert "would write" in capsys.readouterr().out
    assert not Path("out").exists()


def test_back(arc_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["convert", "a.arc", "-o", "out"])
    assert main(["convert", "--back", "out/a.warc", "-o", "again"]) == Exit.DONE
    assert Path("again/a.arc").read_bytes() == ARC
    assert main(["convert", "--back", "a.arc", "-o", "third"]) == Exit.SOME_FAILED
    assert "not a record of `pinakes convert`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.arc"], "-o"),
        (["-o", "out"], "no inputs"),
        (["a.arc", "other/a.arc", "-o", "out"], "the same output name"),
        (["a.arc", "-o", "a.arc"], "is not a folder"),
        (["a.arc", "-o", "out", "--back", "--verify"], "--back always verifies"),
    ],
)
def test_wrong_calls(
    arc_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    other = Path("other/a.arc")
    other.parent.mkdir()
    other.write_bytes(ARC)
    assert main(["convert", *arguments]) == Exit.WRONG_CALL
    assert words in capsys.readouterr().err
    assert not Path("out").exists()
