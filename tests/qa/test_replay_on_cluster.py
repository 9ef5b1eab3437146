"""The proxy over real HBase and HDFS: hits, misses, and both generations of a crawl."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from secrets import token_hex

import pytest
from browsing import Client
from hbase_opener import drop_tables
from scenes import write_crawl
from shared_cluster import RunningCluster

from pinakes.config import Configuration, format_settings, load_configuration
from pinakes.profile import hbase_connection, open_stores
from pinakes.qa.replay.generations import Generation
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.replay.proxy import ReplayProxy

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
PAGES = 12
MOMENT = datetime(2022, 1, 1, tzinfo=timezone.utc)


def run(folder: Path, *verb: object) -> None:
    command = [sys.executable, "-m", "pinakes.cli", "-q", *map(str, verb)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def configuration(cluster: RunningCluster, tmp_path: Path) -> Iterator[Configuration]:
    """A store of its own on the cluster, with two crawls of one site, deduplicated."""
    settings = {
        "store": str(tmp_path / "runs"),
        "hbase_timeout_s": "180",
        **cluster.settings(f"test{token_hex(4)}"),
    }
    (tmp_path / "pinakes.toml").write_text(format_settings(settings))
    found = load_configuration(environment={}, folder=tmp_path)
    try:
        run(tmp_path, "init")
        for crawl in (1, 2):
            write_crawl(tmp_path / f"c{crawl}", crawl, pages=PAGES)
            run(tmp_path, "ingest", tmp_path / f"c{crawl}", "--crawl", f"c{crawl}")
        run(tmp_path, "dedupe", "--all", "--min-file-saving", "0")
        yield found
        with open_stores(found) as stores:
            for name, _ in list(stores.archive.list()):
                stores.archive.delete(name)
    finally:
        drop_tables(hbase_connection(found))


def seen(proxy: ReplayProxy, generation: Generation) -> PageLog:
    session = proxy.open_session(generation)
    session.begin_page(generation, MOMENT)
    client = Client(session.port, proxy.ca_file, timeout_s=300)
    for number in range(PAGES):
        client.ask(f"https://www.example.org/{number}?utm_source=x")
    client.ask("http://example.org/none")
    return session.end_page(patience_s=300)


def test_a_crawl_on_hbase_and_hdfs(configuration: Configuration) -> None:
    with open_stores(configuration) as stores, ReplayProxy(stores.rows, stores.archive) as proxy:
        before, behind = seen(proxy, "before"), seen(proxy, "current")
        assert before.exchanges == behind.exchanges
        assert [e.outcome for e in before.exchanges] == ["hit"] * PAGES + ["miss"]
        assert {e.rule for e in before.exchanges[:-1]} == {"campaign"}
        names = {stored.name for stored in stores.archive.list()}
        assert {"c2/g2/part-0.warc.gz", "c2/g2/part-1.warc.gz"} <= names
