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
from killing import KILLED, in_child
from landed_stores import LandedStore
from redis_servers import Crawler, RunningRedis
from shared_crawls import HOME, LOGO, NEWS, SITE, land_waczs, sha256_text
from verbs_here import call_here

from pinakes.cli import main

NEW = b"new" * 800


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
        "third: 1 digests would be reported",
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
    assert "1 reported digests left out: look-ups do not give them" in err
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
def test_an_export_killed_anywhere(folder: Path, redis: RunningRedis) -> None:
    words = ["redis", "export", "news", "--redis", redis.url, "-q"]
    outcomes = set()
    for step in itertools.count():
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
