"""An export where crawlers, or the server, have done something since the last one."""

from __future__ import annotations

from pathlib import Path

import pytest
from importing import COLLECTION
from landed_stores import LandedStore
from redis_servers import Crawler, RunningRedis, running_redis
from shared_crawls import (
    HOME,
    NEWS,
    SITE,
    export_to,
    import_from,
    land_waczs,
    response,
    sha256_text,
    unresolved,
)

from pinakes.access.rules import parse_rules
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, PURGE, REMOVE, CrawlDeletion
from pinakes.errors import ConfigError, Conflict, StoreUnavailable
from pinakes.ingest.commit import commit_crawl
from pinakes.shared_index.marks import ENDED, RUNS, STALE
from pinakes.shared_index.server import open_server
from pinakes.shared_index.sorted_set import key_of

NEW = b"new" * 800


def test_a_crawl_that_was_cancelled_before_it_was_ever_exported(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """A crawler committed it there; others refer to what is not here, until it is taken out."""
    land_waczs(store, tmp_path / "in", committed=["first"])
    for name in ("third", "theirs"):
        crawler = Crawler(redis, name, wacz=f"{name}.wacz")
        crawler.add(sha256_text(name.encode()), f"{SITE}{name}", "20260102030420", 900)
        crawler.finish(f"{name}.wacz", "e" * 64, 7000)
        crawler.commit()
    runs = Crawler(redis, "fourth")
    runs.add(sha256_text(b"4"), f"{SITE}4", "20260102030420", 900)
    import_from(redis.url, store.rows, crawls=["third", "fourth"])
    remover = Remover(store.rows, store.archive, store.actor)
    for name in ("third", "fourth"):
        remover.take_out(name, CANCEL)
    assert export_to(redis.url, store, crawls=["first"]).taken_out == []
    assert export_to(redis.url, store).taken_out == ["third"]
    dump = redis.dump()
    assert dump["allcrawls"] == {"first", "theirs"}
    assert set(dump["alldupes"].values()) == {"first", "theirs"}
    assert not [key for key in dump if "third" in key]
    assert "third.wacz" not in dump["src:d"]
    assert unresolved(redis) == []
    assert runs.look_up(sha256_text(b"4")) is not None  # runs, for itself alone
    runs.commit()
    assert export_to(redis.url, store).taken_out == ["fourth"]


@pytest.mark.parametrize("key", ["h:second", "c:second:wacz", "h:second:counts"])
@pytest.mark.parametrize("ever", [False, True])
def test_something_else_at_a_key_of_a_committed_crawl(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, key: str, ever: bool
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    if ever:
        export_to(redis.url, store)
    redis.client.set(key, "theirs")
    before = redis.dump()
    with pytest.raises(Conflict, match=f"string is at the key {key}"):
        export_to(redis.url, store)
    assert redis.dump() == before


def test_an_open_crawl_that_a_crawler_has_ended(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """It is not moved back: others refer to it by now."""
    land_waczs(store, tmp_path / "in", committed=["first"])
    export_to(redis.url, store)
    Crawler(redis, "second").commit()
    before = redis.dump()
    assert export_to(redis.url, store).left == {"second": ENDED}
    assert redis.dump() == before
    commit_crawl(store.rows, store.archive, "second", store.actor)
    assert export_to(redis.url, store).left == {}
    assert redis.dump()["allcrawls"] == {"first", "second"}


@pytest.mark.parametrize("crawls", [(), ("second",)], ids=["all", "chosen"])
@pytest.mark.parametrize("how", [REMOVE, PURGE], ids=lambda how: how.verb)
def test_a_crawl_that_was_taken_out_and_begun_anew(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, how: CrawlDeletion, crawls: list[str]
) -> None:
    """That it stands committed there is our own doing: nobody else did."""
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    _begin_anew(store, "second", how)
    assert import_from(redis.url, store.rows)["second"].reported == 0
    done = export_to(redis.url, store, crawls=crawls)
    assert (done.left, done.digests["second"]) == ({}, 1)
    dump = redis.dump()
    assert (dump["allcrawls"], dump["uncommittedcrawls"]) == ({"first"}, {"second"})
    assert set(dump["alldupes"].values()) == {"first"}
    assert [value.split()[2] for value in dump["h:second"].values()] == [f"{SITE}anew"]
    assert dump["src:d"] == {"a.wacz", "b.wacz"}
    assert dump["allcounts"]["totalUrls"] == dump["h:first:counts"]["totalUrls"]
    assert Crawler(redis, "x").look_up(sha256_text(NEWS)) is None


def test_a_crawl_begun_anew_that_a_crawler_writes_to(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """Other crawlers no longer find what was taken out; what this crawler adds stays."""
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    _begin_anew(store, "second", REMOVE)
    crawler = Crawler(redis, "second")
    crawler.add(sha256_text(NEW), f"{SITE}more", "20260102030423", 600)
    for _ in range(2):
        assert export_to(redis.url, store).left == {"second": STALE}
        assert redis.dump()["allcrawls"] == {"first"}
        for asking in (crawler, Crawler(redis, "x")):
            assert asking.look_up(sha256_text(NEWS)) is None
        assert crawler.look_up(sha256_text(NEW)) is not None
    outcome = import_from(redis.url, store.rows)["second"].outcome
    assert outcome.startswith("has what was exported of an earlier crawl")
    crawler.commit()
    assert export_to(redis.url, store).left == {"second": ENDED}
    assert Crawler(redis, "x").look_up(sha256_text(NEW)) is not None
    assert Crawler(redis, "x").look_up(sha256_text(NEWS)) is None


def test_a_crawl_that_was_exported_open_and_begun_anew(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """What a crawler has committed there stays; of what it writes to, nothing is taken."""
    land_waczs(store, tmp_path / "in", committed=["first"])
    export_to(redis.url, store)
    _begin_anew(store, "second", CANCEL)
    crawler = Crawler(redis, "second")
    crawler.add(sha256_text(NEW), f"{SITE}more", "20260102030423", 600)
    assert export_to(redis.url, store).left == {"second": STALE}
    assert import_from(redis.url, store.rows)["second"].reported == 0
    crawler.commit()
    before = redis.dump()
    assert export_to(redis.url, store).left == {"second": ENDED}
    assert redis.dump() == before


def _begin_anew(store: LandedStore, crawl: str, how: CrawlDeletion) -> None:
    Remover(store.rows, store.archive, store.actor).take_out(crawl, how)
    store.land(crawl, "anew.warc.gz", response("anew", NEW, 30), collection=COLLECTION)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["h:second"], id="digests"),
        pytest.param(["h:second", "c:second:wacz", "h:second:counts"], id="all"),
        pytest.param(["uncommittedcrawls"], id="its name"),
    ],
)
def test_keys_that_are_gone_are_written_again(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, keys: list[str]
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first"])
    export_to(redis.url, store)
    before = redis.dump()
    redis.client.delete(*keys)
    assert export_to(redis.url, store).left == {}
    assert redis.dump() == before
    redis.client.delete(*keys)
    Crawler(redis, "second").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    assert export_to(redis.url, store).left == {"second": RUNS}


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-random"])
def test_evicted_keys_are_noticed(store: LandedStore, tmp_path: Path, policy: str) -> None:
    """Those of crawlers, too, which nothing else would miss."""
    records = [response(f"{n}", b"%d" % n * 100, n % 60) for n in range(3000)]
    store.land("spring", "a.warc.gz", *records, collection=COLLECTION)
    commit_crawl(store.rows, store.archive, "spring", store.actor)
    with running_redis(tmp_path) as redis:
        for n in range(200):
            redis.client.hset(f"h:runs{n}", mapping={f"{m}": "x" * 100 for m in range(60)})
        redis.client.config_set("maxmemory-policy", policy)
        redis.client.config_set("maxmemory", redis.client.info("memory")["used_memory"] + 300_000)
        with pytest.raises(StoreUnavailable, match="evict"):
            export_to(redis.url, store)
        assert redis.client.info("stats")["evicted_keys"] > 0
        redis.client.config_set("maxmemory", 0)
        export_to(redis.url, store)
        assert redis.client.hlen("alldupes") == 3000


def test_a_hidden_crawl_is_not_named(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    hidden = parse_rules([{"block": "*", "crawl": "second"}])
    assert export_to(redis.url, store, rules=hidden).taken_out == ["second"]
    assert "second" not in str(redis.dump())
    store.land("third", "a.warc.gz", response("third", NEW, 30), collection=COLLECTION)
    unseen = parse_rules([{"block": "*", "crawl": crawl} for crawl in ("second", "third")])
    export_to(redis.url, store, rules=unseen)
    assert "third" not in str(redis.dump())  # it is open
    with pytest.raises(ConfigError, match="the crawl third is hidden by access rules"):
        export_to(redis.url, store, rules=unseen, crawls=["third"])
    with pytest.raises(ConfigError, match="the crawl second is hidden by access rules"):
        export_to(redis.url, store, rules=hidden, crawls=["second"])
    partly = parse_rules([*[{"block": "*", "crawl": "second"}], {"allow": f"{SITE}news"}])
    export_to(redis.url, store, rules=partly)
    dump = redis.dump()
    assert dump["allcrawls"] == {"first", "second"}
    assert [value.split()[2] for value in dump["h:second"].values()] == [f"{SITE}news"]
    assert Crawler(redis, "x").look_up(sha256_text(NEWS)) is not None
    assert Crawler(redis, "x").look_up(sha256_text(HOME)) is not None


@pytest.mark.parametrize("path", ["3x", "x", "3/4", "-1", "0%31", "٣"])
def test_a_database_is_a_number(redis: RunningRedis, path: str) -> None:
    """The client takes what is none for 0."""
    with (
        pytest.raises(ConfigError, match="a database of a Redis is a number"),
        open_server(f"{redis.url.removesuffix('0')}{path}"),
    ):
        pass


@pytest.mark.parametrize(("path", "name"), [("", "/0"), ("/", "/0"), ("/3", "/3"), ("?db=2", "/2")])
def test_databases(redis: RunningRedis, path: str, name: str) -> None:
    with open_server(redis.url.removesuffix("/0") + path) as server:
        assert server.name.endswith(name)


def test_pywbs_key_is_none_of_ours() -> None:
    assert key_of("pywb:{coll}:cdxj", "news") == b"pywb:news:cdxj"
    for template in ("pinakes:exported", "{coll}:exported"):
        with pytest.raises(ConfigError, match="keys that begin with pinakes:"):
            key_of(template, "pinakes")
