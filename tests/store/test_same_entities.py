"""One entity in other chunks: counted in the forecast, and left full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from verbs_here import call_here
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, chunked, write_set

CHUNKED = (b"Transfer-Encoding: chunked",)


def planned(folder: Path, crawl: Path) -> dict[str, object]:
    for words in (
        ("init",),
        ("ingest", str(crawl), "--crawl", "c"),
        ("dedupe", "--all", "--plan"),
    ):
        done = call_here(folder, *words, "--store", str(folder / "store"), "--json")
        assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def capture(number: int, body: bytes, size: int | None, status: int = 200) -> Rec:
    fields = CHUNKED if size is not None else ()
    stored = body if size is None else chunked(body, size)
    return Rec(uri=f"http://example.org/{number}", date=f"2020-01-0{number}T00:00:00Z",
               body=stored, http_fields=fields, status=status)  # fmt: skip


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([(PAGE, 100), (PAGE, 70)], 1),
        ([(PAGE, 100), (PAGE, 70), (PAGE, 70), (PAGE, 50), (PAGE, 100)], 2),
        ([(PAGE, 100), (PAGE, 100)], 0),
        ([(PAGE, 100), (OTHER, 70)], 0),
        ([(PAGE, 100), (PAGE, None)], 0),
        ([(PAGE, 100), (PAGE, 70, 404)], 0),
    ],
    ids=["other chunks", "three ways", "the same chunks", "another entity", "not chunked",
         "another status"],
)  # fmt: skip
def test_what_differs_in_its_chunks_is_counted(
    records: list[tuple[bytes, int]], expected: int, tmp_path: Path
) -> None:
    captures = [capture(number, *facts) for number, facts in enumerate(records, 1)]
    [path] = write_set(tmp_path / "crawl", [ArchiveFile("a", captures)])
    found = planned(tmp_path, path.parent)["same_entities"]
    assert isinstance(found, dict)
    assert (found["records"], found["bytes"] > 0) == (expected, expected > 0)


def test_a_file_of_others(shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    name = "F-chunk-boundaries.warc.gz"
    (folder / name).write_bytes((shared_data / "cases" / name).read_bytes())
    plan = planned(tmp_path, folder)
    assert plan["revisits"] == 0
    assert plan["same_entities"] == {"records": 1, "bytes": 1888}  # the third is not chunked
