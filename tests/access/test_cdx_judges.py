"""The servers that ours is compared with agree on plain queries."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from cdx_judges import (
    DIALECTS,
    OUTBACKCDX_EXAMPLES,
    PYWB_EXAMPLES,
    Answer,
    Judge,
    archives_cdxj,
    captures_of,
    drawn_cdxj,
    drawn_queries,
    judges,
    paged_path,
    plain_queries,
)

# OutbackCDX is built from sources that not every machine can fetch: not for `make test`.
pytestmark = [pytest.mark.slow, pytest.mark.large]
SEED = 20
LINES = drawn_cdxj(600, seed=SEED)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judge, Judge]]:
    with judges(LINES, tmp_path_factory.mktemp("judges")) as (pywb, outbackcdx):
        yield pywb, outbackcdx


def places(answer: Answer) -> list[tuple[str, str, str, str]]:
    """Which captures an answer in CDXJ has, and in which order."""
    found = []
    for line in answer.lines:
        urlkey, time, fields = line.decode().split(" ", 2)
        values = json.loads(fields)
        found.append((urlkey, time, values["filename"], values["offset"]))
    return found


def test_both_agree_on_plain_queries(both: tuple[Judge, Judge]) -> None:
    pywb, outbackcdx = both
    answered = 0
    for query in plain_queries(captures_of(LINES), count=50, seed=SEED):
        asked = (*query, ("output", "cdxj"))
        ours, theirs = places(pywb.ask(asked)), places(outbackcdx.ask(asked))
        assert [row[:2] for row in ours] == [row[:2] for row in theirs], query
        if "limit" not in dict(query):
            assert sorted(ours) == sorted(theirs), query
        answered += len(ours)
    assert answered > 500


def test_both_agree_on_real_captures(shared_data: Path, tmp_path: Path) -> None:
    real = archives_cdxj(shared_data / "archives", tmp_path)
    # OutbackCDX refuses a digest without a value.
    lines = [line for line in sorted({*real, *LINES}, key=str.encode) if '"sha1:"' not in line]
    # Queries and ports have other keys in OutbackCDX.
    asked = [known for known in captures_of(lines) if not set("?:") & set(known.url[6:])]
    found = 0
    with judges(lines, tmp_path / "judges") as (pywb, outbackcdx):
        for known in random.Random(SEED).sample(asked, 200):
            query = (("url", known.url), ("output", "cdxj"), ("allowFuzzy", "0"))
            ours, theirs = places(pywb.ask(query)), places(outbackcdx.ask(query))
            assert set(ours) == set(theirs), query
            found += bool(ours)
    assert found > 190
    assert len(real) > 700


def test_pages_are_together_what_is_not_paged(both: tuple[Judge, Judge]) -> None:
    pywb, _ = both
    query = (("url", "http://drawn.org/*"), ("pageSize", "2"))
    pages = json.loads(pywb.ask((*query, ("showNumPages", "true")), path=paged_path()).body)
    found = []
    for page in range(pages["pages"]):
        found += pywb.ask((*query, ("page", str(page))), path=paged_path()).lines
    assert pages["pages"] > 2
    assert found == pywb.ask(query).lines


@pytest.mark.parametrize("dialect", DIALECTS)
def test_drawn_queries_are_understood_and_mostly_find_something(
    both: tuple[Judge, Judge], dialect: str
) -> None:
    judge = both[DIALECTS.index(dialect)]
    found = 0
    for query in drawn_queries(dialect, captures_of(LINES), count=300, seed=SEED):
        answer = judge.ask(query)
        assert answer.status == 200, query
        assert b"warning:" not in answer.body, query
        assert b"is_fuzzy" not in answer.body, query
        found += len(answer.body) > 150
    assert found > 150


def test_documented_queries_are_answered(both: tuple[Judge, Judge]) -> None:
    pywb, outbackcdx = both
    for query in PYWB_EXAMPLES:
        assert pywb.ask(query).status == 200, query
    for query in OUTBACKCDX_EXAMPLES:
        assert outbackcdx.ask(query).status == 200, query


@pytest.mark.parametrize("dialect", DIALECTS)
def test_drawn_queries_are_the_same_ones_again(dialect: str) -> None:
    captures = captures_of(LINES)
    queries = list(drawn_queries(dialect, captures, count=100, seed=SEED))
    assert queries == list(drawn_queries(dialect, captures, count=100, seed=SEED))
    assert len(set(queries)) > 80
