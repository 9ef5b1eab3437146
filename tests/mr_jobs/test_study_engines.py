"""The engines of a study agree to the digit, on tables made up and on a real archive."""

from __future__ import annotations

import json
import signal
import threading
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from study_scene import Capture, caller, crawl_lines, tables

from pinakes.catalog.sidecar import SidecarRow
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.errors import ConfigError
from pinakes.mr_jobs.study.duckdb_database import duckdb_database
from pinakes.mr_jobs.study.index_batches import index_schema
from pinakes.mr_jobs.study.index_columns import COLUMNS, STUDIED
from pinakes.mr_jobs.study.index_row import IndexedFile, index_rows
from pinakes.mr_jobs.study.study import study

if TYPE_CHECKING:
    from pinakes.mr_jobs.study.spark_extra import DataFrame, SparkSession

Cells = list[tuple[object, ...]]

CRAWLS = {"a": "news", "b": "news", "c'\\": "news", "d": "other"}
# None before 1991 takes part.
MOMENTS = ("1991-01-01T00:00:00", "2020-02-29T00:00:00", "2020-12-31T23:59:59")
HOSTS = ("é.example", "127.0.0.1:8080", "EXAMPLE.org", "_a.b.example.org")
MEDIA_TYPES = ("text/html", "image/png", "\\'\"", "文")
JWAT = "netarchivesuite_jwat/jwat-gzip/src/test/resources"
REAL = {
    "one": (
        "chatnoir-eu_chatnoir-resiliparse/tests/data/warcfile.warc.gz",
        f"{JWAT}/IAH-20080430204825-00000-blackbook.warc.gz",
    ),
    "two": (
        "chatnoir-eu_chatnoir-resiliparse/2e3cdb48/tests/data/warcfile.warc.gz",
        "oduwsdl_ipwb/samples/warcs/sample-1.warc.gz",
    ),
}
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


def made_up(random: Random) -> tuple[Cells, list[Capture]]:
    """Captures of few contents at few moments, of which some take no part; as an engine gets
    them, and those that take part as the plainest program does."""
    cells: Cells = []
    captures = []
    for number in range(random.randrange(30, 90)):
        crawl = random.choice(list(CRAWLS))
        name = f"{crawl}/{random.choice('Aaé_')}.warc"
        file = IndexedFile(
            archive_file=name, crawl=crawl, collection=CRAWLS[crawl], stored=name, captures=1
        )
        row = made_up_row(random, number)
        cells += index_rows([row], file, STUDIED)
        if row.type == "response" and row.skip is None:
            captures.append(Capture(crawl, CRAWLS[crawl], name, row))
    return cells, captures


def made_up_row(random: Random, number: int) -> SidecarRow:
    moment = datetime.fromisoformat(random.choice(MOMENTS))
    moment += timedelta(seconds=random.randrange(4) / 2)
    content = random.randrange(12)
    digest = sha256(b"%d" % content).digest()
    nothing: dict[str, Any] = dict.fromkeys(SidecarRow._fields)
    made = {
        "ordinal": number,
        "type": random.choice(["response"] * 8 + ["resource", "revisit"]),
        "target_uri": f"http://{random.choice(HOSTS)}/{random.randrange(5)}",
        "date": f"{moment.isoformat()}Z",
        "status": random.choice([200, 200, 404]),
        "media_type": random.choice(MEDIA_TYPES),
        "offset": number,
        "length": random.randrange(1, 1 << 40),
        "payload_size": 1 + content**8,
        "sha256": digest,
        "dechunked_sha256": sha256(b"%d" % (content // 2)).digest() if content % 2 else None,
        "skip": random.choice([None] * 9 + ["empty"]),
    }
    return SidecarRow(**{**nothing, **made})


def by_duckdb(cells: Cells) -> dict[str, Any]:
    columns = zip(*cells, strict=True)
    schema = index_schema(STUDIED)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    with duckdb_database(None) as database:
        database.load([pa.record_batch(arrays, schema=schema)], STUDIED)
        return study(database).as_json()


@pytest.mark.parametrize("seed", range(6))
def test_duckdb_counts_as_the_plainest_program(seed: int) -> None:
    cells, captures = made_up(Random(seed))
    found = by_duckdb(cells)
    assert sum(found.pop("left_out").values()) == len(cells) - len(captures)
    captures.sort(key=lambda capture: capture.crawl)
    assert found == {"crawls": crawl_lines(captures), **tables(captures)}


def test_a_signal_ends_a_query() -> None:
    endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a <> b"
    with duckdb_database(None) as database:
        here = threading.get_ident()
        timer = threading.Timer(0.2, signal.pthread_kill, [here, signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            database.rows(endless)
        timer.join()
        assert database.rows("SELECT 1 AS one") == [{"one": 1}]


def test_duckdb_fetches_no_extension() -> None:
    with pytest.raises(ConfigError, match="extension"), duckdb_database(None) as database:
        database.rows("SELECT * FROM 'http://127.0.0.1:9/x.parquet'")


@pytest.mark.yarn
def test_spark_counts_as_duckdb_does(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the extra spark is not here: make dev-spark")
    from pinakes.mr_jobs.study.spark_session import spark_session

    configuration = load_configuration(options={"store": str(tmp_path)}, environment={})
    with spark_session(configuration, "local[2]", QUICK, captures=1) as session:
        cells, _ = made_up(Random(1))
        schema = ", ".join(f"{name} {COLUMNS[name]}" for name in STUDIED)
        index = session.createDataFrame(cells, schema, verifySchema=False)
        assert by_spark(session, index) == by_duckdb(cells)


def by_spark(session: SparkSession, index: DataFrame) -> dict[str, Any]:
    from pinakes.mr_jobs.study.spark_database import SparkDatabase

    return study(SparkDatabase(session, index)).as_json()


@pytest.mark.yarn
def test_the_engines_agree_on_real_archives(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyspark", reason="the extra spark is not here: make dev-spark")
    call = caller("--store", str(tmp_path / "store"))
    call("init")
    for crawl, paths in REAL.items():
        found = [str(shared_data / "archives" / path) for path in paths]
        call("ingest", "--crawl", crawl, "--collection", "real", *found)
    command = ["-q", "--json", "study", "--store", str(tmp_path / "store"), "--all"]
    capsys.readouterr()
    assert main(command) == 0
    here = capsys.readouterr().out
    assert main([*command, "--master", "local[2]"]) == 0
    assert capsys.readouterr().out == here
    assert json.loads(here)["scopes"][0]["duplicates"] > 0
