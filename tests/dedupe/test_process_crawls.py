"""One crawl after another, as a store does it: earlier decisions are known."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import (
    Bodies,
    chain,
    collections,
    decisions_in,
    order_of,
    processed,
    resolved,
)
from store_model import StoreModel

from pinakes.index.manifest import ManifestLine, place_of

Collection = tuple[list[ManifestLine], Bodies]


@given(collections(collisions=False), st.lists(st.integers(0, 8), max_size=3))
def test_crawls_in_date_order_equal_one_run(collection: Collection, cuts: list[int]) -> None:
    lines, bodies = collection
    whole = resolved(lines, bodies)
    store = StoreModel()
    bounds = [0, *sorted(cuts), 9]
    for start, end in pairwise(bounds):
        store.land([line for line in whole if start <= int(line.date[-3:-1]) < end])
    together = {p: t for p, t in decisions_in(chain(lines, bodies)).items() if t is not None}
    assert store.refers == together


@given(collections(collisions=False, revisits=False), st.randoms())
def test_late_crawl_costs_one_full_copy_each(collection: Collection, random: object) -> None:
    lines, bodies = collection
    whole = resolved(lines, bodies)
    together = {p: t for p, t in decisions_in(processed(whole)).items() if t is not None}
    crawls: list[list[ManifestLine]] = [[], [], []]
    for line in whole:
        crawls[random.randrange(3)].append(line)  # type: ignore[attr-defined]
    store = StoreModel()
    for crawl in crawls:
        store.land(crawl)
    assert len(store.refers) >= len(together) - store.late_arrivals
    by_place = {place_of(line): line for line in whole}
    for place, target in store.refers.items():
        assert target not in store.refers, "refers to a revisit"
        assert order_of(by_place[target]) < order_of(by_place[place])
        assert bodies.by_place[target] == bodies.by_place[place]
