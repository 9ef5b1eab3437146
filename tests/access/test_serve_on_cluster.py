"""`pinakes serve` beside real HBase and HDFS: a landing is seen, a store that goes, and comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster_stores import store_on
from exposed_metrics import sample
from landed_stores import page
from shared_cluster import RunningCluster

from local_cluster.state import running
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.config import Configuration
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.ingest.landing import Lander
from pinakes.profile import open_stores
from pinakes.row_store.port import RowStore

pytestmark = pytest.mark.faults

TIMEOUT_S = 300


def run(folder: Path, *verb: object) -> None:
    command = [sys.executable, "-m", "pinakes.cli", "-q", *map(str, verb)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def configuration(cluster_alone: RunningCluster, tmp_path: Path) -> Iterator[Configuration]:
    """A store of its own on the cluster; its configuration lies where the test works."""
    with store_on(cluster_alone, tmp_path) as made:
        yield made


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a `pinakes serve` in a process of its own."""
    verb = [sys.executable, "-m", "pinakes.cli", "serve", "--json", "--port", "0"]
    process = subprocess.Popen(verb, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 5
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + TIMEOUT_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.2)


def begin_crawl(rows: RowStore) -> None:
    ensure_crawl(rows, "c", CrawlFacts(collection="default"), act="ingest-begin", act_time_ms=1)


def test_landing_is_shown_and_store_outage_is_survived(
    cluster_alone: RunningCluster, configuration: Configuration, tmp_path: Path
) -> None:
    metrics = tmp_path / "spring.prom"
    for name, count in (("a", 2), ("b", 3)):
        records = [page(f"http://{name}.example/{n}", b"%d" % n) for n in range(count)]
        (tmp_path / f"{name}.warc.gz").write_bytes(b"".join(records))
    with serving(tmp_path) as url:

        def health() -> tuple[int, dict[str, bool]]:
            status, text = get(f"{url}healthz")
            stores = json.loads(text)["stores"]
            return status, {name: store["reachable"] for name, store in stores.items()}

        def metric(name: str, **labels: str) -> float | None:
            status, text = get(f"{url}metrics")
            assert status == 200
            return sample(text, name, **labels)

        wait_for(lambda: health() == (200, {"rows": True, "archive": True}))
        with open_stores(configuration) as stores:
            begin_crawl(stores.rows)
            steps = []

            def look(step: str) -> None:
                steps.append(step)
                if step == "rows":
                    labels = {"crawl": "c", "state": "landing"}
                    wait_for(lambda: metric("pinakes_inflight_files", **labels) == 1)

            lander = Lander(stores.rows, stores.archive, Actor(), at=look)
            lander.land(str(tmp_path / "a.warc.gz"), "c/a.warc.gz", "default")
            assert "rows" in steps
        inbox = tmp_path / "b.warc.gz"
        run(tmp_path, "ingest", inbox, "--crawl", "c", "--metrics-file", metrics)
        assert sample(metrics.read_text(), "pinakes_job_records_total") == 3
        assert sample(metrics.read_text(), "pinakes_job_exit_code") == 0
        wait_for(lambda: metric("pinakes_crawl_landed_records_total", crawl="c") == 5)
        status, html = get(url)
        assert (status, "Landing" in html) == (200, True)

        os.kill(running(cluster_alone.layout)["thrift"].pid, signal.SIGKILL)
        wait_for(lambda: health() == (503, {"rows": False, "archive": True}))
        assert metric("pinakes_store_reachable", store="rows") == 0
        assert get(url)[0] == 200
        cluster_alone.up()
        wait_for(lambda: health() == (200, {"rows": True, "archive": True}))
        wait_for(lambda: metric("pinakes_crawl_landed_records_total", crawl="c") == 5)
