"""What a run found, for other tools: CSV, JSON, XML, Pagelyzer's list, seeds for a patch crawl."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which
from zipfile import ZipFile

import comparing  # noqa: F401
import pytest
from pair_results import RESULT

from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.hbase_schema.name_keys import encode_pair_key
from pinakes.profile import open_stores
from pinakes.qa.results import JudgedPair, Verdict, encode_pair, pair_key
from pinakes.qa.review.judgement import Judgement, Label, Role, Statement
from pinakes.qa.review.judgement_rows import put_judgement

HOSTILE = "=cmd|' /C calc'!A0"
VIEWS = {
    "reference": replace(RESULT.reference, kind="replay:before", image="1.png"),
    "other": replace(
        RESULT.other,
        kind="replay:current",
        image="2.png",
        missed=("http://example.org/a.png", "http://example.org/b,c.css"),
    ),
}
RESULTS = [
    replace(RESULT, **VIEWS),
    replace(RESULT, **VIEWS, capture_key="01", url=HOSTILE, verdict=Verdict.SIMILAR),
    replace(
        RESULT,
        reference=VIEWS["reference"],
        other=replace(VIEWS["other"], image=None, missed=("http://example.org/a.png",)),
        capture_key="02",
        url="http://example.org/\udcff\u202e",
        verdict=Verdict.UNCERTAIN,
    ),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in a folder, whose second pair a lead has rejected."""
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    run = tmp_path / "qa"
    run.mkdir()
    lines = (encode_pair(JudgedPair(result=result, weight=2.0)) for result in RESULTS)
    (run / "pairs.jsonl").write_bytes(b"".join(lines))
    with open_stores(load_configuration(environment={}, folder=tmp_path)) as stores:
        judgement = Judgement(
            id="0" * 16,
            author="Nadia",
            statement=Statement(label=Label.REJECT, faults=("wrong image",)),
            at_ms=0,
            role=Role.LEAD,
        )
        key = encode_pair_key(pair_key(RESULTS[1]))
        put_judgement(stores.rows, key, judgement, now_ms=1 << 41)
    return run


def exported(folder: Path, *words: str) -> bytes:
    out = folder.with_name("out")
    assert main(["qa", "export", str(folder), "-o", str(out), *words]) == 0
    return out.read_bytes()


def test_as_csv_with_what_people_say(folder: Path) -> None:
    text = exported(folder).decode("utf-8", "surrogateescape")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["verdict"] for row in rows] == ["dissimilar", "uncertain", "similar"]
    assert [row["people"] for row in rows] == ["", "", "reject"]
    assert (rows[2]["settled_by"], rows[2]["faults"]) == ("lead", "wrong image")
    assert rows[0]["text_gone"] == "0.25"
    assert rows[0]["reasons"].splitlines() == list(RESULT.reasons)
    assert rows[0]["other_kind"] == "replay:current"
    assert rows[1]["url"] == "http://example.org/\udcff\u202e"


def test_no_cell_is_a_formula(folder: Path) -> None:
    text = exported(folder).decode("utf-8", "surrogateescape")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows if "calc" in row[0]] == [f"'{HOSTILE}"]
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]


@pytest.mark.parametrize("words", [(), ("--missing",), ("--missing", "--as", "csv")])
def test_what_a_page_wrote_that_is_no_character(folder: Path, words: tuple[str, ...]) -> None:
    """Lone surrogates are escaped, but for bytes that were no UTF-8: these are written."""
    text = "404 \ud800 \udc7f \udd00 \udfff \udc80\udcff"
    said = replace(RESULTS[0], reasons=(text,), other=replace(VIEWS["other"], missed=(text,)))
    (folder / "pairs.jsonl").write_bytes(encode_pair(JudgedPair(result=said, weight=1.0)))
    assert rb"404 \ud800 \udc7f \udd00 \udfff " + b"\x80\xff" in exported(folder, *words)


def test_as_json(folder: Path) -> None:
    pairs = [json.loads(line) for line in exported(folder, "--as", "json").splitlines()]
    assert [pair["people"] for pair in pairs] == [
        None,
        None,
        {"label": "reject", "by": "lead", "faults": ["wrong image"]},
    ]
    assert {pair["weight"] for pair in pairs} == {2.0}
    assert pairs[0]["features"] == RESULT.features


def test_as_xml_by_the_schema(folder: Path, repository: Path, tmp_path: Path) -> None:
    if which("xmllint") is None:
        pytest.skip("there is no xmllint: apt-get install libxml2-utils")
    with ZipFile(io.BytesIO(exported(folder, "--as", "xml"))) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "xml")
    assert names == ["000001.xml", "000002.xml", "000003.xml"]
    schema = repository / "docs/qa/pair.xsd"
    files = [str(tmp_path / "xml" / name) for name in names]
    command = ["xmllint", "--noout", "--schema", str(schema), *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert exported(folder, "--as", "xml") == exported(folder, "--as", "xml")


def test_as_pagelyzer_is_trained_on(folder: Path) -> None:
    assert exported(folder, "--as", "pagelyzer") == b"0\t1.png\t2.png\r\n0\t1.png\t2.png\r\n"


def test_what_is_missing_by_pages(folder: Path) -> None:
    assert exported(folder, "--missing").decode().splitlines() == [
        "http://example.org/a.png",
        "http://example.org/b,c.css",
    ]
    text = exported(folder, "--missing", "--as", "csv").decode()
    assert list(csv.reader(io.StringIO(text))) == [
        ["url", "pages"],
        ["http://example.org/a.png", "3"],
        ["http://example.org/b,c.css", "2"],
    ]
    pages = [
        json.loads(line) for line in exported(folder, "--missing", "--as", "json").splitlines()
    ]
    assert [entry["pages"] for entry in pages] == [3, 2]
    assert main(["qa", "export", str(folder), "--missing", "--as", "xml"]) == 2


@pytest.mark.parametrize("form", ["csv", "json", "pagelyzer"])
def test_a_store_that_does_not_know_the_run_is_named(
    folder: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(folder, "--as", form)
    assert "warning" not in capsys.readouterr().err
    assert main(["init", "--store", "other"]) == 0
    exported(folder, "--as", form, "--store", "other")
    warning = f"warning: run qa-1 is unknown to this store, and so are its judgements: {folder}\n"
    assert warning in capsys.readouterr().err


def test_what_the_machine_says_alone_needs_no_store(folder: Path) -> None:
    whole = [exported(folder, *words) for words in (("--as", "xml"), ("--missing",))]
    (folder.parent / "pinakes-store" / "rows.sqlite").unlink()
    assert [exported(folder, *words) for words in (("--as", "xml"), ("--missing",))] == whole
    assert main(["qa", "export", str(folder)]) == 2


def test_of_no_run_nothing_is_exported(folder: Path) -> None:
    assert main(["qa", "export", str(folder.parent)]) == 3
