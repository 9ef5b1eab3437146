"""`[[dedupe]]` tables: which policy a crawl has, what each exempts, what is refused."""

from __future__ import annotations

import pytest

from pinakes.dedupe.decide.clusters import format_flags
from pinakes.dedupe.decide.policy import (
    EVERYTHING,
    DedupePolicy,
    format_marks,
    parse_policies,
    scope_of,
    scoped_content,
)
from pinakes.errors import ConfigError


def test_the_last_table_that_fits_is_the_policy_of_a_crawl() -> None:
    policies = parse_policies(
        [
            {"min_bytes": 10},
            {"collection": "news", "statuses": [200]},
            {"crawl": "evidence", "off": True},
            {"collection": "law", "crawl": "evidence", "same_url": True},
        ]
    )
    assert policies.of("other", "c") == DedupePolicy(min_bytes=10)
    assert policies.of("news", "c").statuses == frozenset({200})
    assert policies.of("news", "c").min_bytes == 0, "tables are not added up"
    assert policies.of("news", "evidence").off
    assert policies.of("law", "evidence").scope == "same-url"
    assert parse_policies([]).of("news", "c") is EVERYTHING


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, None),
        ({"off": True}, "policy-off"),
        ({"min_bytes": 1000}, None),
        ({"min_bytes": 1001}, "policy-size"),
        ({"media_types": ["text/html", "image/*"]}, None),
        ({"media_types": ["TEXT/*"]}, None),
        ({"media_types": ["image/*", "text/htm"]}, "policy-media-type"),
        ({"statuses": [200, 404]}, None),
        ({"statuses": [404]}, "policy-status"),
        ({"same_url": True, "not_older_than": "3 days"}, None),
        ({"off": True, "min_bytes": 1001, "statuses": [404]}, "policy-off"),
    ],
    ids=str,
)
def test_what_a_policy_exempts(table: dict[str, object], expected: str | None) -> None:
    (policy,) = parse_policies([table]).policies
    flags = policy.exemption(size=1000, media_type="Text/HTML", status=200)
    assert format_flags(flags) == expected


def test_a_record_without_type_or_status_is_of_none_that_a_policy_names() -> None:
    (policy,) = parse_policies([{"media_types": ["text/*"]}]).policies
    assert format_flags(policy.exemption(size=1, media_type=None, status=None)) == (
        "policy-media-type"
    )
    (policy,) = parse_policies([{"statuses": [200]}]).policies
    assert format_flags(policy.exemption(size=1, media_type=None, status=None)) == "policy-status"


@pytest.mark.parametrize(
    "table",
    [
        {"of": True},
        {"off": "yes"},
        {"off": 1},
        {"crawl": ""},
        {"crawl": 7},
        {"crawl": "a*"},
        {"collection": "no such"},
        {"min_bytes": "1 KiB"},
        {"min_bytes": -1},
        {"min_bytes": True},
        {"media_types": "text/html"},
        {"media_types": []},
        {"media_types": ["html"]},
        {"media_types": ["*/*"]},
        {"media_types": ["text/h*"]},
        {"media_types": [7]},
        {"statuses": []},
        {"statuses": [20]},
        {"statuses": ["200"]},
        {"statuses": [True]},
        {"same_url": None},
        {"not_older_than": 30},
        {"not_older_than": "0 days"},
        {"not_older_than": "a month"},
        {"not_older_than": "٣ days"},
    ],
    ids=str,
)
def test_a_wrong_table_is_named_by_its_number(table: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="dedupe policy 2: "):
        parse_policies([{}, table])


@pytest.mark.parametrize(
    ("marks", "scope"),
    [
        (None, ""),
        ("known,late", ""),
        ("same-url", "same-url"),
        ("known,same-url,within-30", "same-url,within-30"),
        ("within-0", ""),
        ("within-x,within-,within-１", ""),
        ("within-123456", ""),
    ],
)
def test_a_scope_is_read_from_marks(marks: str | None, scope: str) -> None:
    assert scope_of(marks) == scope


def test_marks_are_flags_and_scope() -> None:
    assert format_marks(0, "") is None
    assert format_marks(8 | 64, "within-7") == "known,policy-size,within-7"


def test_periods_are_counted_from_1970_and_urls_compared_as_replay_does() -> None:
    def at(second: str, uri: str = "http://example.org/", scope: str = "within-30") -> str:
        return scoped_content(scope, uri, second)

    # 1970-01-01 and 29 days on are one period; the thirtieth day begins another.
    assert at("19700101000000") == at("19700130235959") != at("19700131000000")
    assert at("20200101000000") == at("20200101000000", "http://other.example/")
    same = "same-url"
    assert at("20200101000000", scope=same) == at("20240101000000", scope=same)
    assert at("2020", "https://www.example.org", same) == at("2020", "http://example.org/", same)
    assert at("2020", "http://example.org/b", same) != at("2020", "http://example.org/", same)
