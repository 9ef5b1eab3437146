"""`pinakes check`: lines, JSON, exit codes, the summary, the page of rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance_builders import info, record, warc

from pinakes.cli.command import run
from pinakes.cli.frame.exits import Exit
from pinakes.conformance.check import ConformanceCheck, ConformanceFinding
from pinakes.conformance.describe import describe_rules
from pinakes.conformance.table import RULES


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.warc"
    path.write_bytes(warc(record()))
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """Two errors, two warnings of a rule that is printed once, one info."""
    broken = {"WARC-IP-Address": None, "WARC-Date": "yesterday"}
    records = (record("response", number, broken) for number in (1, 2))
    path = tmp_path / "bad.warc"
    path.write_bytes(info(901, {"WARC-Page-ID": "7"}) + b"".join(records))
    return str(path)


def test_a_conforming_file(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", good]) == Exit.DONE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["1 file, 2 records: 0 error, 0 warning, 0 info"]


def test_a_line_a_finding(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", bad]) == Exit.FOUND
    out, err = capsys.readouterr()
    size = len(info(901, {"WARC-Page-ID": "7"}))
    assert out.splitlines()[0] == (
        f"{bad}:0: info field-undefined (1.1 §5.1): 'warc-page-id' is not in the standard"
    )
    assert out.splitlines()[1].startswith(f"{bad}:{size}: error date-syntax (1.1 §5.4): ")
    assert [line.split()[2] for line in out.splitlines()] == [
        "field-undefined",
        "date-syntax",
        "ip-address-missing",
        "date-syntax",
    ]
    assert [line.split() for line in err.splitlines()[1:]] == [
        ["2", "error", "date-syntax"],
        ["2", "warning", "ip-address-missing"],
        ["1", "info", "field-undefined"],
    ]


@pytest.mark.parametrize(
    ("options", "lines", "code"),
    [
        (["--all"], 5, Exit.FOUND),
        (["--level", "warning"], 3, Exit.FOUND),
        (["--level", "error"], 2, Exit.FOUND),
        (["-q"], 4, Exit.FOUND),
    ],
)
def test_options(
    bad: str, options: list[str], lines: int, code: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", bad, *options]) == code
    assert len(capsys.readouterr().out.splitlines()) == lines


def test_infos_are_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(info(1, {"WARC-Page-ID": "7"}))
    assert run(["check", str(path)]) == Exit.DONE
    assert "field-undefined" in capsys.readouterr().out


def test_json_has_an_object_a_line(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "--json", bad])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[0] == {
        "file": bad,
        "offset": 0,
        "inner_offset": 0,
        "severity": "info",
        "code": "field-undefined",
        "clause": "1.1 §5.1",
        "message": "'warc-page-id' is not in the standard",
    }
    assert {finding["code"] for finding in found} <= set(RULES)


def test_what_cannot_be_read_is_named_and_the_rest_is_checked(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.warc")
    (tmp_path / "empty").mkdir()
    assert run(["check", missing, str(tmp_path / "empty"), bad]) == Exit.SOME_FAILED
    out, err = capsys.readouterr()
    assert "date-syntax" in out
    assert f"{missing}: cannot be read" in err
    assert "/empty: no archive files in it" in err


def test_an_original_that_is_gone_when_it_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = tmp_path / "1.warc"
    original.write_bytes(warc(record()))
    later = tmp_path / "2.warc"
    later.write_bytes(info(901) + record("revisit", 2))
    check_references = ConformanceCheck.check_references

    def after_it_is_gone(run: ConformanceCheck) -> Iterator[ConformanceFinding]:
        original.unlink()
        return check_references(run)

    monkeypatch.setattr(ConformanceCheck, "check_references", after_it_is_gone)
    assert run(["check", str(original), str(later)]) == Exit.SOME_FAILED
    err = capsys.readouterr().err
    assert f"{original}: cannot be read" in err
    assert "2 files, 4 records" in err


def test_no_inputs_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == Exit.WRONG_CALL
    assert "no inputs" in capsys.readouterr().err


def test_control_characters_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a\nb.warc"
    path.write_bytes(warc(record("response", 1, {"WARC-Target-URI": "http://a/\x1b[2J\u202e"})))
    run(["check", str(path)])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert all(": error " in line for line in out.splitlines())


def test_the_rules_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--rules"]) == Exit.DONE
    assert capsys.readouterr().out.splitlines() == list(describe_rules())
    run(["check", "--rules", "--json"])
    rules = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [rule["code"] for rule in rules] == list(RULES)


def test_the_page_has_the_table_as_it_is_declared(repository: Path) -> None:
    page = (repository / "docs" / "check.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- pinakes check --rules -->\n\n")
    table, _, _ = rest.partition("<!-- end -->")
    assert table == "\n".join(describe_rules()) + "\n"


def test_of_one_habit_three_places_are_printed_and_the_rest_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a.warc", tmp_path / "b.warc"]
    for path, count in zip(paths, (8, 3), strict=True):
        broken = (record("response", number, {"WARC-Date": "yesterday"}) for number in range(count))
        path.write_bytes(info(901) + b"".join(broken))
    asked = ["check", "--level", "error", *map(str, paths)]
    assert run(asked) == Exit.FOUND
    lines = capsys.readouterr().out.splitlines()
    assert ["yesterday" in line for line in lines] == [True] * 3 + [False] + [True] * 3
    assert lines[3] == f"{paths[0]}: error date-syntax: 5 more; --all prints them"
    for option in ("--all", "--json"):
        assert run([*asked, option]) == Exit.FOUND
        assert capsys.readouterr().out.count("yesterday") == 11
