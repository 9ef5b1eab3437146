"""`pinakes qa sample`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenes import Scene

from pinakes.catalog.file_rows import TABLE, scan_entries
from pinakes.cli import main
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import FileStateCell
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Put


@pytest.fixture
def store(landed: Scene, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINAKES_STORE", str(landed.folder / "store"))
    return landed.folder


def test_pages_with_their_weights(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = store / "seeds"
    seeds.write_text("http://example.org/3\n\nhttp://elsewhere.org/\n")
    asked = ["qa", "sample", "c2", "--size", "4", "--seeds", str(seeds)]
    assert main([*asked, "--json"]) == 0
    pages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(pages) == 5
    assert sum(page["weight"] for page in pages) == 12
    assert [page["url"] for page in pages if page["always"]] == ["http://example.org/3"]
    assert {page["time"][:4] for page in pages} == {"2022"}
    assert main(asked) == 0
    said = capsys.readouterr()
    assert all(page["url"] in said.out for page in pages)
    assert "5 pages" in said.err
    # A seed that nobody answered is no failure of the crawl's sample.
    assert "http://elsewhere.org/: the crawl c2 has no such page" in said.err
    assert said.err.count("no such page") == 1


@pytest.mark.parametrize("state", ["landing", "loading", "refused"])
def test_files_that_have_not_landed_are_told(
    store: Path, landed: Scene, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [name, *_] = [entry.archive_file for entry in scan_entries(landed.rows, "c2")]
    cell = encode_cell(FileStateCell(state=state, act="a"))
    landed.rows.mutate(TABLE, [Put(encode_file_key(name), {FileStateCell.COLUMN: cell}, None)])
    assert main(["qa", "sample", "c2"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 6
    assert "the crawl c2 that have not landed, and whose pages are left out: 1" in said.err


@pytest.mark.parametrize(
    ("words", "reason", "code"),
    [
        (["c9"], "there is no crawl c9", 2),
        (["c1", "--size", "-1"], "must be 0 or more", 2),
        (["c1", "--seeds", "absent"], "absent: No such file", 3),
        (["c1", "--seeds", "a", "--urls", "b"], "--urls and --seeds cannot be combined", 2),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str, code: int
) -> None:
    assert main(["qa", "sample", *words]) == code
    assert reason in capsys.readouterr().err
