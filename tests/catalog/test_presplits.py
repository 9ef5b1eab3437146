"""Where new tables are cut into regions."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from landed_stores import LandedStore, page

from pinakes.catalog.presplits import KeySample, sampled_splits


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
