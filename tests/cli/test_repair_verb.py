"""`pinakes repair`: exit codes, results, what is named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from archive_builders import arc_file
from faulty_warcs import BLOCKS, packed, record, sha1

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

PAGE = BLOCKS["page"]
LF = record(1, PAGE, nl="\n")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.warc").write_bytes(LF + record(2, PAGE))


def test_a_line_a_change_and_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repair", "a.warc", "-o", "out"]) == Exit.DONE
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == (
        "a.warc:0: header-line-end: 9 lines end with LF -> CRLF\n"
        "a.warc -> out/a.warc: written; changes: 1, in 1 of 2 records; "
        f"{2 * len(PAGE.data)} bytes of blocks compared\n"
    )


def test_what_is_left_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.warc").write_bytes(LF + record(2, PAGE, WARC_Date=None))
    assert main(["repair", "a.warc", "-o", "out"]) == Exit.SOME_FAILED
    assert f"a.warc:{len(LF)}: date-missing: left as it is: " in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    digest = sha1(b"else")
    one = record(1, PAGE, WARC_Payload_Digest=digest)
    Path("a.warc.gz").write_bytes(packed([one, record(2, PAGE, WARC_Date=None)], "one"))
    assert main(["repair", "a.warc.gz", "-o", "out", "--json"]) == Exit.SOME_FAILED
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    place = {"file": "a.warc.gz", "offset": 0}
    member = {"field": "", "before": "with other records", "after": "a member of its own"}
    assert told == [
        {**place, "inner_offset": 0, "code": "gzip-member", **member},
        {
            **place,
            "inner_offset": 0,
            "code": "payload-digest-wrong",
            "field": "WARC-Payload-Digest",
            "before": digest,
            "after": "",
        },
        {**place, "inner_offset": len(one), "code": "gzip-member", **member},
        {
            **place,
            "inner_offset": len(one),
            "code": "date-missing",
            "field": "",
            "before": "WARC-Date is missing",
            "after": None,
        },
        {
            "file": "a.warc.gz",
            "target": "out/a.warc.gz",
            "outcome": "written",
            "records": 2,
            "older": 0,
            "repaired": 2,
            "changes": 3,
            "left": 1,
            "proven_bytes": 2 * len(PAGE.data),
        },
    ]


def test_one_that_is_refused_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.warc").write_bytes(b"nothing of the kind")
    assert main(["repair", "none.warc", "a.warc", "-o", "out"]) == Exit.SOME_FAILED
    assert "none.warc: no WARC record in it" in capsys.readouterr().err
    assert Path("out/a.warc").exists()


def test_arc_files_are_referred_to_convert(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.arc").write_bytes(arc_file())
    assert main(["repair", "a.arc", "-o", "out"]) == Exit.SOME_FAILED
    assert "a.arc: no WARC record in it: `pinakes convert` makes" in capsys.readouterr().err
    assert not list(Path("out").iterdir())


@pytest.mark.parametrize("version", ["0.17", "0.18"])
def test_older_records_are_counted(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    old = re.sub(rb"WARC/1\.\d", f"WARC/{version}".encode(), record(1, PAGE), count=1)
    Path("old.warc").write_bytes(old)
    assert main(["repair", "old.warc", "-o", "out"]) == Exit.DONE
    assert capsys.readouterr().out == (
        "old.warc: nothing to repair; 1 record is older than WARC/1.0: kept unchanged; every verb "
        "reads them\n"
    )


def test_names_that_clash_and_the_own_folder_are_refused() -> None:
    Path("b").mkdir()
    Path("b/a.warc").write_bytes(LF)
    assert main(["repair", "a.warc", "b/a.warc", "-o", "out"]) == Exit.WRONG_CALL
    before = Path("a.warc").read_bytes()
    assert main(["repair", "a.warc", "-o", "."]) == Exit.SOME_FAILED
    assert Path("a.warc").read_bytes() == before
    assert main(["repair", "a.warc", "-o", "dry", "--dry-run"]) == Exit.DONE
    assert not Path("dry").exists()
