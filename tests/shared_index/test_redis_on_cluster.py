"""On HBase and HDFS an export writes the keys that it writes of a folder; so an import the rows."""

from __future__ import annotations

from pathlib import Path

from cluster_stores import store_on
from landed_stores import page
from redis_servers import Crawler, RunningRedis
from shared_cluster import RunningCluster
from shared_crawls import HOME, LOGO, NEWS, SITE, comparable, duplicate, response, sha256_text
from verbs_here import call_here


def exchange(folder: Path, redis: RunningRedis) -> list[object]:
    """Land two crawls, export, have a crawler add to it, and import; what came of each step."""
    said: list[object] = []

    def call(*words: str) -> None:
        done = call_here(folder, *words)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout if words[0] == "redis" else None)

    (folder / "first.warc.gz").write_bytes(
        response("", HOME, 1) + response("logo", LOGO, 2) + page(f"{SITE}plain", b"plain")
    )
    (folder / "second.warc.gz").write_bytes(
        response("logo2", LOGO, 12) + duplicate("", HOME, 13, "", 1)
    )
    for crawl in ("first", "second"):
        call("ingest", "-q", f"{crawl}.warc.gz", "--crawl", crawl, "--collection", "news")
    call("crawl", "commit", "first")
    where = ("news", "--redis", redis.url)
    call("redis", "export", *where)
    said.append({**comparable(redis.dump()), "last_update_ts": None})
    Crawler(redis, "third").add(sha256_text(NEWS), f"{SITE}news", "20260102030420", 900)
    call("redis", "import", *where)
    call("redis", "import", *where)
    call("redis", "export", *where, "--for", "pywb")
    said.append(redis.dump()["pywb:news:cdxj"])
    return said


def test_the_same_on_a_cluster(
    cluster: RunningCluster, redis: RunningRedis, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "pinakes.toml").write_text('store = "store"\n')
    assert call_here(here, "init", "-q").returncode == 0
    wanted = exchange(here, redis)
    redis.client.flushall()
    with store_on(cluster, there):
        assert exchange(there, redis) == wanted
    assert "third: 1 digest reported" in str(wanted)
