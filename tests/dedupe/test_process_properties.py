"""Properties of the decisions, on generated collections with revisits already in them."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import (
    TIGHT,
    Bodies,
    address_of,
    as_revisit,
    chain,
    collections,
    content_of,
    decide_slowly,
    decisions_in,
    fit,
    is_addressable,
    order_of,
    pinned_places,
    processed,
    resolved,
)
from store_model import StoreModel

from pinakes.dedupe.decide.split import split_lines
from pinakes.index.manifest import ManifestLine, format_line, parse_line, place_of

Collection = tuple[list[ManifestLine], Bodies]
WITH_POLICIES = st.booleans().flatmap(lambda policies: collections(policies=policies))


@given(WITH_POLICIES)
def test_decisions_follow_the_written_rules(collection: Collection) -> None:
    lines = resolved(*collection)
    done = processed(lines)
    assert decisions_in(done) == decide_slowly(lines)
    assert chain(*collection) == done


@given(WITH_POLICIES)
def test_every_reference_is_sound(collection: Collection) -> None:
    lines, bodies = collection
    done = chain(lines, bodies)
    by_place = {place_of(line): line for line in done}
    for place, target in decisions_in(done).items():
        if target is None:
            continue
        line, original = by_place[place], by_place[target]
        assert fit(original)
        assert original.copy_number == 1, "refers to a revisit"
        assert order_of(original) < order_of(line), "refers to itself or to the future"
        assert address_of(original) != address_of(line), "refers to its own address"
        assert is_addressable(original, done)
        assert bodies.by_place[place] == bodies.by_place[target], "another body"
        assert original.status == line.status
        assert (line.original_uri, line.original_date) == (original.target_uri, original.date)
        assert line.original_length == original.length


@given(collections())
def test_one_full_copy_per_content_unless_a_reason_is_given(collection: Collection) -> None:
    done = chain(*collection)
    copies = defaultdict(list)
    for line in sorted(filter(fit, done), key=order_of):
        copies[content_of(line)].append(line)
    for lines in copies.values():
        assert lines[0].copy_number == 1
        assert [line for line in lines if line.copy_number == 1 and not line.full] == lines[:1]
        duplicates = [line.copy_number for line in lines if line.copy_number != 1]
        assert duplicates == list(range(2, 2 + len(duplicates)))


@given(collections(policies=True))
def test_with_policies_what_is_full_behind_another_copy_has_its_reason(
    collection: Collection,
) -> None:
    seen = set()
    for line in sorted(filter(fit, chain(*collection)), key=order_of):
        assert (line.full is not None) == (line.copy_number == 1 and content_of(line) in seen)
        seen.add(content_of(line))


@given(WITH_POLICIES)
def test_targets_of_revisits_stay_full(collection: Collection) -> None:
    done = chain(*collection)
    pinned = pinned_places(done)
    assert [t for p, t in decisions_in(done).items() if p in pinned and t is not None] == []


@given(WITH_POLICIES, st.randoms())
def test_the_order_of_the_lines_does_not_matter(collection: Collection, random: object) -> None:
    lines, bodies = collection
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert chain(shuffled, bodies) == chain(lines, bodies)


@given(WITH_POLICIES, st.integers(1, 5))
def test_parts_together_equal_the_whole(collection: Collection, count: int) -> None:
    lines, bodies = collection
    parts: list[list[ManifestLine]] = [[] for _ in range(count)]
    for number, line in split_lines(lines, count, space=TIGHT):
        parts[number].append(parse_line(format_line(line)))
    done = [line._replace(marks=None) for part in parts for line in chain(part, bodies)]
    whole = [line._replace(marks=None) for line in chain(lines, bodies)]
    assert sorted(done, key=place_of) == whole


@given(WITH_POLICIES)
def test_processing_a_processed_manifest_changes_nothing(collection: Collection) -> None:
    done = chain(*collection)
    assert processed(done) == done


@given(collections(collisions=False))
def test_rewritten_collection_has_no_duplicates_left(collection: Collection) -> None:
    lines, bodies = collection
    first = chain(lines, bodies)
    rewritten = [as_revisit(line) for line in first]
    again = decisions_in(chain(rewritten, bodies))
    assert set(again.values()) <= {None}
    assert set(again) == {p for p, target in decisions_in(first).items() if target is None}


# --- One crawl after another, as a store does it: earlier decisions are known


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
