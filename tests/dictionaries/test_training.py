"""Dictionaries of the standard's form, the same for the same samples."""

from __future__ import annotations

import pytest
import zstandard
from page_sets import images, pages

from pinakes.dictionaries.samples import Sample
from pinakes.dictionaries.savings import Measurement, Saving, best_of, measure_sizes
from pinakes.dictionaries.training import SIZES, train
from pinakes.warc.compression.zstd_writer import dictionary_frame

SAMPLES = pages(600)


def test_the_sizes_end_with_the_largest_that_is_read() -> None:
    assert (SIZES[0], SIZES[-1], len(SIZES)) == (16 << 10, 8 << 20, 10)


def test_a_dictionary_has_the_standards_form_and_a_free_id() -> None:
    dictionary = train(SAMPLES, 16 << 10)
    assert dictionary is not None
    assert dictionary[:4] == b"\x37\xa4\x30\xec"  # RFC 8878 §5
    assert 32_768 <= int.from_bytes(dictionary[4:8], "little") < 1 << 31  # §6.1: not reserved
    assert len(dictionary) <= 16 << 10


def test_the_same_samples_give_the_same_bytes() -> None:
    assert train(SAMPLES, 32 << 10) == train(list(SAMPLES), 32 << 10)
    assert train(SAMPLES, 32 << 10) != train(SAMPLES[::-1], 32 << 10)


def test_it_makes_a_page_that_it_has_not_seen_smaller() -> None:
    dictionary = train(SAMPLES, 16 << 10)
    assert dictionary is not None
    known = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_FULLDICT)
    unseen = pages(601)[600]
    compressed = zstandard.ZstdCompressor(8, dict_data=known).compress(unseen)
    assert len(compressed) < 0.6 * len(zstandard.ZstdCompressor(8).compress(unseen))
    assert zstandard.ZstdDecompressor(dict_data=known).decompress(compressed) == unseen


FEW = {"none": [], "one": pages(1), "less than twice the size": SAMPLES[:10], "empty": [b""] * 99}


@pytest.mark.parametrize("samples", FEW.values(), ids=FEW)
def test_too_few_samples_give_none(samples: list[bytes]) -> None:
    assert train(samples, SIZES[0]) is None


def test_one_large_sample_gives_none() -> None:
    assert train(images(1, size=1 << 17), SIZES[0]) is None


# --- Which size is chosen, and what it is said to save


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
