"""Browsertrix's own indexer writes the keys that we write, and works on those that we wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from browsertrix_indexer import index_waczs, require_indexer, run_indexer
from importing import import_all
from landed_stores import LandedStore
from redis_servers import Crawler, RunningRedis
from shared_crawls import (
    HOME,
    NEWS,
    NOW,
    SITE,
    comparable,
    documented_index,
    export_to,
    import_from,
    owners_fit,
    sha256_text,
    write_waczs,
)

from pinakes.ingest.commit import commit_crawl

# Its sources are in no registry: what `make test` runs must be there on every machine.
pytestmark = pytest.mark.large
NEW = b"new" * 800


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[Path]]:
    require_indexer()
    manifest, files = write_waczs(tmp_path / "in")
    index_waczs(dict(files), manifest)
    return files


def land(store: LandedStore, files: Mapping[str, list[Path]]) -> None:
    manifest = next(iter(files.values()))[0].with_name("all.json")
    import_all(store.rows, store.archive, [manifest])
    for crawl in files:
        commit_crawl(store.rows, store.archive, crawl, store.actor)


def without_numbers(dump: Mapping[str, Any]) -> dict[str, Any]:
    """A dump in which every digest is in the WACZ file 0, as the indexer has it, without what it
    only notes, or counts beside its documentation."""
    found = {key: value for key, value in dump.items() if not key.startswith("pending:q:")}
    for key in [key for key in found if key.startswith("h:") and not key.endswith(":counts")]:
        entries = {digest: value.split(" ", 1)[1] for digest, value in found[key].items()}
        found[key] = {digest: f"0 {rest}" for digest, rest in entries.items()}
    counts = {n: v for n, v in found["allcounts"].items() if not n.lower().count("redundant")}
    return found | {"last_update_ts": NOW, "allcounts": counts}


def test_the_same_keys_for_the_same_wacz_files(
    store: LandedStore, redis: RunningRedis, files: dict[str, list[Path]]
) -> None:
    run_indexer(redis, "--sourceUrl", str(files["first"][0].with_name("all.json")))
    theirs = redis.dump()
    owners_fit(without_numbers(theirs), without_numbers(documented_index(files, "code")))
    assert int(theirs["allcounts"]["conservedSize"]) > 0
    redis.client.flushall()
    land(store, files)
    export_to(redis.url, store)
    assert comparable(without_numbers(redis.dump())) == comparable(without_numbers(theirs))


def test_the_indexer_goes_on_from_our_keys(
    store: LandedStore, redis: RunningRedis, files: dict[str, list[Path]]
) -> None:
    """It commits a crawl, cancels one, and finds nothing to import again."""
    land(store, files)
    export_to(redis.url, store)
    for crawl in ("third", "fourth"):
        crawler = Crawler(redis, crawl, wacz=f"{crawl}.wacz")
        assert crawler.look_up(sha256_text(HOME)) == ("first", "20260102030401", SITE)
        crawler.add(sha256_text(NEW), f"{SITE}{crawl}", "20260102030420", 900)
        crawler.add(sha256_text(NEWS), f"{SITE}{crawl}/2", "20260102030421", 300, 1200)
        crawler.finish(f"{crawl}.wacz", "3" * 64, 5000)
    before = redis.dump()
    run_indexer(redis, "--cancelCrawlId", "fourth")
    Crawler(redis, "third").commit()
    by_us = redis.dump()
    redis.client.smove("allcrawls", "uncommittedcrawls", "third")
    for name, value in before["allcounts"].items():
        redis.client.hset("allcounts", name, value)
    redis.client.hdel("alldupes", sha256_text(NEW).partition(":")[2])
    redis.client.srem("src:d", "third.wacz")
    run_indexer(redis, "--commitCrawlId", "third")
    assert redis.dump() == by_us
    manifest = str(files["first"][0].with_name("all.json"))
    run_indexer(redis, "--sourceUrl", manifest)
    now = redis.dump()
    removed = {"removedCrawls": "1", "removedCrawlSize": "5000"}  # the manifest has no third
    assert now["allcounts"] == {**by_us["allcounts"], **removed}
    assert {**now, "allcounts": None, "last_update_ts": None} == {
        **by_us,
        "allcounts": None,
        "last_update_ts": None,
    }
    export_to(redis.url, store)
    assert redis.dump()["allcounts"] == now["allcounts"]


def test_what_the_indexer_wrote_comes_in(
    store: LandedStore, redis: RunningRedis, files: dict[str, list[Path]]
) -> None:
    run_indexer(redis, "--sourceUrl", str(files["first"][0].with_name("all.json")))
    theirs = redis.dump()
    found = import_from(redis.url, store.rows)
    assert {crawl: one.reported for crawl, one in found.items()} == {"first": 3, "second": 2}
    redis.client.flushall()
    export_to(redis.url, store)
    ours = redis.dump()
    assert [ours[key] for key in ("h:first", "h:second")] == [
        theirs[key] for key in ("h:first", "h:second")
    ]
