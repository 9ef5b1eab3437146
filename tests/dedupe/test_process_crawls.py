"""One crawl after another, as a store does it: earlier decisions are known."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import (
    Bodies,
    Place,
    chain,
    collections,
    content_of,
    decisions_in,
    fit,
    order_of,
    pinned_places,
    processed,
    resolved,
)

from pinakes.index.manifest import ManifestLine, place_of

Collection = tuple[list[ManifestLine], Bodies]


class Store:
    """What has landed, and what became of it; the smallest thing that dedupes by crawls."""

    def __init__(self) -> None:
        self.lines: list[ManifestLine] = []
        self.refers: dict[Place, Place] = {}
        self.late: set[Place] = set()
        self.late_arrivals = 0

    def land(self, crawl: list[ManifestLine]) -> None:
        known = {place_of(line) for line in self.lines}
        for line in filter(fit, crawl):
            content = [o for o in self.lines if fit(o) and content_of(o) == content_of(line)]
            if any(order_of(line) < order_of(other) for other in content):
                self.late.add(place_of(line))
                self.late_arrivals += 1
        self.lines += crawl
        # A revisit whose target has become a revisit: the target is restored first.
        for place in pinned_places(self.lines):
            self.refers.pop(place, None)
        settled = set(self.refers.values())
        marked = [self._seen(line, known, settled) for line in self.lines]
        for place, target in decisions_in(processed(marked)).items():
            if target is not None:
                self.refers[place] = target

    def _seen(self, line: ManifestLine, known: set[Place], settled: set[Place]) -> ManifestLine:
        place = place_of(line)
        if place in self.refers:
            original = self.refers[place]
            target = next(line for line in self.lines if place_of(line) == original)
            return line._replace(
                type="revisit", refers_uri=target.target_uri, refers_date=target.date
            )
        marks = {"settled": place in settled, "known": place in known, "late": place in self.late}
        return line._replace(marks=",".join(name for name in marks if marks[name]) or None)


@given(collections(collisions=False), st.lists(st.integers(0, 8), max_size=3))
def test_in_order_of_date_gives_what_all_together_give(
    collection: Collection, cuts: list[int]
) -> None:
    lines, bodies = collection
    whole = resolved(lines, bodies)
    store = Store()
    bounds = [0, *sorted(cuts), 9]
    for start, end in pairwise(bounds):
        store.land([line for line in whole if start <= int(line.date[-3:-1]) < end])
    together = {p: t for p, t in decisions_in(chain(lines, bodies)).items() if t is not None}
    assert store.refers == together


@given(collections(collisions=False, revisits=False), st.randoms())
def test_out_of_order_costs_one_full_copy_a_late_arrival(
    collection: Collection, random: object
) -> None:
    lines, bodies = collection
    whole = resolved(lines, bodies)
    together = {p: t for p, t in decisions_in(processed(whole)).items() if t is not None}
    crawls: list[list[ManifestLine]] = [[], [], []]
    for line in whole:
        crawls[random.randrange(3)].append(line)  # type: ignore[attr-defined]
    store = Store()
    for crawl in crawls:
        store.land(crawl)
    assert len(store.refers) >= len(together) - store.late_arrivals
    by_place = {place_of(line): line for line in whole}
    for place, target in store.refers.items():
        assert target not in store.refers, "refers to a revisit"
        assert order_of(by_place[target]) < order_of(by_place[place])
        assert bodies.by_place[target] == bodies.by_place[place]
