"""Which records a dictionary is made of."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from archive_builders import records_of, warc
from hypothesis import given
from hypothesis import strategies as st
from page_sets import HTML, images, pages

from pinakes.dictionaries.samples import (
    ENTRY_BYTES,
    MOST_KINDS,
    OTHER,
    SAMPLE_BYTES,
    Reservoir,
    Sample,
    Sampler,
    first_bytes,
    kind_of,
)
from pinakes.warc.record import Record

SITE = records_of(b"".join(pages(300)))
PICTURES = records_of(b"".join(images(100)))


def sampled(records: list[Record], *, seed: int = 1, **limits: int) -> Sampler:
    sampler = Sampler(seed=seed, **limits)
    for record in records:
        sampler.add(record)
    return sampler


def filled(kinds: list[str], most_bytes: int) -> Reservoir:
    reservoir = Reservoir(most_bytes, random.Random(7).random)
    for kind in kinds:
        priority = reservoir.priority(kind)
        if priority is not None:
            reservoir.put(priority, Sample(kind, kind.encode() * 10))
    return reservoir


ORDERS = {
    "one after the other": ["a"] * 9000 + ["b"] * 3000,
    "the smaller first": ["b"] * 3000 + ["a"] * 9000,
    "mixed": ["a", "b", "a", "a"] * 3000,
    "one again": ["a"] * 100 + ["b"] * 3000 + ["a"] * 8900,
}


@pytest.mark.parametrize("kinds", ORDERS.values(), ids=ORDERS)
def test_each_kind_keeps_its_part_whatever_comes_when(kinds: list[str]) -> None:
    counts = Counter(sample.kind for sample in filled(kinds, 400 * (10 + ENTRY_BYTES)).samples())
    assert 390 <= counts["a"] + counts["b"] <= 400
    assert 297 <= counts["a"] <= 303


@given(st.lists(st.sampled_from("abcde")), st.integers(0, 3000))
def test_a_reservoir_never_exceeds_its_bytes(kinds: list[str], most_bytes: int) -> None:
    reservoir = filled(kinds, most_bytes)
    taken = sum(ENTRY_BYTES + len(sample.data) for sample in reservoir.samples())
    assert reservoir.bytes == taken <= most_bytes


@given(st.lists(st.sampled_from("abcde"), max_size=20))
def test_all_are_kept_where_there_is_room(kinds: list[str]) -> None:
    assert Counter(
        sample.kind for sample in filled(kinds, 20 * (10 + ENTRY_BYTES)).samples()
    ) == Counter(kinds)


def test_what_is_held_out_is_not_trained_on() -> None:
    sampler = sampled(SITE)
    training, held_out = sampler.training(), [sample.data for sample in sampler.held_out()]
    assert sorted(training + held_out) == sorted(map(first_bytes, SITE))
    assert 30 <= len(held_out) <= 90


def test_the_seed_decides() -> None:
    first, again, other = (sampled(SITE, seed=seed) for seed in (1, 1, 2))
    assert first.training() == again.training() != other.training()
    assert first.held_out() == again.held_out()


def test_of_bodies_that_stay_as_large_only_heads_are_trained_on() -> None:
    sampler = sampled(PICTURES)
    assert max(map(len, sampler.training())) < 400
    assert all(sample.endswith(b"image/png\r\n\r\n") for sample in sampler.training())
    assert min(len(sample.data) for sample in sampler.held_out()) > 3000


def test_memory_does_not_grow_with_the_archive() -> None:
    sampler = sampled(SITE + PICTURES, training_bytes=30_000, held_out_bytes=15_000)
    for samples, most_bytes in (
        (sampler.training(), 30_000),
        ([sample.data for sample in sampler.held_out()], 15_000),
    ):
        taken = sum(ENTRY_BYTES + len(sample) for sample in samples)
        assert most_bytes - 4_000 < taken <= most_bytes
    assert sampler.records == {"text/html": 300, "image/png": 100}


def test_made_up_media_types_are_one_kind() -> None:
    heads = (HTML.replace(b"text/html", b"x-odd/%d" % number) for number in range(MOST_KINDS + 9))
    records = records_of(b"".join(warc(head + b"x") for head in heads))
    counts = sampled(records).records
    assert len(counts) == MOST_KINDS + 1
    assert counts[OTHER] == 9


@pytest.mark.parametrize("size", [0, 1, SAMPLE_BYTES, 5 << 20])
def test_a_sample_is_the_beginning_of_its_record(size: int) -> None:
    data = warc(HTML + random.Random(3).randbytes(size))
    assert first_bytes(records_of(data)[0]) == data[:SAMPLE_BYTES]


KINDS = {
    "text/html": warc(HTML),
    "request": warc(b"GET / HTTP/1.1\r\n\r\n", record_type="request"),
    "metadata": warc(b"a: b", record_type="metadata", content_type="application/warc-fields"),
    "image/gif": warc(b"GIF", record_type="resource", content_type="Image/GIF; a=b"),
    OTHER: warc(b"HTTP/1.1 200 OK\r\n\r\n"),
}


@pytest.mark.parametrize(("kind", "data"), KINDS.items(), ids=KINDS)
def test_the_kind_of_a_record(kind: str, data: bytes) -> None:
    assert kind_of(records_of(data)[0]) == kind
