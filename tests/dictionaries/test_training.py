"""Dictionaries of the standard's form, the same for the same samples."""

from __future__ import annotations

import pytest
import zstandard
from page_sets import images, pages

from pinakes.dictionaries.training import SIZES, train

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
