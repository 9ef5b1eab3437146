"""Which size is chosen, and what it is said to save."""

from __future__ import annotations

import pytest
import zstandard
from page_sets import images, pages

from pinakes.dictionaries.samples import Sample
from pinakes.dictionaries.savings import (
    Measurement,
    Saving,
    best_of,
    measure_sizes,
)
from pinakes.dictionaries.training import train
from pinakes.warc.compression.zstd_writer import dictionary_frame

SITE = pages(900)
TRAINING, HELD_OUT = SITE[:800], [Sample("text/html", data) for data in SITE[800:]]
DICTIONARY = train(TRAINING, 16 << 10) or b""
HELD_BYTES = len(dictionary_frame(zstandard.ZstdCompressionDict(DICTIONARY)))


def measurement(*, records: int = 100, files: int = 1) -> Measurement:
    return Measurement(HELD_OUT, {"text/html": records}, level=8, files=files)


def saving(net_bytes: int, size: int = 100) -> Saving:
    """One that saves so much of 1,000,000 bytes."""
    by_kind = {"text/html": (1_000_000, 1_000_000 - net_bytes - size)}
    return Saving(dictionary=b"x" * size, stored_bytes=size, files=1, by_kind=by_kind)


def test_it_saves_what_frames_with_it_are_smaller() -> None:
    known = zstandard.ZstdCompressionDict(DICTIONARY)
    found = measurement().of(DICTIONARY)
    without, with_it = (
        sum(len(zstandard.ZstdCompressor(8, dict_data=d, write_checksum=True).compress(s.data))
            for s in HELD_OUT)
        for d in (None, known)
    )  # fmt: skip
    assert found.by_kind == {"text/html": (without, with_it)}
    assert found.plain_bytes == without
    assert found.saved_bytes == without - with_it > 0


def test_what_is_saved_is_extrapolated_by_records_of_each_kind() -> None:
    held_out = [*HELD_OUT, Sample("image/png", images(1)[0])]
    records = {"text/html": 1000, "image/png": 7, "video/mp4": 3}
    found = Measurement(held_out, records, level=8, files=1).of(DICTIONARY)
    once = measurement().of(DICTIONARY)
    assert found.by_kind["text/html"] == tuple(10 * size for size in once.by_kind["text/html"])
    assert found.by_kind["image/png"][0] == pytest.approx(7 * 3300, rel=0.02)
    assert set(found.by_kind) == {"text/html", "image/png"}


def test_each_file_holds_the_dictionary_once() -> None:
    one, many = measurement(files=1).of(DICTIONARY), measurement(files=50).of(DICTIONARY)
    assert one.saved_bytes - one.net_bytes == HELD_BYTES
    assert many.saved_bytes - many.net_bytes == 50 * HELD_BYTES
    assert many.net_bytes < 0 < one.net_bytes


def test_the_best_saves_most_and_of_two_alike_the_smaller_is_taken() -> None:
    three = [saving(500, size=1), saving(700, size=2), saving(700, size=3)]
    assert best_of(three) is three[1]
    assert best_of([saving(0), saving(-5)]) is None
    assert best_of([]) is None


TRIED = {
    "each is better": ([1, 2, 3, 4, 5], 5),
    "two in turn are worse": ([5, 4, 3, 9, 9], 3),
    "one is worse": ([5, 4, 6, 5, 4], 5),
    "none saves anything": ([-5, -6, -7, -8, -9], 5),
}


@pytest.mark.parametrize(("nets", "count"), TRIED.values(), ids=TRIED)
def test_sizes_are_tried_until_two_in_turn_save_less(nets: list[int], count: int) -> None:
    left = iter(nets)
    sizes = range(16 << 10, 96 << 10, 16 << 10)
    found = list(measure_sizes(TRAINING, lambda _: saving(next(left)), sizes))
    assert [each.net_bytes for each in found] == nets[:count]


def test_sizes_end_where_the_samples_end() -> None:
    found = list(measure_sizes(TRAINING[:60], measurement().of))
    assert 1 <= len(found) <= 3
    assert all(len(each.dictionary) <= sum(map(len, TRAINING[:60])) / 2 for each in found)
