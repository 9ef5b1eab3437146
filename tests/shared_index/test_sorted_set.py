"""pywb's sorted set: the lines of committed crawls in, those of others left; theirs taken, checked.

At the end an unmodified pywb records and replays by it.
"""

from __future__ import annotations

import itertools
import json
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from landed_stores import LandedStore, page
from redis_servers import RunningRedis, relay_of, running_redis
from serve_process import serve_process
from shared_crawls import land_waczs
from verbs_here import call_here
from wayback_server import installed_tools, wayback

import pinakes
from pinakes.hbase_schema.capture_cells import ExternalLine
from pinakes.hbase_schema.cells import decode_cell

KEY = "pywb:news:cdxj"
THEIRS = (
    'org,example)/theirs 20260102030405 {"url":"http://example.org/theirs","mime":"text/html",'
    '"status":"200","digest":"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ","length":"700","offset":"0",'
    '"filename":"rec-20260102.warc.gz"}'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store whose collection `news` has a committed crawl and an open one."""
    (tmp_path / "pinakes.toml").write_text('store = "store"\ncollection = "news"\n')
    made = LandedStore(tmp_path / "store")
    land_waczs(made, tmp_path / "in", committed=["first"])
    made.close()
    return tmp_path


def call(
    folder: Path, redis: RunningRedis, way: str, *words: str, url: str = ""
) -> tuple[int, str]:
    done = call_here(
        folder, "redis", way, "news", "--for", "pywb", "--redis", url or redis.url, *words
    )
    return done.returncode, done.stdout + done.stderr


def lines(redis: RunningRedis, key: str = KEY) -> list[str]:
    assert all(score == 0 for _, score in redis.client.zrange(key, 0, -1, withscores=True))
    return [line.decode() for line in redis.client.zrange(key, 0, -1)]


def ours(folder: Path, *names: str) -> list[str]:
    return call_here(folder, "cdx", *names).stdout.splitlines()


def test_lines_are_those_of_cdx(folder: Path, redis: RunningRedis) -> None:
    count = len(ours(folder, "first"))
    assert call(folder, redis, "export") == (0, f"{KEY}: {count} lines written, 0 taken out\n")
    assert lines(redis) == ours(folder, "first") != []
    assert (redis.aside(), redis.client.ttl(KEY)) == ([], -1)
    assert call_here(folder, "crawl", "commit", "second").returncode == 0
    assert call(folder, redis, "export")[0] == 0
    assert lines(redis) == ours(folder, "news")
    assert len(lines(redis)) > count
    call(folder, redis, "export", "--key", "other:{coll}")
    assert lines(redis, "other:news") == lines(redis)


def test_lines_of_others_stay_and_our_old_ones_go(folder: Path, redis: RunningRedis) -> None:
    redis.client.zadd(KEY, {THEIRS: 0, "nonsense": 0})
    call(folder, redis, "export")
    stale = ours(folder, "first")[0].replace('"offset": "', '"offset": "9')
    old = ours(folder, "first")[0].replace("first/", "second/")
    redis.client.zadd(KEY, {old: 0, stale: 0})
    assert call(folder, redis, "export")[1].endswith(", 2 taken out\n")
    assert lines(redis) == sorted([*ours(folder, "first"), THEIRS, "nonsense"])
    purged = call_here(folder, "crawl", "purge", "first", "--references", "force")
    assert purged.returncode == 0
    count = len(lines(redis)) - 2
    assert call(folder, redis, "export") == (0, f"{KEY}: 0 lines written, {count} taken out\n")
    assert lines(redis) == sorted([THEIRS, "nonsense"])


def externals(folder: Path) -> list[ExternalLine]:
    store = LandedStore(folder / "store")
    cells = [row.value(ExternalLine.COLUMN) for row in store.rows.scan("captures")]
    store.close()
    return [decode_cell(ExternalLine, cell) for cell in cells if cell is not None]


def test_lines_of_others_come_in(folder: Path, redis: RunningRedis) -> None:
    call(folder, redis, "export")
    redis.client.zadd(KEY, {THEIRS: 0})
    words = "line of other archives"
    assert call(folder, redis, "import", "--dry-run") == (0, f"{KEY}: 1 {words} would be taken\n")
    assert externals(folder) == []
    for _ in range(2):
        assert call(folder, redis, "import") == (0, f"{KEY}: 1 {words} taken\n")
    [line] = externals(folder)
    wanted = json.loads(THEIRS.split(" ", 2)[2])
    assert {name: getattr(line, name) for name in wanted} == wanted
    assert line.collection == "news"
    found = call_here(folder, "lookup", wanted["digest"]).stdout
    assert "rec-20260102" not in found  # it has not landed here
    before = lines(redis)
    call(folder, redis, "export")
    assert lines(redis) == before


def test_what_are_no_lines_is_named(folder: Path, redis: RunningRedis) -> None:
    bad = [
        "",
        "nonsense",
        "{}",
        'org,example)/ 2026 {"url":"http://a/"}',
        'org,example)/ x {"url":"http://a/","filename":"f","offset":"0"}',
        'org,example)/ 20260102030405 {"url":"http://a/","filename":"f","offset":"-1"}',
        'org,example)/ 20260102030405 {"url":"http://a/","filename":"f","offset":"0"}\n{}',
        b'org,example)/ 20260102030405 {"url":"http://a/\xff","filename":"f"}',
        f'org,example)/ 20260102030405 {{"url":"http://a/{"x" * (2 << 20)}"}}',
        f"org,example)/ 20260102030405 {'[' * 100_000}}}",
    ]
    redis.client.zadd(KEY, dict.fromkeys([*bad, THEIRS], 0))
    code, said = call(folder, redis, "import", "-v")
    assert (code, said.count("not a CDXJ line")) == (3, len(bad))
    assert f"{KEY}: 1 line of other archives taken" in said
    assert len(externals(folder)) == 1


def test_our_own_lines_are_no_problem_whatever_their_urls_hold(
    folder: Path, redis: RunningRedis
) -> None:
    strange = THEIRS.replace("/theirs", "/\\u0001").replace("rec-20260102", "first/rec")
    redis.client.zadd(KEY, {strange: 0})
    assert call(folder, redis, "import") == (0, f"{KEY}: 0 lines of other archives taken\n")


def test_a_set_of_something_else(folder: Path, redis: RunningRedis) -> None:
    redis.client.set(KEY, "theirs")
    for way in ("export", "import"):
        code, said = call(folder, redis, way)
        assert code == 3
        assert f"a string is at the key {KEY}, where a zset should be" in said
    redis.client.delete(KEY)
    redis.client.zadd(KEY, {f"{THEIRS} {n}": n for n in range(3000)})
    code, said = call(folder, redis, "import")
    assert code == 3
    assert redis.client.zcard(KEY) == 3000


def test_evicted_keys_are_noticed(folder: Path, tmp_path: Path) -> None:
    with running_redis(tmp_path) as redis:
        redis.client.config_set("maxmemory-policy", "allkeys-lru")
        redis.client.set("theirs", b"x" * 100_000)
        numbers, value = itertools.count(), redis.client.dump("theirs")

        def write_more() -> None:  # what goes first: nobody has asked for it for an hour
            redis.client.restore(f"theirs:{next(numbers)}", 0, value, idletime=3600)

        for _ in range(40):
            write_more()
        redis.client.config_set("maxmemory", redis.client.info("memory")["used_memory"])
        with relay_of(redis, 0, then=write_more, always=True) as way:
            code, said = call(folder, redis, "export", url=way.url)
        assert code == 4
        assert "has evicted keys during the export" in said
        redis.client.config_set("maxmemory", 0)
        assert call(folder, redis, "export")[0] == 0


def test_redis_gone_at_any_moment(folder: Path, redis: RunningRedis) -> None:
    """Of the set all or nothing; in the store nothing before all is read."""
    call(folder, redis, "export")
    after = sorted([*lines(redis), THEIRS])
    outcomes = []
    for messages, applied in ((n // 2, bool(n % 2)) for n in itertools.count()):
        redis.client.flushall()
        redis.client.zadd(KEY, {THEIRS: 0, after[0].replace("first/", "second/"): 0})
        before = lines(redis)
        with relay_of(redis, messages, applied=applied) as way:
            code, said = call(folder, redis, "export", url=way.url)
            is_left = way.left >= 0
        assert (code == 0 and is_left) or "safe to run again" in said or lines(redis) == after
        outcomes.append(lines(redis) == after)
        assert outcomes[-1] or lines(redis) == before
        if is_left:
            break
    assert outcomes.index(True) > 8
    assert all(outcomes[outcomes.index(True) :])
    for messages in itertools.count():
        with relay_of(redis, messages) as way:
            code, _ = call(folder, redis, "import", url=way.url)
        if code == 0:
            break
        assert (code, externals(folder)) == (4, [])
    assert len(externals(folder)) == 1


BODIES = {"/same.html": b"<p>the same in both crawls</p>" * 40, "/new.html": b"<p>new</p>" * 40}


class Site(BaseHTTPRequestHandler):
    """Two pages."""

    def do_GET(self) -> None:
        body = BODIES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
def test_pywb_records_and_replays_by_it(folder: Path, redis: RunningRedis, site: str) -> None:
    """A page that we have becomes a revisit, and is replayed with the bytes that we serve."""
    tools = installed_tools()
    store = LandedStore(folder / "store")
    url = f"{site}/same.html"
    store.land("landed", "a.warc.gz", page(url, BODIES["/same.html"]), collection="news")
    store.close()
    assert call_here(folder, "crawl", "commit", "landed").returncode == 0
    assert call(folder, redis, "export")[0] == 0
    root = folder / "pywb"
    archive = root / "collections" / "news" / "archive"
    archive.mkdir(parents=True)
    (root / "collections" / "news" / "indexes").mkdir()
    with serve_process(folder / "store") as (_, told):
        lines_at = f"redis://127.0.0.1:{redis.port}/0/pywb:{{coll}}:cdxj"
        settings = root / "config.yaml"
        settings.write_text(
            "collections:\n  live: $live\nrecorder:\n  source_coll: live\n"
            f"  dedup_policy: revisit\n  dedup_index_url: {lines_at}\n"
        )
        with wayback(tools, root) as port:
            for path, body in BODIES.items():
                assert fetched(f"http://127.0.0.1:{port}/news/record/id_/{site}{path}") == body
            recorded = [json.loads(line.split(" ", 2)[2]) for line in _others(redis, 2)]
        assert {one["url"]: one["mime"] for one in recorded} == {
            url: "warc/revisit",
            f"{site}/new.html": "text/html",
        }
        settings.write_text(
            f"collections:\n  all:\n    index: {lines_at.replace('{coll}', 'news')}\n"
            f'    archive_paths: ["{archive}/", "{told["url"]}warc/"]\nenable_auto_colls: false\n'
        )
        with wayback(tools, root) as port:
            for moment in ("20200102030405", "2030"):
                replay = f"http://127.0.0.1:{port}/all/{moment}id_/{url}"
                assert fetched(replay) == BODIES["/same.html"]
    [revisit] = [
        record
        for path in sorted(archive.rglob("*.warc.gz"))
        for record in pinakes.iter_records(path, types={"revisit"})
    ]
    named = ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
    assert [revisit.header.get(name) for name in named] == [url, "2020-01-02T03:04:05Z"]
    assert call(folder, redis, "import") == (0, f"{KEY}: 2 lines of other archives taken\n")


def _others(redis: RunningRedis, count: int) -> list[str]:
    """The lines of the recorder, once there are so many: it writes them when it has answered."""
    while (
        len(
            found := [line for line in lines(redis) if "/a.warc" not in line and "wacz" not in line]
        )
        < count
    ):
        time.sleep(0.1)
    return found


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=120) as answer:
        body: bytes = answer.read()
    return body
