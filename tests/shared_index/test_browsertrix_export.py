"""Browsertrix's keys after an export: those of its documentation, all of them or none."""

from __future__ import annotations

import hashlib
import itertools
import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from importing import COLLECTION
from landed_stores import LandedStore, page
from redis_servers import Crawler, RunningRedis, relay_of, running_redis
from shared_crawls import (
    HOME,
    LOGO,
    NEWS,
    SITE,
    comparable,
    documented_index,
    export_to,
    land_waczs,
    owners_fit,
    response,
    sha256_text,
    unresolved,
)

from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import REMOVE
from pinakes.errors import ConfigError, Conflict, StoreUnavailable
from pinakes.ingest.commit import commit_crawl

BOTH = ("first", "second")
NEW = b"new" * 800


@pytest.mark.parametrize("spelling", ["code", "documented"])
def test_keys_are_those_of_the_documentation(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, spelling: str
) -> None:
    files = land_waczs(store, tmp_path / "in", committed=BOTH)
    done = export_to(redis.url, store, spelling=spelling)
    assert done.digests == {"first": 3, "second": 2}
    owners_fit(redis.dump(), documented_index(files, spelling))
    assert redis.aside() == []
    assert all(redis.client.ttl(key) == -1 for key in redis.client.scan_iter())


def test_again_it_is_the_same(store: LandedStore, redis: RunningRedis, tmp_path: Path) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    export_to(redis.url, store)
    before = redis.dump()
    export_to(redis.url, store, token="other")
    assert redis.dump() == before
    export_to(redis.url, store, crawls=["second"])
    assert comparable(redis.dump()).keys() == comparable(before).keys()
    assert {**redis.dump(), "alldupes": None} == {**before, "alldupes": None}


def test_a_crawler_finds_what_was_exported(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    export_to(redis.url, store)
    crawler = Crawler(redis, "third")
    assert crawler.look_up(sha256_text(NEWS)) == ("second", "20260102030411", f"{SITE}news")
    assert crawler.look_up(sha256_text(HOME)) == ("first", "20260102030401", SITE)
    assert crawler.look_up(sha256_text(b"unknown")) is None


def test_an_open_crawl_is_not_merged(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    files = land_waczs(store, tmp_path / "in", committed=["first"])
    export_to(redis.url, store)
    dump = redis.dump()
    assert dump["uncommittedcrawls"] == {"second"}
    assert set(dump["alldupes"].values()) == {"first"}
    assert dump["h:second"] == documented_index(files, "code")["h:second"]
    assert Crawler(redis, "other").look_up(sha256_text(NEWS)) is None
    assert Crawler(redis, "second").look_up(sha256_text(NEWS)) is not None
    commit_crawl(store.rows, store.archive, "second", store.actor)
    export_to(redis.url, store)
    index = documented_index(files, "code") | {"uncommittedcrawls": {"other"}}
    owners_fit(redis.dump(), index)


def test_what_others_have_written_stays(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """A crawl that runs, one that has ended, and one that runs although it was exported."""
    land_waczs(store, tmp_path / "in", committed=["first"])
    ended, runs = Crawler(redis, "ended", wacz="e.wacz"), Crawler(redis, "runs", wacz="r.wacz")
    ended.add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    ended.add(sha256_text(HOME), f"{SITE}home", "20260102030421", 800)
    ended.finish("e.wacz", "e" * 64, 7000)
    ended.commit()
    runs.add(sha256_text(b"mine"), f"{SITE}mine", "20260102030422", 700)
    theirs = redis.dump()
    export_to(redis.url, store)
    exported = redis.dump()
    kept = [key for key in theirs if key not in ("alldupes", "allcounts", "allcrawls", "src:d")]
    kept.remove("uncommittedcrawls")
    assert {key: exported[key] for key in kept} == {key: theirs[key] for key in kept}
    assert exported["allcrawls"] == {"first", "ended"}
    assert exported["uncommittedcrawls"] == {"second", "runs"}
    assert exported["src:d"] == {"a.wacz", "b.wacz", "e.wacz"}
    owners = exported["alldupes"]
    assert owners[hashlib.sha256(NEW).hexdigest()] == "ended"
    assert owners[hashlib.sha256(HOME).hexdigest()] == "first"  # ours is known to be there
    total = int(exported["h:first:counts"]["totalUrls"]) + 2
    assert exported["allcounts"]["totalUrls"] == str(total)
    assert unresolved(redis) == []

    Crawler(redis, "second").add(sha256_text(NEW), f"{SITE}more", "20260102030423", 600)
    before = redis.dump()
    done = export_to(redis.url, store)
    assert (list(done.left), list(done.digests)) == (["second"], ["first"])
    assert redis.dump() == before


def test_a_crawl_that_is_gone_is_taken_out(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    files = land_waczs(store, tmp_path / "in", committed=BOTH)
    export_to(redis.url, store)
    Crawler(redis, "third").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    Remover(store.rows, store.archive, store.actor).take_out("second", REMOVE)
    assert export_to(redis.url, store).taken_out == ["second"]
    dump = redis.dump()
    assert {key for key in dump if ":third" in key} == {"h:third", "h:third:counts"}
    del dump["h:third"], dump["h:third:counts"], dump["uncommittedcrawls"]
    owners_fit(dump, documented_index({"first": files["first"]}, "code"))


def test_what_must_not_be_referred_to_is_left_out(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, shared_data: Path
) -> None:
    one, two = ((shared_data / f"collisions/sha1-{n}.pdf").read_bytes() for n in (1, 2))
    cut = [("WARC-Truncated", "length"), ("WARC-Payload-Digest", sha256_text(NEWS))]
    moved = b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n"
    sha1 = f"sha1:{hashlib.sha1(one).hexdigest()}"
    store.land(
        "spring",
        "a.warc.gz",
        response("fine", HOME, 1),
        page(f"{SITE}cut", NEWS, extra=cut),
        page(f"{SITE}moved", b"moved", head=moved),
        page(f"{SITE}one", one, extra=[("WARC-Payload-Digest", sha1)]),
        page(f"{SITE}two", two, extra=[("WARC-Payload-Digest", sha1)]),
        page(f"{SITE}with blank", LOGO),
        page(f"{SITE}lies", b"lies" * 50, extra=[("WARC-Payload-Digest", sha256_text(NEW))]),
        page(f"{SITE}twice", b"one of two"),
        page(f"{SITE}twice", b"two of two"),
        collection=COLLECTION,
    )
    commit_crawl(store.rows, store.archive, "spring", store.actor)
    export_to(redis.url, store)
    wanted = {hashlib.sha256(HOME).hexdigest(): f"0 20260102030401 {SITE}fine"}
    found = redis.dump()["h:spring"]
    assert {digest: value.rpartition(" ")[0] for digest, value in found.items()} == wanted
    export_to(redis.url, store, digests="sha256")  # of these bodies there is one each
    found = redis.dump()["alldupes"]
    assert set(found) == {hashlib.sha256(body).hexdigest() for body in (HOME, one, two)}


def test_a_time_has_milliseconds_where_the_record_has(
    store: LandedStore, redis: RunningRedis
) -> None:
    """So that a revisit names the very instant."""
    store.land(
        "spring",
        "a.warc.gz",
        page(f"{SITE}a", HOME, date="2026-01-02T03:04:05.678Z"),
        collection=COLLECTION,
    )
    commit_crawl(store.rows, store.archive, "spring", store.actor)
    export_to(redis.url, store)
    [value] = redis.dump()["h:spring"].values()
    assert value.startswith(f"0 20260102030405678 {SITE}a ")


def test_a_reader_never_sees_half(store: LandedStore, redis: RunningRedis, tmp_path: Path) -> None:
    """Whatever is in the merged index is whole, at every moment of exports that change it."""
    land_waczs(store, tmp_path / "in", committed=BOTH)
    seen: set[frozenset[bytes]] = set()
    ends = threading.Event()

    def read() -> None:
        while not ends.is_set():
            pipeline = redis.client.pipeline(transaction=True)
            pipeline.hkeys("alldupes").hkeys("h:first").hkeys("h:second").smembers("allcrawls")
            seen.add(frozenset().union(*pipeline.execute()))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(10):
            export_to(redis.url, store)
    finally:
        ends.set()
        reader.join()
    assert len(seen - {frozenset()}) == 1


# What goes wrong.


def test_redis_gone_at_any_moment_leaves_all_or_nothing(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first"])
    Crawler(redis, "runs").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    export_to(redis.url, store)
    before = redis.dump()
    commit_crawl(store.rows, store.archive, "second", store.actor)
    export_to(redis.url, store)
    after = redis.dump()
    outcomes, went_on = [], 0
    for messages, applied in ((n // 2, bool(n % 2)) for n in itertools.count()):
        _restore(redis, before)
        with relay_of(redis, messages, applied=applied) as way:
            try:
                export_to(way.url, store, token=f"{messages}-{applied}")
            except StoreUnavailable:
                pass
            else:
                went_on += way.left >= 0
        outcomes.append(redis.dump() == after)
        assert outcomes[-1] or redis.dump() == before
        export_to(redis.url, store)
        assert redis.dump() == after
        if went_on:
            break
    assert outcomes.index(True) > 20
    assert all(outcomes[outcomes.index(True) :])


def _restore(redis: RunningRedis, dump: dict[str, Any]) -> None:
    """Make the server hold what a dump says."""
    redis.client.flushall()
    for key, value in dump.items():
        if isinstance(value, dict):
            redis.client.hset(key, mapping=value)
        elif isinstance(value, set):
            redis.client.sadd(key, *value)
        elif isinstance(value, list):
            redis.client.rpush(key, *(json.dumps(one) for one in value))
        else:
            redis.client.set(key, value)


def test_redis_started_anew_at_any_moment_is_noticed(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """It has nothing then, and never has half of the index afterwards."""
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    whole, outcomes = redis.dump(), []
    for messages in itertools.count():
        redis.client.flushall()
        with relay_of(redis, messages, then=redis.client.flushall) as way:
            try:
                export_to(way.url, store, token=str(messages))
            except StoreUnavailable as error:
                outcomes.append(str(error).partition(": ")[0].partition("/0 ")[2])
                assert redis.dump() == {}
            else:
                outcomes.append("")
                assert redis.dump() in (whole, {})  # begun behind it, or done before it
            if way.left >= 0:
                break
    assert outcomes.count("has lost what was written just now") > 3
    assert outcomes[0] == outcomes[-1] == ""


def test_a_redis_that_does_not_answer(store: LandedStore, tmp_path: Path) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    with running_redis(tmp_path) as redis:
        export_to(redis.url, store)
        before = redis.dump()
        redis.process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="not reached"):
                export_to(redis.url, store, answer_s=0.2)
        finally:
            redis.process.send_signal(signal.SIGCONT)
        assert redis.dump() == before


def test_counts_of_others_that_are_no_numbers(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    redis.client.sadd("allcrawls", b"\xff")
    redis.client.hset(b"h:\xff:counts", "totalUrls", "7")
    export_to(redis.url, store)
    assert redis.client.hget("allcounts", "totalUrls") == b"15"
    redis.client.hset(b"h:\xff:counts", "totalUrls", "many")
    before = redis.client.hgetall("allcounts")
    with pytest.raises(Conflict, match=r"h:\\xff:counts: a count is no number"):
        export_to(redis.url, store)
    assert redis.client.hgetall("allcounts") == before
    assert redis.aside() == []


def test_a_crawl_that_commits_meanwhile(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """In the midst of an export: it is done again; all the time: it gives up, unchanged."""
    land_waczs(store, tmp_path / "in", committed=BOTH)
    crawler = Crawler(redis, "third", wacz="third.wacz")
    crawler.add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    for messages in itertools.count():
        with relay_of(redis, messages, then=crawler.commit) as way:
            export_to(way.url, store, token=str(messages))
            if way.left >= 0:
                break
        dump = redis.dump()
        assert dump["alldupes"][hashlib.sha256(NEW).hexdigest()] == "third"
        assert dump["allcrawls"] == {"first", "second", "third"}
        assert dump["allcounts"]["totalUrls"] == "9"
        assert unresolved(redis) == []
        redis.client.flushall()
        crawler = Crawler(redis, "third", wacz="third.wacz")
        crawler.add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    assert messages > 20


def test_an_index_that_never_rests(store: LandedStore, redis: RunningRedis, tmp_path: Path) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    changes = itertools.count()

    def change() -> None:  # as crawls do with --dedupeConcurrent
        redis.client.hincrby("allcounts", "totalUrls", next(changes))

    with (
        relay_of(redis, 0, then=change, always=True) as way,
        pytest.raises(Conflict, match="at every one of 5 attempts, and nothing was changed"),
    ):
        export_to(way.url, store)
    assert set(redis.dump()) == {"allcounts"}
    assert redis.aside() == []


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        pytest.param("alldupes", "set", id="merged"),
        pytest.param("allcrawls", "string", id="crawls"),
        pytest.param("allcounts", "list", id="counts"),
        pytest.param("pinakes:exported", "string", id="our notes"),
    ],
)
def test_something_else_lies_at_a_key(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, key: str, kind: str
) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    put = {"set": redis.client.sadd, "string": redis.client.set, "list": redis.client.rpush}[kind]
    put(key, "theirs")
    before = redis.dump() if kind != "list" else None
    with pytest.raises(Conflict, match=f"{kind} is at the key {key}"):
        export_to(redis.url, store)
    assert before is None or redis.dump() == before
    assert redis.client.dbsize() == 1


def test_one_database_has_one_index(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    export_to(redis.url, store)
    before = redis.dump()
    with pytest.raises(Conflict, match="--spelling code"):
        export_to(redis.url, store, spelling="documented")
    redis.client.hset("pinakes:exported", "x", '{"collection":"b"}')
    with pytest.raises(Conflict, match="holds something else"):
        export_to(redis.url, store)
    note = '{"collection":"b","spelling":"code","digests":0,"waczs":0,"counts":{}}'
    redis.client.hset("pinakes:exported", "x", note)
    with pytest.raises(Conflict, match="the index of the collection b"):
        export_to(redis.url, store)
    redis.client.hdel("pinakes:exported", "x")
    assert redis.dump() == before
    export_to(redis.url.replace("/0", "/1"), store, spelling="documented")


def test_full_it_stays_as_it_was(store: LandedStore, tmp_path: Path) -> None:
    """Without room for what is written aside; and where it evicts that instead."""
    pages = [
        page(f"{SITE}{n}", b"%d" % n * 100, date=f"2026-01-02T03:{n // 60:02}:{n % 60:02}Z")
        for n in range(3000)
    ]
    store.land("spring", "a.warc.gz", *pages, collection=COLLECTION)
    commit_crawl(store.rows, store.archive, "spring", store.actor)
    with running_redis(tmp_path) as redis:
        Crawler(redis, "runs").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
        before = redis.dump()
        room = redis.client.info("memory")["used_memory"] + 300_000
        for policy in ("noeviction", "volatile-lru"):
            redis.client.config_set("maxmemory-policy", policy)
            redis.client.config_set("maxmemory", room)
            with pytest.raises(StoreUnavailable, match=r"maxmemory|evict"):
                export_to(redis.url, store)
            assert redis.dump() == before
            assert redis.aside() == []
        redis.client.config_set("maxmemory", 0)
        export_to(redis.url, store)
        assert redis.client.hlen("alldupes") == 3000


def test_who_may(store: LandedStore, tmp_path: Path) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    with running_redis(tmp_path, "--requirepass", "s3cret") as redis:
        url = redis.url.replace("redis://", "redis://:s3cret@")
        export_to(url, store)
        for wrong in (redis.url, url.replace("s3cret", "wr0ng")):
            with pytest.raises(ConfigError) as refused:
                export_to(wrong, store)
            assert "s3cret" not in str(refused.value)
            assert "wr0ng" not in str(refused.value)
        with pytest.raises(ConfigError, match="DB index"):
            export_to(url.replace("/0", "/99"), store)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        pytest.param("redis://127.0.0.1:1/0", StoreUnavailable, id="nobody there"),
        pytest.param("http://127.0.0.1/", ConfigError, id="no Redis"),
        pytest.param("redis://127.0.0.1:port/0", ConfigError, id="no port"),
        pytest.param("unix:///nowhere/redis.sock", StoreUnavailable, id="no socket"),
    ],
)
def test_no_redis(store: LandedStore, tmp_path: Path, url: str, error: type[Exception]) -> None:
    land_waczs(store, tmp_path / "in", committed=BOTH)
    with pytest.raises(error):
        export_to(url, store)


def test_crawls_that_cannot_be_chosen(store: LandedStore, redis: RunningRedis) -> None:
    store.land("mine", "a.warc.gz", response("", HOME, 1), collection=COLLECTION)
    store.land("other", "a.warc.gz", response("", HOME, 1), collection="b")
    for crawl, words in (("none", "there is no crawl none"), ("other", "in the collection b")):
        with pytest.raises(ConfigError, match=words):
            export_to(redis.url, store, crawls=[crawl])
    assert redis.client.dbsize() == 0
