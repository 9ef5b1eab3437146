"""What an export gives crawlers of reported captures, and of policies: what HTTP look-ups give."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from importing import COLLECTION
from landed_stores import LandedStore
from redis_servers import RunningRedis
from reporting import report, report_of
from shared_crawls import HOME, LOGO, NEWS, OLD, SITE, export_to, response

from pinakes.access.rules import parse_rules
from pinakes.dedupe.decide.policy import parse_policies
from pinakes.ingest.commit import commit_crawl

FINE = "2026-03-02T00:00:00Z"


def fields(redis: RunningRedis, crawl: str) -> dict[str, str]:
    """Of each URL that a crawl is told of, the date."""
    found = redis.dump().get(f"h:{crawl}", {})
    return {url.removeprefix(SITE): date for _, date, url, _ in map(str.split, found.values())}


def land_first(store: LandedStore) -> None:
    store.land(
        "first", "a.warc.gz", response("home", HOME, 1), response("logo", LOGO[:400], 2),
        collection=COLLECTION,
    )  # fmt: skip
    commit_crawl(store.rows, store.archive, "first", store.actor)


def test_only_what_a_look_up_gives(store: LandedStore, redis: RunningRedis) -> None:
    land_first(store)
    reports = [
        report_of(OLD, f"{SITE}home", "2026-01-02T03:04:01Z"),  # of another body there
        report_of(b"one", f"{SITE}two", FINE),
        report_of(b"other", f"{SITE}two", FINE),
        report_of(b"secret", f"{SITE}private/x", FINE),
        report_of(NEWS, f"{SITE}news", FINE),
        report_of(HOME, f"{SITE}again", FINE),  # known: the landed one is given
    ]
    report(store.rows, "runs", reports, collection=COLLECTION)
    export_to(redis.url, store, rules=parse_rules([{"block": f"{SITE}private/"}]))
    assert fields(redis, "runs") == {"news": "20260302000000"}
    assert fields(redis, "first") == {"home": "20260102030401", "logo": "20260102030402"}


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        pytest.param({"off": True}, set(), id="off"),
        pytest.param({"same_url": True}, set(), id="same url"),
        pytest.param({"min_bytes": 1000}, {"news"}, id="size"),
        pytest.param({"not_older_than": "1 days"}, set(), id="age"),
    ],
)
def test_policies_hold(
    store: LandedStore, redis: RunningRedis, policy: dict[str, Any], told: set[str]
) -> None:
    """That of an open crawl for what only it is told of; that of the collection for what all
    are."""
    land_first(store)
    both = [report_of(NEWS, f"{SITE}news", FINE), report_of(b"small", f"{SITE}small", FINE)]
    report(store.rows, "runs", both, collection=COLLECTION)
    store.land("opened", "b.warc.gz", response("old", OLD, 3), collection=COLLECTION)
    of_crawls = [{"crawl": "runs", **policy}, {"crawl": "opened", "off": True}]
    export_to(redis.url, store, policies=parse_policies(of_crawls))
    assert set(fields(redis, "runs")) == told
    assert fields(redis, "opened") == {}
    assert set(fields(redis, "first")) == {"home", "logo"}
    export_to(redis.url, store, policies=parse_policies([{"collection": COLLECTION, **policy}]))
    small = {"min_bytes": {"home"}}.get(next(iter(policy)), set())
    assert set(fields(redis, "first")) == small
    owners = redis.dump().get("alldupes", {})
    assert set(owners) == ({_sha256(HOME)} if small else set())


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        pytest.param("2026-03-02T00:00:00+05:00", "20260301190000", id="zone"),
        pytest.param("2026-03-02T00:00:01.999Z", "20260302000001999", id="milliseconds"),
        pytest.param("2026-03-02T00:00:01.000Z", "20260302000001", id="none of them"),
        pytest.param("2026", "20260101000000", id="a year"),
        pytest.param("20260302000002999", "20260302000002999", id="digits"),
    ],
)
def test_dates_are_digits_in_utc(
    store: LandedStore, redis: RunningRedis, date: str, shown: str
) -> None:
    report(store.rows, "runs", [report_of(NEWS, f"{SITE}x", date)], collection=COLLECTION)
    export_to(redis.url, store)
    assert fields(redis, "runs") == {"x": shown}
