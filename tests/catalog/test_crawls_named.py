"""Which crawls a name stands for."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import pytest
from crawl_states import set_crawl_state
from hypothesis import given
from hypothesis import strategies as st
from landed_stores import LandedStore, page

from pinakes.catalog.crawl_rows import PURGED, crawls_named, ensure_crawl
from pinakes.catalog.presplits import KeySample, sampled_splits
from pinakes.errors import ConfigError
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

CRAWLS = {
    "spring": "news", "summer": "news", "news": "other",
    "alone": "alone",
    "first": "first", "second": "first",
    "gone": "kept", "x": "gone",
    "left": "kept", "v": "left",
}  # fmt: skip
OUT = ("gone", "v")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedRowStore:
    path = tmp_path_factory.mktemp("rows") / "rows.sqlite"
    EmbeddedSchemaAdmin(path).apply(declared_schema())
    rows = EmbeddedRowStore(path)
    for crawl, collection in CRAWLS.items():
        ensure_crawl(rows, crawl, CrawlFacts(collection=collection), act="a", act_time_ms=1)
    for crawl in OUT:
        set_crawl_state(rows, crawl, PURGED, act="a")
    return rows


@pytest.mark.parametrize(
    ("name", "crawls"),
    [
        pytest.param("spring", ["spring"], id="crawl"),
        pytest.param("spring/", ["spring"], id="crawl, marked"),
        pytest.param("+spring", [], id="crawl, marked as a collection"),
        pytest.param("other", ["news"], id="collection"),
        pytest.param("other/", [], id="collection, marked as a crawl"),
        pytest.param("news", None, id="a crawl of another collection, and a collection"),
        pytest.param("news/", ["news"], id="both: the crawl"),
        pytest.param("+news", ["spring", "summer"], id="both: the collection"),
        pytest.param("first", None, id="a crawl and its collection, which has others"),
        pytest.param("alone", ["alone"], id="a crawl and its collection, which has no other"),
        pytest.param("gone", ["x"], id="a collection, and a crawl that is purged"),
        pytest.param("left", ["left"], id="a crawl, and a collection of which all is purged"),
        pytest.param("none", [], id="neither"),
    ],
)
def test_what_a_name_stands_for(
    rows: EmbeddedRowStore, name: str, crawls: list[str] | None
) -> None:
    if crawls is None:
        with pytest.raises(ConfigError, match=f"give {name}/ for the crawl, or [+]{name} for"):
            crawls_named(rows, name)
    else:
        assert [one.crawl for one in crawls_named(rows, name)] == crawls


# --- Where new tables are cut into regions


def sample_of(keys: list[bytes], most: int = 1000) -> KeySample:
    sample = KeySample(most)
    for key in keys:
        sample.add(key)
    return sample


@given(st.lists(st.binary(min_size=1, max_size=6), min_size=1, max_size=80), st.integers(1, 12))
def test_regions_are_of_about_one_size(keys: list[bytes], regions: int) -> None:
    different = sorted(set(keys))
    splits = sample_of(keys).split_keys(regions)
    assert list(splits) == sorted(set(splits))
    assert len(splits) == min(regions, len(different)) - 1
    assert b"" not in splits
    counts = Counter(bisect_right(splits, key) for key in different)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len(counts) == len(splits) + 1


def test_a_split_is_no_longer_than_it_must_be() -> None:
    sample = sample_of([b"com,aaaa)/", b"com,aabb)/x", b"org,zzzz)/"])
    assert sample.split_keys(3) == (b"com,aab", b"o")
    assert sample_of([b"a", b"ab", b"abc"]).split_keys(3) == (b"ab", b"abc")


def test_of_more_keys_than_are_kept_each_has_the_same_chance() -> None:
    keys = [b"%05d" % number for number in range(20_000)]
    random.Random(1).shuffle(keys)
    [half] = sample_of(keys, most=2000).split_keys(2)
    assert 9_000 < int(half.ljust(5, b"0")) < 11_000


def test_the_sample_has_the_keys_that_landing_writes(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    pages = [page(f"http://example.org/{n}", b"%d" % n) for n in range(100, 140)]
    store.land("sample", "a.warc.gz", *pages)
    path = store.inbox / "sample" / "a.warc.gz"
    for table, cuts in sampled_splits([str(path)], collection="default", regions=4).items():
        assert len(cuts) == 3
        keys = [row.key for row in store.rows.scan(table)]
        counts = Counter(bisect_right(cuts, key) for key in keys)
        assert set(counts.values()) == {len(keys) // 4}
