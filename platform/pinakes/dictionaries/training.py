"""Training: a Zstandard dictionary of a given size out of samples (RFC 8878 §5).

By the fastCover of the Zstandard library, which puts together those segments of the samples whose
parts are in most of them.  Its parameters are ours, not those that it finds by trying: it takes
segments of 50 bytes for a dictionary of 1 MiB, and then finds no more than 80 KiB
(docs/adr/0043-dictionaries.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from zstandard import ZstdError, train_dictionary

from pinakes.warc.compression.zstd_format import LIMIT_BYTES

SIZES = tuple(1 << power for power in range(14, LIMIT_BYTES.bit_length()))
"""16 KiB, 32 KiB, …, 8 MiB: the largest that a reader has to take (warc-zstd 1.0 §5)."""
_SEGMENT_BYTES = 1 << 13
_COUNTED_BYTES = 8
_LOG_COUNTERS = 22
_LEVEL = 3


def train(samples: Sequence[bytes], size: int) -> bytes | None:
    """A dictionary of at most `size` bytes; None where there are too few samples for one.

    The same samples in the same order give the same bytes; its id depends on its content.
    Memory: that of the samples once more, and 30 MiB.
    """
    if sum(map(len, samples)) < 2 * size:
        return None
    try:
        trained = train_dictionary(
            size,
            list(samples),
            k=_SEGMENT_BYTES,
            d=_COUNTED_BYTES,
            f=_LOG_COUNTERS,
            split_point=1.0,
            accel=1,
            steps=1,
            level=_LEVEL,
        )
    except ZstdError:
        return None
    return trained.as_bytes()
