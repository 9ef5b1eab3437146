"""What crawlers wrote to a Redis becomes reports of open crawls: whole, checked, and no more."""

from __future__ import annotations

import hashlib
import itertools
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from failing_store import failing_rows
from importing import COLLECTION, import_all
from landed_stores import LandedStore
from packages import members_of, write_package
from redis_servers import Crawler, RunningRedis, relay_of
from shared_crawls import (
    HOME,
    LOGO,
    NEWS,
    SITE,
    documented_index,
    duplicate,
    export_to,
    import_from,
    land_waczs,
    response,
    sha256_text,
    write_waczs,
)

from pinakes.catalog.crawl_rows import read_crawl
from pinakes.catalog.originals import Asked, OriginalFinder
from pinakes.catalog.reported import find_open_scope, scan_reports
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import ConfigError, Conflict, InputRefused, StoreUnavailable
from pinakes.index.external_sort import SortSpace
from pinakes.ingest.commit import commit_crawl
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest

NEW, MINE = b"new" * 800, b"mine" * 300


def reported(rows: RowStore, crawl: str) -> dict[str, tuple[str, str, int | None, str | None]]:
    """Date, URL, bytes and WACZ file by digest."""
    scope = find_open_scope(rows, crawl)
    reports = scan_reports(rows, scope) if scope is not None else ()
    return {
        str(one.digest): (one.seen.date, one.seen.url, one.seen.length, one.seen.file)
        for one in reports
    }


def state(store: LandedStore) -> dict[bytes, dict[bytes, bytes]]:
    """Every cell of the crawls' rows, but what names an act of its own."""
    rows = store.rows.scan("crawls")
    return {row.key: {c: cell.value for c, cell in row.cells.items()} for row in rows}


def running_crawl(redis: RunningRedis) -> Crawler:
    """A crawl that begins with what was exported, and adds three pages."""
    crawler = Crawler(redis, "third", wacz="third-0.wacz")
    assert crawler.look_up(sha256_text(NEWS)) is not None
    crawler.add(sha256_text(NEW), f"{SITE}new", "20260102030420123", 900)
    crawler.add(sha256_text(NEWS), f"{SITE}news", "20260102030421", 300, 1200)
    crawler.add(sha256_text(MINE), f"{SITE}mine", "20260102030422", 700)
    return crawler


def test_what_a_crawl_adds_becomes_its_reports(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    running_crawl(redis).finish("third-0.wacz", "3" * 64, 5000)
    found = import_from(redis.url, store.rows)
    assert {name: (one.outcome, one.reported) for name, one in found.items()} == {
        "first": ("is as it was exported: nothing taken", 0),
        "second": ("is as it was exported: nothing taken", 0),
        "third": ("reported", 2),
    }
    assert [file.name for file in found["third"].missing] == ["third-0.wacz"]
    assert reported(store.rows, "third") == {
        sha256_text(NEW): ("20260102030420123", f"{SITE}new", 900, "third-0.wacz"),
        sha256_text(MINE): ("20260102030422", f"{SITE}mine", 700, "third-0.wacz"),
    }
    before = state(store)
    import_from(redis.url, store.rows)
    assert state(store) == before


def test_the_crawl_that_ran_against_our_index_lands(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """Out, in, landed, committed, and out again: then it is as any other."""
    files = land_waczs(store, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, store)
    crawler = running_crawl(redis)
    import_from(redis.url, store.rows)
    manifest = tmp_path / "third" / "third-0.wacz"
    records = [
        response("new", NEW, 20),
        duplicate("news", NEWS, 21, "news", 11),
        response("mine", MINE, 22),
    ]
    write_package(manifest, members_of({"data.warc.gz": b"".join(records)}))
    crawler.finish("third-0.wacz", hashlib.sha256(manifest.read_bytes()).hexdigest(), 1)
    crawler.commit()
    (tmp_path / "third" / "m.json").write_text(
        '{"resources": [{"path": "third-0.wacz", "name": "third-0.wacz", "crawlId": "third"}]}'
    )
    import_all(store.rows, store.archive, [tmp_path / "third" / "m.json"])
    assert import_from(redis.url, store.rows)["third"].missing == []
    commit_crawl(store.rows, store.archive, "third", store.actor)
    export_to(redis.url, store)
    dump, expected = redis.dump(), documented_index({**files, "third": [manifest]}, "code")
    for key in ("h:third", "h:third:counts", "c:third:wacz", "allcrawls", "allcounts", "src:d"):
        assert dump[key] == expected[key]


def test_a_committed_index_of_somebody_else_is_no_original_here(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """Its crawls are open here; only they themselves find their digests."""
    other = LandedStore(tmp_path / "other")
    files = land_waczs(other, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, other)
    other.close()
    found = import_from(redis.url, store.rows)
    assert {name: one.reported for name, one in found.items()} == {"first": 3, "second": 2}
    assert [file.name for file in found["first"].missing] == ["a.wacz", "b.wacz"]
    expected = documented_index(files, "code")
    for crawl in ("first", "second"):
        entry = read_crawl(store.rows, crawl)
        assert entry is not None
        assert (entry.state, entry.facts.source) == ("open", "browsertrix")
        index = {
            digest.partition(":")[2]: (date, url, str(size), file)
            for digest, (date, url, size, file) in reported(store.rows, crawl).items()
        }
        names = [listed["filename"] for listed in expected[f"c:{crawl}:wacz"]]
        wanted = {d: value.split(" ") for d, value in expected[f"h:{crawl}"].items()}
        assert index == {d: (v[1], v[2], v[3], names[int(v[0])]) for d, v in wanted.items()}
    digest = parse_digest(sha256_text(HOME))
    assert digest is not None
    for crawl in (None, "mine", "*"):
        finder = OriginalFinder(
            store.rows,
            VisibleFiles(store.rows),
            collection=COLLECTION,
            crawl=crawl,
            admits=lambda key, file: True,
            gives=lambda original: True,
        )
        [answer] = [one for one in finder.iter_found([Asked(digest)]) if one is not None]
        assert answer.original is None


def test_there_and_back_it_is_the_same_index(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    """What was imported into another store is, exported from there, what it was: of open crawls."""
    other = LandedStore(tmp_path / "other")
    land_waczs(other, tmp_path / "in", committed=["first", "second"])
    export_to(redis.url, other)
    import_from(redis.url, store.rows)
    before = redis.dump()
    back = redis.url.replace("/0", "/1")
    export_to(back, store)
    redis.client.swapdb(0, 1)
    after = redis.dump()
    assert after["uncommittedcrawls"] == before["allcrawls"]
    for crawl in ("first", "second"):
        assert after[f"h:{crawl}"] == before[f"h:{crawl}"]
        used = {int(value.split(" ")[0]) for value in before[f"h:{crawl}"].values()}
        names = [before[f"c:{crawl}:wacz"][number]["filename"] for number in sorted(used)]
        assert after[f"c:{crawl}:wacz"] == [{"filename": name} for name in names]
    assert "alldupes" not in after
    other.close()


@pytest.mark.parametrize("spelling", ["code", "documented"])
def test_both_spellings_are_read(
    store: LandedStore, redis: RunningRedis, tmp_path: Path, spelling: str
) -> None:
    other = LandedStore(tmp_path / "other")
    land_waczs(other, tmp_path / "in", committed=["first"])
    export_to(redis.url, other, spelling=spelling)
    redis.client.hset("h:first", f"sha256:{'7' * 64}", "0 2026-01-02T03:04:05.678Z http://a/ 12")
    assert import_from(redis.url, store.rows)["first"].reported == 4
    assert reported(store.rows, "first")[f"sha256:{'7' * 64}"][0] == "20260102030405678"
    other.close()


def test_crawls_from_which_nothing_is_taken(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    land_waczs(store, tmp_path / "in", committed=["first"])
    store.land("elsewhere", "a.warc.gz", response("", HOME, 1), collection="b")
    for crawl in ("first", "elsewhere", "canceled"):
        Crawler(redis, crawl).add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    Crawler(redis, "empty")
    redis.client.sadd("canceledcrawls", "canceled")
    before = state(store)
    found = import_from(redis.url, store.rows)
    assert {name: one.outcome for name, one in found.items()} == {
        "first": "is committed here: nothing taken",
        "elsewhere": "is one of the collection b here: nothing taken",
        "canceled": "was cancelled there: nothing taken",
        "empty": "has no digests: nothing taken",
    }
    assert state(store) == before
    with pytest.raises(ConfigError, match="has no crawl none"):
        import_from(redis.url, store.rows, crawls=["none"])


def test_only_a_chosen_crawl_and_a_dry_run(store: LandedStore, redis: RunningRedis) -> None:
    for crawl in ("one", "two"):
        Crawler(redis, crawl).add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    before = state(store)
    found = import_from(redis.url, store.rows, crawls=["one"], dry_run=True)
    assert [(one.outcome, one.reported) for one in found.values()] == [("would be reported", 1)]
    assert state(store) == before
    assert list(import_from(redis.url, store.rows, crawls=["two"])) == ["two"]
    assert read_crawl(store.rows, "one") is None


def test_a_crawl_that_was_cancelled_here_stays_so(store: LandedStore, redis: RunningRedis) -> None:
    Crawler(redis, "one").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    import_from(redis.url, store.rows)
    Remover(store.rows, store.archive, store.actor).take_out("one", CANCEL)
    assert reported(store.rows, "one") == {}
    before = state(store)
    found = import_from(redis.url, store.rows)
    assert found["one"].outcome == "is cancelled here: nothing taken"
    assert state(store) == before


def test_what_can_be_no_original_is_counted(store: LandedStore, redis: RunningRedis) -> None:
    crawler = Crawler(redis, "one")
    crawler.add(sha256_text(b""), f"{SITE}empty", "20260102030420", 300)
    crawler.add(sha256_text(NEW), "ftp://example.org/", "20260102030420", 300)
    crawler.add(sha256_text(MINE), f"{SITE}old", "19800102030420", 300)
    crawler.add(sha256_text(HOME), f"{SITE}home", "20260102030420", 300)
    [one] = import_from(redis.url, store.rows).values()
    assert (one.reported, one.left_out) == (1, {"empty": 1, "scheme": 1, "date-before-1991": 1})
    assert set(reported(store.rows, "one")) == {sha256_text(HOME)}


LIES = {
    "not a digest": ("nonsense", "0 20260102030405 http://a/ 12"),
    "an MD5": ("d41d8cd98f00b204e9800998ecf8427e", "0 20260102030405 http://a/ 12"),
    "no value": ("1" * 64, ""),
    "three fields": ("2" * 64, "0 20260102030405 http://a/"),
    "five fields": ("3" * 64, "0 20260102030405 http://a/ b 12"),
    "a negative size": ("4" * 64, "0 20260102030405 http://a/ -12"),
    "a negative number": ("5" * 64, "-1 20260102030405 http://a/ 12"),
    "a huge number": ("6" * 64, f"{'9' * 400} 20260102030405 http://a/ 12"),
    "no date": ("7" * 64, "0 99999999999999 http://a/ 12"),
    "no UTF-8": ("8" * 64, b"0 20260102030405 http://a/\xff 12"),
    "a line end": ("9" * 64, "0 20260102030405 http://a/\nb 12"),
    "very long": ("a" * 64, f"0 20260102030405 http://a/{'x' * 70_000} 12"),
}


def test_lies_are_named_and_left_out(store: LandedStore, redis: RunningRedis) -> None:
    Crawler(redis, "one", wacz="w.wacz").add(sha256_text(NEW), f"{SITE}new", "20260102030420", 900)
    for name, value in LIES.values():
        redis.client.hset("h:one", name, value)
    redis.client.hset("h:one", "b" * 64, "7 20260102030405 http://a/ 12")  # there is no eighth
    files: tuple[Any, ...] = ("{}", "[]", '{"filename":1}', '{"filename":"x","size":-1}', b"\xff")
    redis.client.rpush("c:one:wacz", *files)
    problems: list[str] = []
    found = import_from(redis.url, store.rows, problems=problems)
    assert found["one"].reported == 2
    assert len(problems) == len(LIES) + len(files)
    assert all(problem.startswith("Redis 127.0.0.1:") for problem in problems)
    assert set(reported(store.rows, "one")) == {sha256_text(NEW), f"sha256:{'b' * 64}"}
    assert reported(store.rows, "one")[f"sha256:{'b' * 64}"][3] is None


def test_names_that_cannot_be_crawls(store: LandedStore, redis: RunningRedis) -> None:
    names: list[Any] = ["a/b", "", "a b", b"\xff", "x" * 200, "../x"]
    redis.client.sadd("allcrawls", *names)
    problems: list[str] = []
    assert import_from(redis.url, store.rows, problems=problems) == {}
    assert len(problems) == len(names)
    assert not list(store.rows.scan("crawls"))


@pytest.mark.parametrize("key", ["h:one", "c:one:wacz", "allcrawls", "canceledcrawls"])
def test_something_else_lies_at_a_key(store: LandedStore, redis: RunningRedis, key: str) -> None:
    redis.client.sadd("uncommittedcrawls", "one")
    redis.client.set(key, "theirs")
    with pytest.raises(Conflict, match=f"a string is at the key {key}"):
        import_from(redis.url, store.rows)
    assert not list(store.rows.scan("crawls"))


def test_too_many_wacz_files(store: LandedStore, redis: RunningRedis) -> None:
    redis.client.sadd("uncommittedcrawls", "one")
    for _ in range(11):
        redis.client.rpush("c:one:wacz", *['{"filename":"a"}'] * 10_000)
    with pytest.raises(InputRefused, match="more than 100,000 WACZ files"):
        import_from(redis.url, store.rows)


def test_redis_gone_midway_leaves_nothing(store: LandedStore, redis: RunningRedis) -> None:
    for crawl in ("one", "two"):
        crawler = Crawler(redis, crawl, wacz="w.wacz")
        for n in range(3):
            crawler.add(sha256_text(b"%d" % n), f"{SITE}{n}", "20260102030420", 900)
    failed = 0
    for messages in itertools.count():
        with relay_of(redis, messages) as way:
            try:
                import_from(way.url, store.rows)
            except StoreUnavailable:
                failed += 1
                assert not list(store.rows.scan("crawls"))
            else:
                break
    assert failed > 10
    assert len(reported(store.rows, "two")) == 3


@pytest.mark.parametrize("applied", [False, True], ids=["refused", "answer lost"])
def test_our_store_gone_at_any_call_is_completed(
    tmp_path: Path, redis: RunningRedis, applied: bool
) -> None:
    crawler = Crawler(redis, "one", wacz="w.wacz")
    for n in range(3):
        crawler.add(sha256_text(b"%d" % n), f"{SITE}{n}", "20260102030420", 900)
    for call in itertools.count(1):
        store = LandedStore(tmp_path / f"store-{call}")
        failing = failing_rows(store.rows, call, applied=applied)
        try:
            import_from(redis.url, failing)
        except StoreUnavailable:
            import_from(redis.url, store.rows)
            assert len(reported(store.rows, "one")) == 3
        else:
            break
        finally:
            store.close()
    assert call > 5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_entries(store: LandedStore, redis: RunningRedis) -> None:
    redis.client.sadd("uncommittedcrawls", "one")
    for at in range(0, 20_000, 10_000):
        entries = {
            hashlib.sha256(b"%d" % n).hexdigest(): f"0 20260102030405 {SITE}{n} 900"
            for n in range(at, at + 10_000)
        }
        redis.client.hset("h:one", mapping=entries)
    tracemalloc.start()
    try:
        found = import_from(redis.url, store.rows, space=SortSpace(memory_bytes=1 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found["one"].reported == 20_000
    assert peak < 8 << 20


def test_waczs_here_under_another_name_are_not_missing(
    store: LandedStore, redis: RunningRedis, tmp_path: Path
) -> None:
    _, files = write_waczs(tmp_path / "in")
    land_waczs(store, tmp_path / "in", committed=[])
    crawler = Crawler(redis, "first", wacz="renamed.wacz")
    crawler.add(sha256_text(LOGO), f"{SITE}logo", "20260102030402", 900)
    path = files["first"][0]
    crawler.finish("renamed.wacz", hashlib.sha256(path.read_bytes()).hexdigest(), 1)
    redis.client.rpush("c:first:wacz", '{"filename":"gone.wacz"}')
    assert [f.name for f in import_from(redis.url, store.rows)["first"].missing] == ["gone.wacz"]
