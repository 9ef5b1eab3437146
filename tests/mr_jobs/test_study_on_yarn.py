"""A study of a store on real servers: on YARN, whose tasks know nothing of this environment but
what is sent along, and by DuckDB here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest
from study_scene import caller, captures_of, crawl_lines, land, tables

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.profile import hdfs_connection

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

pytestmark = pytest.mark.yarn

pytest.importorskip("pyspark", reason="the extra spark is not here: make dev-spark")

QUICK = "-XX:TieredStopAtLevel=1"
SMALL = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.instances": "1",
    "spark.executor.memory": "512m",
    "spark.yarn.am.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
}

CONF = [word for name, value in SMALL.items() for word in ("--conf", f"{name}={value}")]
ON_YARN = ("--master", "yarn", *CONF)


@pytest.fixture
def settings(cluster: RunningCluster, tmp_path: Path) -> Iterator[Path]:
    """A pinakes.toml for a store of its own, with crawls in it."""
    values = cluster.settings(f"study{token_hex(4)}")
    # One environment for all runs of the tests: it is named by what is in it.
    values["job_folder"] = f"{values['hdfs'].rpartition('/')[0]}/test-jobs"
    file = tmp_path / "pinakes.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    call = caller("--config", str(file))
    call("init")
    land(tmp_path, call, count=6, files=1)
    yield file
    connection = hdfs_connection(load_configuration(file, environment={}))
    with closing(HdfsCalls(connection)) as calls:
        calls.ask("", lambda client: client.delete(connection.folder, True))


def test_a_study_on_yarn_or_by_duckdb(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    captures = captures_of(file=settings)
    for engine in ((), ON_YARN):
        capsys.readouterr()
        assert main(["-q", "--json", "--config", str(settings), "study", "--all", *engine]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found.pop("left_out")
        assert found == {"crawls": crawl_lines(captures), **tables(captures)}


def test_a_query_on_yarn(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    query = "SELECT DISTINCT url_host_registered_domain AS name FROM ccindex ORDER BY name"
    call = ["-q", "--json", "--config", str(settings), "study", "--all", *ON_YARN]
    assert main([*call, "--sql", query]) == 0
    names = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    # An address has none; the suffix `example` is in no list.
    assert names == [None, "b.co.uk", "example.org"]
    missing = "SELECT nothing FROM ccindex"
    assert main([*call, "--sql", missing]) == 2
    assert "nothing" in capsys.readouterr().err
