"""A study by DuckDB or Spark comes to what plain Python comes to, figure by figure."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from py4j import java_gateway, protocol
from study_scene import CRAWLS, OTHER, caller, captures_of, crawl_lines, land, tables
from warc_sets import ArchiveFile, Rec, write_set

from pinakes.catalog.sidecar import read_sidecar
from pinakes.cli import main
from pinakes.dedupe.run.survey import landed_line
from pinakes.mr_jobs.study.figures import COUNTS, DEDUPE_SCOPE, CrawlFigures, Share, Study
from pinakes.mr_jobs.study.index_columns import COLUMNS
from pinakes.mr_jobs.study.index_row import IndexedFile, index_rows

NO_SPARK = "the extra spark is not here: make dev-spark"
# Little to compute: compiling it well would take longer.
QUICK = ("--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
MASTER = ("--master", "local[2]", *QUICK)
SLOWLY = pytest.param(MASTER, id="spark", marks=pytest.mark.slow)
ON_YARN = pytest.param(MASTER, id="spark", marks=pytest.mark.yarn)
HERE = pytest.param((), id="duckdb")
Engine = tuple[str, ...]
# Five captures of four URLs with three bodies; then four of four, two bodies new.
BY_HAND = {
    "one": (2018, [("1", "a"), ("2", "a"), ("3", "b"), ("4", "c"), ("4", "c")]),
    "two": (2019, [("1", "a"), ("2", "d"), ("5", "d"), ("6", "e")]),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six crawls of three collections; one collection is deduplicated already."""
    folder = tmp_path_factory.mktemp("study")
    call = caller("--store", str(folder / "store"))
    call("init")
    land(folder, call)
    for crawl, (year, pages) in BY_HAND.items():
        recs = [
            Rec(uri=f"http://a.org/{url}", date=f"{year}-01-01T00:00:0{n}Z", body=text.encode())
            for n, (url, text) in enumerate(pages)
        ]
        [path] = write_set(folder / crawl, [ArchiveFile(crawl, recs)])
        call("ingest", "--crawl", crawl, "--collection", "by-hand", str(path))
    call("dedupe", CRAWLS[0][0], "--min-saving-bytes", "none", "--min-file-saving", "0")
    return folder / "store"


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """The words that name an engine; what it needs is there."""
    words: Engine = request.param
    if words:
        pytest.importorskip("pyspark", reason=NO_SPARK)
    return words


@pytest.mark.parametrize("engine", [HERE, SLOWLY], indirect=True)
def test_a_study_of_everything(
    store: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["-q", "--json", "study", "--store", str(store), *engine, "--all"]) == 0
    # Other JVMs that this process asks are none of Spark's.
    assert java_gateway.get_return_value is protocol.get_return_value
    found = json.loads(capsys.readouterr().out)
    every_figure_is_that_of_the_plainest_program(found, store)
    the_papers_columns_are_as_counted_by_hand(found)


def every_figure_is_that_of_the_plainest_program(found: dict[str, Any], store: Path) -> None:
    captures = captures_of(settings={"store": str(store)})
    assert {c.row.copy_number or 1 for c in captures} >= {1, 2}
    assert any(c.row.dechunked_sha256 for c in captures)
    left_out = {"resource": 8, "revisit": 16, "status": 9 + 4 * 2 * 21 - len(captures)}
    expected = {"crawls": crawl_lines(captures), **tables(captures), "left_out": left_out}
    assert found == expected


def the_papers_columns_are_as_counted_by_hand(found: dict[str, Any]) -> None:
    columns = ("crawl", "captures", "urls", "duplicates_percent")
    last = ("of_last_percent", "persistent_percent")
    lines = [[line[name] for name in (*columns, *last)] for line in found["crawls"]]
    assert lines[:2] == [["one", 5, 4, 40.0, None, None], ["two", 4, 4, 25.0, 25.0, 50.0]]


def test_who_takes_part_is_as_dedupe_has_it(store: Path) -> None:
    columns = ("record_type", "skip", "takes_part", "is_replaced")
    file = IndexedFile(archive_file="c/a", crawl="c", collection="x", stored="c/a", captures=0)
    replaced = 0
    for sidecar in (store / "archive").rglob("*.sidecar.parquet"):
        rows = list(read_sidecar(str(sidecar)))
        lines = [line for row in rows if (line := landed_line(row, "c/a")) is not None]
        cells = list(index_rows(rows, file, columns))
        assert cells == [
            (
                line.type or "response",
                line.skip,
                line.type is None and line.skip is None,
                (line.copy_number or 1) > 1,
            )
            for line in lines
        ]
        replaced += sum(line.copy_number is not None for line in lines)
    assert replaced > 10


@pytest.mark.slow
def test_the_folder_holds_each_table_and_plot(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason=NO_SPARK)
    out = tmp_path / "out"
    capsys.readouterr()
    assert main(["-q", "--json", "study", "--store", str(store), "--all", "-o", str(out)]) == 0
    found = json.loads((out / "study.json").read_text())
    assert found == json.loads(capsys.readouterr().out)
    for name in ("crawls", "scopes", "by_host", "by_media_type", "by_size", "by_time"):
        with (out / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        said = found[name.removeprefix("by_")]
        assert [{k: "" if v is None else str(v) for k, v in line.items()} for line in said] == rows
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "study.html").read_text("utf-8")
    assert all(crawl in page for crawl, _, _ in (*CRAWLS, OTHER))
    assert re.findall(r"""(?:src|href|srcset)=["'](?!data:|#)""", page) == []


@pytest.mark.slow
def test_hostile_names_are_shown_as_what_they_are() -> None:
    pytest.importorskip("matplotlib", reason=NO_SPARK)
    from pinakes.mr_jobs.study.folder import study_page

    counts = dict.fromkeys(COUNTS, 7)
    names = ["<script>alert(1)</script>", "$x_1$", "\u202egnp.exe", "a" * 500, "文\x00\ud7ff"]
    shares = [Share(name=name, **counts) for name in names]
    crawl = CrawlFigures(
        crawl="<b>", collection="c", mean_time=None, captures=0, urls=0, contents=0,
        body_bytes=0, duplicate_bytes=0,
    )  # fmt: skip
    groups = {"host": shares, "media_type": shares, "size": shares, "time": shares}
    scopes = [replace(shares[0], name=DEDUPE_SCOPE), *shares]
    page = study_page(Study(crawls=[crawl], scopes=scopes, tables=groups, left_out={"<i>": 1}))
    assert "&lt;script&gt;alert(1)" in page
    assert [tag for tag in ("<script", "<b>", "<i>") if tag in page] == []
    nothing = study_page(Study())
    assert "<figure>" not in nothing


QUERY = """
SELECT url_host_registered_domain AS domain, COUNT(*) AS n, SUM(warc_record_length) AS bytes,
  COUNT(DISTINCT content_digest) AS digests, MIN(fetch_time) AS first
FROM ccindex WHERE crawl = 'c2020' AND subset = 'warc' AND url_host_tld IN ('org', 'uk')
GROUP BY url_host_registered_domain ORDER BY domain
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", [HERE, ON_YARN], indirect=True)
def test_common_crawls_queries_run(
    store: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tldextract", reason=NO_SPARK)
    capsys.readouterr()
    command = ["-q", "--json", "study", "--store", str(store), *engine, "c2020", "--sql", QUERY]
    assert main(command) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["domain"] for row in rows] == ["b.co.uk", "example.org"]
    captures = captures_of(settings={"store": str(store)})
    for row in rows:
        mine = [
            c.row
            for c in captures
            if c.crawl == "c2020"
            and f"{row['domain']}/" in (c.row.target_uri or "")
            and c.row.status == 200
        ]
        # The resources, all alike, take no part in a study.
        resources = 2 if row["domain"] == "example.org" else 0
        assert row["n"] == len(mine) + resources
        assert row["digests"] == len({c.sha1 for c in mine}) + bool(resources)
        assert row["bytes"] > sum(c.length for c in mine) - 1
        dates = [(c.date or "").rstrip("Z") for c in mine] + ["2020-01-01T00:00:00"] * resources
        assert row["first"] == min(dates)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [HERE, ON_YARN], indirect=True)
def test_the_table_as_parquet(store: Path, engine: Engine, tmp_path: Path) -> None:
    pytest.importorskip("tldextract", reason=NO_SPARK)
    command = ["-q", "study", "--store", str(store), *engine, "--all"]
    assert main([*command, "--parquet", str(tmp_path / "index")]) == 0
    table = pq.read_table(tmp_path / "index")
    assert set(table.column_names) == set(COLUMNS)
    responses = captures_of(settings={"store": str(store)})
    rows = [row for row in table.to_pylist() if row["takes_part"]]
    place = ("archive_file", "warc_record_offset", "warc_record_length", "content_sha256")
    assert {tuple(row[name] for name in place) for row in rows} == {
        (c.file, c.row.offset, c.row.length, (c.row.sha256 or b"").hex()) for c in responses
    }
    assert {row["crawl"] for row in rows} == {crawl for crawl, _, _ in (*CRAWLS, OTHER)} | {
        *BY_HAND
    }
    # What is there is not written over.
    assert main([*command, "--parquet", str(tmp_path / "index")]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--all", "c2020"], "name one or more, or give --all"),
        (["nowhere"], "there is no crawl nowhere"),
        (["--all", "--conf", "executor.memory=1g"], "spark.NAME=VALUE"),
        (["--all", "--conf", "spark.executor.memory=1g"], "add --master"),
        (["--all", "--parquet", "hdfs://somewhere/index"], "add --master"),
        pytest.param(
            ["--all", "--master", "mesos://x"], "should be yarn or local", marks=pytest.mark.slow
        ),
        pytest.param(["--all", "--sql", "SELECT x.y"], "x", marks=pytest.mark.slow),
    ],
)
def test_calls_that_cannot_work(
    store: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--master" in words or "--sql" in words:
        pytest.importorskip("pyspark", reason=NO_SPARK)
    assert main(["study", "--store", str(store), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("engine", [HERE, ON_YARN], indirect=True)
def test_a_sidecar_that_is_not_there_ends_the_study(
    tmp_path: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    call = caller("--store", str(tmp_path / "store"))
    call("init")
    [path] = write_set(tmp_path / "in", [ArchiveFile("a", [Rec()])])
    call("ingest", "--crawl", "one", str(path))
    [sidecar] = (tmp_path / "store").rglob("*.sidecar.parquet")
    sidecar.unlink()
    capsys.readouterr()
    command = ["study", "--store", str(tmp_path / "store"), *engine, "one"]
    assert main(command) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "one/a.warc.gz.sidecar.parquet" in said.err
    sidecar.write_bytes(b"PAR1 and no more")
    assert main(command) == 4
    assert "one/a.warc.gz.sidecar.parquet: the sidecar is damaged: " in capsys.readouterr().err
