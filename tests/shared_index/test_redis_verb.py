"""`pinakes redis`: both ways, its words and exit codes; killed anywhere, the same call ends it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from cluster_stores import store_on
from killing import KILLED, in_child
from landed_stores import LandedStore, page
from redis_servers import Crawler, RunningRedis, relay_of
from shared_cluster import RunningCluster
from shared_crawls import (
    HOME,
    LOGO,
    NEWS,
    SITE,
    comparable,
    duplicate,
    land_waczs,
    response,
    sha256_text,
)
from verbs_here import call_here

from pinakes.cli import main
from pinakes.shared_index.server import require_kind

NO_LENGTH = b"$zz\r\n"
NUMBERS = b"*2\r\n:0\r\n*2\r\n:1\r\n:2\r\n" * 9_999
NEW = b"new" * 800
LINE = (
    'org,example)/new 20260102030405 {"url":"http://example.org/new","mime":"text/html",'
    '"status":"200","digest":"sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A","length":"900",'
    '"offset":"0","filename":"of-another.warc.gz"}'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store whose collection `news` has a committed crawl and an open one."""
    (tmp_path / "pinakes.toml").write_text('store = "store"\n')
    made = LandedStore(tmp_path / "store")
    land_waczs(made, tmp_path / "in", committed=["first"])
    made.close()
    return tmp_path


def call(folder: Path, redis: RunningRedis, *words: str) -> tuple[int, str, str]:
    done = call_here(folder, "redis", *words, "--redis", redis.url)
    return done.returncode, done.stdout, done.stderr


def test_what_manifests_no_longer_name_is_counted_there(folder: Path, redis: RunningRedis) -> None:
    """Kept since the import that found it, until a manifest names it again."""
    manifest = next((folder / "in").glob("*.json"))
    entries = json.loads(manifest.read_text())["resources"]
    second = [entry for entry in entries if entry["crawlId"] == "second"]
    first = [entry for entry in entries if entry["crawlId"] == "first"]
    missing = (1, sum(entry["size"] for entry in second))
    for named, wanted in ((first, missing), (first + second, (0, 0))):
        manifest.write_text(json.dumps({"resources": named}))
        done = call_here(folder, "import-wacz", str(manifest), "--collection", "news")
        assert done.returncode == 0, done.stderr
        redis.client.delete("allcounts")
        assert call(folder, redis, "export", "news")[0] == 0
        found = redis.dump()["allcounts"]
        assert (int(found["removedCrawls"]), int(found["removedCrawlSize"])) == wanted


def test_out_and_in(folder: Path, redis: RunningRedis) -> None:
    assert call(folder, redis, "export", "news") == (
        0,
        "first: written, committed, 3 digests\nsecond: written, open, 2 digests\n",
        "",
    )
    crawler = Crawler(redis, "third", wacz="third-0.wacz")
    assert crawler.look_up(sha256_text(HOME)) is not None
    crawler.add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    Crawler(redis, "second").add(sha256_text(NEW), f"{SITE}new2", "20260102030430", 900)
    assert call(folder, redis, "import", "news", "--dry-run")[1].splitlines() == [
        "first: is as it was exported: nothing taken",
        "second: 3 digests would be reported",
        "third: 1 digest would be reported",
        "  never imported here: third-0.wacz  (not yet there)",
    ]
    code, out, _ = call(folder, redis, "import", "news", "--crawl", "third", "--json")
    assert (code, json.loads(out)) == (
        0,
        {
            "crawl": "third",
            "outcome": "reported",
            "reported": 1,
            "left_out": {},
            "missing": [{"name": "third-0.wacz", "sha256": None, "size": None}],
        },
    )
    code, out, _ = call(folder, redis, "export", "news", "--digests", "sha256")
    left = "left as it is: a crawler writes to it; `pinakes redis import` takes what it adds"
    assert code == 0
    assert out.splitlines() == [
        "first: written, committed, 3 digests",
        f"second: {left}",
        f"third: {left}",
    ]


def test_what_dedupe_has_made_revisits_is_no_original(folder: Path, redis: RunningRedis) -> None:
    """Nor is what was withdrawn, or is not allowed."""
    assert call_here(folder, "crawl", "commit", "second").returncode == 0
    assert call(folder, redis, "export", "news")[0] == 0
    logo = hashlib.sha256(LOGO).hexdigest()
    before = redis.dump()
    assert logo in before["h:second"]
    done = call_here(folder, "dedupe", "--all", "--collection", "news")
    assert done.returncode == 0, done.stderr
    assert call(folder, redis, "export", "news")[0] == 0
    dump = redis.dump()
    assert logo not in dump["h:second"]
    assert dump["alldupes"][logo] == "first"
    dupes = [int(one["h:second:counts"]["dupeUrls"]) for one in (before, dump)]
    assert dupes == [1, 2]
    shown = json.loads(
        call_here(folder, "crawl", "show", "second", "--counts", "--json").stdout.splitlines()[0]
    )
    assert {name: str(shown[name]) for name in dump["h:second:counts"]} == dump["h:second:counts"]
    news = hashlib.sha256(NEWS).hexdigest()
    reason = ("--reason", "asked for", "--references", "withdraw")
    assert call_here(folder, "withdraw", f"{SITE}news", *reason).returncode == 0
    assert call(folder, redis, "export", "news")[0] == 0
    assert news in dump["alldupes"]
    assert news not in str(redis.dump())
    with (folder / "pinakes.toml").open("a") as settings:
        settings.write(f'[[access]]\nblock = "{SITE}logo"\n')
    assert call(folder, redis, "export", "news")[0] == 0
    assert logo not in str(redis.dump())


def test_what_is_left_out_is_named(folder: Path, redis: RunningRedis) -> None:
    redis.client.sadd("allcrawls", "one", "no name")
    redis.client.hset("h:one", "1" * 64, "nothing")
    code, out, err = call(folder, redis, "import", "news")
    assert (code, out) == (3, "one: has no digests: nothing taken\n")
    assert "cannot name a crawl" in err
    assert "not `number date URL size`: b'nothing'" in err


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        pytest.param(["export", "none"], 2, "none: no collection of this name", id="no collection"),
        pytest.param(
            ["export", "none", "--for", "pywb"], 2, "none: no collection of this name", id="pywb"
        ),
        pytest.param(
            ["export", "news", "--crawl", "none"], 2, "there is no crawl none", id="crawl"
        ),
        pytest.param(
            ["export", "news", "--key", "x"],
            2,
            "--key says nothing with --for browsertrix",
            id="key",
        ),
        pytest.param(
            ["export", "news", "--for", "pywb", "--spelling", "code"],
            2,
            "--spelling says nothing with --for pywb",
            id="spelling",
        ),
        pytest.param(
            ["export", "news", "--for", "pywb", "--key", "pinakes:exported"],
            2,
            "keys that begin with pinakes: are for our own notes",
            id="our key",
        ),
    ],
)
def test_wrong_calls(
    folder: Path, redis: RunningRedis, words: list[str], code: int, answer: str
) -> None:
    done = call(folder, redis, *words)
    assert done[:2] == (code, "")
    assert answer in done[2]
    assert redis.client.dbsize() == 0


def test_what_is_withheld_is_counted(folder: Path, redis: RunningRedis) -> None:
    Crawler(redis, "third").add(sha256_text(NEW), f"{SITE}", "20260102030401", 900)
    assert call(folder, redis, "import", "news", "--crawl", "third")[0] == 0
    redis.client.flushall()
    with (folder / "pinakes.toml").open("a") as settings:
        settings.write('[[dedupe]]\ncollection = "news"\nmin_bytes = 9999\n')
    code, out, err = call(folder, redis, "export", "news")
    assert (code, out.splitlines()) == (
        0,
        [
            "first: written, committed, 0 digests",
            "second: written, open, 0 digests",
            "third: written, open, 0 digests",
        ],
    )
    assert "1 reported digest left out: look-ups do not give them" in err
    assert "6 captures left out: policy-size" in err
    done = call_here(folder, "redis", "export", "news", "--redis", f"{redis.url}x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a database of a Redis is a number" in done.stderr


def test_a_redis_that_is_away(folder: Path) -> None:
    for way in ("export", "import"):
        done = call_here(folder, "redis", way, "news", "--redis", "redis://:pass@127.0.0.1:1/2")
        assert done.returncode == 4
        assert done.stderr.startswith("pinakes: error: Redis 127.0.0.1:1/2: not reached: ")
        assert "pass" not in done.stderr
        assert done.stderr.endswith("; safe to run again\n")


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"$zz\r\n", id="no length"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="a web server"),
        pytest.param(b"*1\r\n" * 9_999, id="lists in lists"),
        pytest.param(b"+PANG\r\n" * 9, id="another answer"),
        pytest.param(b":1\r\n" * 9, id="numbers"),
    ],
)
def test_a_server_that_is_no_redis(folder: Path, redis: RunningRedis, junk: bytes) -> None:
    for way in ("export", "import"):
        with relay_of(redis, 0, junk=junk) as relay:
            done = call_here(folder, "redis", way, "news", "--redis", relay.url)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr.startswith("pinakes: error: Redis 127.0.0.1:")
        assert done.stderr.count("\n") == 1
        assert "does not answer as a Redis does: is this the right address?" in done.stderr


@pytest.mark.parametrize(
    ("crawler", "junk"),
    [
        pytest.param("browsertrix", NO_LENGTH, id="browsertrix, no length"),
        pytest.param("pywb", NUMBERS, id="pywb, lists of numbers"),
        pytest.param("browsertrix", NUMBERS, id="browsertrix, numbers", marks=pytest.mark.large),
        pytest.param("pywb", NO_LENGTH, id="pywb, no length", marks=pytest.mark.large),
    ],
)
def test_junk_at_any_moment_leaves_all_or_nothing(
    folder: Path, redis: RunningRedis, junk: bytes, crawler: str
) -> None:
    """The last thing that is asked comes behind the transaction."""
    Crawler(redis, "third", wacz="w.wacz").add(sha256_text(NEW), SITE, "20260102030420", 900)
    redis.client.zadd("pywb:news:cdxj", {LINE: 0})
    store = LandedStore(folder / "store")
    for way in ("import", "export"):
        before = redis.dump(), list(store.rows.scan("crawls"))
        for messages in itertools.count():
            assert (redis.dump(), list(store.rows.scan("crawls"))) == before
            with relay_of(redis, messages, junk=junk) as relay:
                words = ("redis", way, "news", "--for", crawler, "--redis", relay.url)
                done = call_here(folder, *words)
                if redis.dump() != before[0] or relay.left >= 0:
                    break
            assert (done.returncode, done.stdout) == (4, ""), done
            assert "does not answer as a Redis does" in done.stderr
        assert done.returncode == (0 if relay.left >= 0 else 4)
        assert messages > 3
    store.close()


@pytest.mark.parametrize(
    ("command", "answer"),
    [("TYPE", 1), ("TYPE", None), ("LRANGE", b"a"), ("LRANGE", [1]), ("ZSCORE", b"a")],
    ids=str,
)
def test_an_answer_of_another_kind_is_not_taken(command: str, answer: object) -> None:
    with pytest.raises(TypeError, match="for an answer"):
        require_kind(command, answer)


def test_the_server_s_own_words_are_told_alone(folder: Path, redis: RunningRedis) -> None:
    """Without the command, in which there is what was to be written."""
    redis.client.config_set("maxmemory", "1")
    try:
        done = call_here(folder, "redis", "export", "news", "--redis", redis.url)
    finally:
        redis.client.config_set("maxmemory", "0")
    assert done.returncode == 4
    assert "/0: command not allowed when used memory > 'maxmemory'" in done.stderr


@pytest.mark.parametrize(
    ("url", "name"),
    [("redis://:1", "localhost:1/0"), ("redis://127.99.9.9/3", "127.99.9.9:6379/3")],
    ids=["no host", "no port"],
)
def test_an_address_is_named_as_it_is_taken(folder: Path, url: str, name: str) -> None:
    done = call_here(folder, "redis", "import", "news", "--redis", url)
    assert done.returncode == 4
    assert done.stderr.startswith(f"pinakes: error: Redis {name}: not reached: ")


def _killed_at(folder: Path, words: list[str], step: int) -> bool:
    """Whether the verb, in a child, ended itself at its so-manieth message or its next write."""

    def child() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.chdir(folder)
        left = step
        send: Any = socket.socket.sendall

        def sendall(this: socket.socket, *data: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                os._exit(KILLED)
            send(this, *data)

        socket.socket.sendall = sendall  # type: ignore[method-assign]
        os._exit(main(words))

    code = in_child(child)
    assert code in (0, KILLED)
    return code == KILLED


@pytest.mark.slow
@pytest.mark.parametrize("stride", [2, pytest.param(1, marks=pytest.mark.large)])
def test_an_export_killed_anywhere(folder: Path, redis: RunningRedis, stride: int) -> None:
    words = ["redis", "export", "news", "--redis", redis.url, "-q"]
    outcomes = set()
    for step in itertools.count(0, stride):
        redis.client.flushall()
        Crawler(redis, "runs").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
        before = redis.dump()
        if not _killed_at(folder, words, step):
            break
        whole = redis.dump()
        outcomes.add(whole == before)
        assert whole == before or whole["allcrawls"] == {"first"}
        assert all(0 < redis.client.ttl(key) <= 86_400 for key in redis.aside())
        assert main([*words, "--config", str(folder / "pinakes.toml")]) == 0
        after = redis.dump()
        assert set(after["alldupes"].values()) == {"first"}
        assert after["uncommittedcrawls"] == {"second", "runs"}
    assert step > 20
    assert outcomes == {True, False}


@pytest.mark.slow
def test_an_import_killed_anywhere(folder: Path, redis: RunningRedis) -> None:
    crawler = Crawler(redis, "third", wacz="third-0.wacz")
    for body, path in ((NEW, "new"), (NEWS, "news")):
        crawler.add(sha256_text(body), f"{SITE}{path}", "20260102030420", 900)
    words = ["redis", "import", "news", "--redis", redis.url, "-q"]
    store = LandedStore(folder / "store")
    for step in itertools.count():
        if not _killed_at(folder, words, step):
            break
        assert not [row for row in store.rows.scan("crawls") if b"third" in row.key]
    assert step > 5
    assert len([row for row in store.rows.scan("crawls") if b":seen:third:" in row.key]) == 4
    store.close()


def test_hidden_crawls_are_not_written_and_it_is_said(folder: Path, redis: RunningRedis) -> None:
    with (folder / "pinakes.toml").open("a") as settings:
        settings.write('[[access]]\nblock = "*"\ncollection = "news"\n')
    code, out, err = call(folder, redis, "export", "news")
    assert (code, out) == (0, "")
    assert "news: no crawl is open or committed and may be given out" in err


# --- On HBase and HDFS an export writes the keys that it writes of a folder; so an import the r


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
