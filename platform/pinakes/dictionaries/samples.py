"""Records drawn for a dictionary, in one pass over an archive and in bounded memory.

Each record is trained on or held out, by a random number, and has a priority from 0 to 1.  Those of
the lowest priorities are kept: where they take too many bytes, the highest of all is dropped.  In
a kind of records the first priority is a random number, and each is the last plus the golden
ratio, modulo 1.  Such numbers lie evenly, however many there are: each kind keeps the same share
of its records, from all parts of the archive, and so has the part of the samples that it has of
the archive.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from zstandard import ZstdCompressor

from pinakes.warc.field_names import CONTENT_TYPE_KEY
from pinakes.warc.http.message import bare_media_type
from pinakes.warc.record import Record
from pinakes.warc.write import record_pieces

SAMPLE_BYTES = 1 << 17
"""Of a record: what comes after gains little from a dictionary."""
TRAINING_BYTES = 1 << 26
HELD_OUT_BYTES = 1 << 24
HELD_OUT_SHARE = 0.2
MOST_KINDS = 64
"""Crawlers meet any number of made-up media types; later ones are one kind."""
OTHER = "other"
ENTRY_BYTES = 256
"""What a sample takes besides its own bytes, about."""
_TESTED_BYTES = 1 << 14
_LEAST_TESTED_BYTES = 256
_DENSE = 0.95
_GOLDEN_RATIO = (5**0.5 - 1) / 2


class Sample(NamedTuple):
    """The first bytes of a record, inflated, as a frame will hold them."""

    kind: str
    data: bytes


class Reservoir:
    """Samples of at most so many bytes, the same share of the records of each kind.

    Each counts with `ENTRY_BYTES` more: an archive may have millions of very short records.
    """

    def __init__(self, most_bytes: int, draw: Callable[[], float]) -> None:
        """`draw` gives random numbers from 0 to 1."""
        self.most_bytes = most_bytes
        self.bytes = 0
        self._draw = draw
        self._limit = 1.0
        # Of each kind the priority of the record before the next.
        self._last: dict[str, float] = {}
        # A heap, the highest priority first.
        self._kept: list[tuple[float, Sample]] = []

    def priority(self, kind: str) -> float | None:
        """The priority of one more record of this kind; None where it is not to be put."""
        last = self._last.get(kind)
        now = self._draw() if last is None else (last + _GOLDEN_RATIO) % 1.0
        self._last[kind] = now
        return now if now < self._limit else None

    def put(self, priority: float, sample: Sample) -> None:
        """Keep a sample; others may be dropped for it."""
        heapq.heappush(self._kept, (-priority, sample))
        self.bytes += ENTRY_BYTES + len(sample.data)
        while self.bytes > self.most_bytes:
            lowest, dropped = heapq.heappop(self._kept)
            self._limit = -lowest
            self.bytes -= ENTRY_BYTES + len(dropped.data)

    def samples(self) -> list[Sample]:
        """What was kept, kinds mixed: in the order of priorities."""
        return [sample for _, sample in sorted(self._kept, reverse=True)]


class Sampler:
    """Takes every record of an archive; holds samples to train on, and others to measure with.

    Memory: `training_bytes` and `held_out_bytes`, for any size of the archive.  The same records
    in the same order, and the same seed, give the same samples.
    """

    def __init__(
        self,
        *,
        seed: int,
        training_bytes: int = TRAINING_BYTES,
        held_out_bytes: int = HELD_OUT_BYTES,
    ) -> None:
        self._draw = random.Random(seed).random  # noqa: S311 (the same records each time)
        self._training = Reservoir(training_bytes, self._draw)
        self._held_out = Reservoir(held_out_bytes, self._draw)
        self._fast = ZstdCompressor(level=1)
        self.records: dict[str, int] = {}
        """Of each kind, all that were given."""

    def add(self, record: Record) -> None:
        """Take one more record."""
        kind = kind_of(record)
        if kind not in self.records and len(self.records) >= MOST_KINDS:
            kind = OTHER
        self.records[kind] = self.records.get(kind, 0) + 1
        is_held_out = self._draw() < HELD_OUT_SHARE
        reservoir = self._held_out if is_held_out else self._training
        priority = reservoir.priority(kind)
        if priority is not None:
            data = first_bytes(record)
            if not is_held_out:
                data = self._compressible(record, data)
            reservoir.put(priority, Sample(kind, data))

    def training(self) -> list[bytes]:
        """What a dictionary is trained on; of bodies that do not get smaller only the heads."""
        return [sample.data for sample in self._training.samples()]

    def held_out(self) -> list[Sample]:
        """What its saving is measured with."""
        return self._held_out.samples()

    def _compressible(self, record: Record, data: bytes) -> bytes:
        """Without the body, where that is an image, a video, or compressed already.

        By its bytes, not by its media type: bodies of HTML are often stored as gzip.
        """
        head = len(record.header.raw) + record.payload_offset
        tested = data[head : head + _TESTED_BYTES]
        if len(tested) < _LEAST_TESTED_BYTES:
            return data
        is_dense = len(self._fast.compress(tested)) > _DENSE * len(tested)
        return data[:head] if is_dense else data


def kind_of(record: Record) -> str:
    """The media type of a response or resource; of others the type of record."""
    if record.type not in ("response", "resource"):
        return record.type or OTHER
    http = record.http
    if http is not None:
        return http.media_type or OTHER
    return bare_media_type(record.header.field(CONTENT_TYPE_KEY)) or OTHER


def first_bytes(record: Record) -> bytes:
    """At most `SAMPLE_BYTES` of a record, header included."""
    return b"".join(_cut(record))


def _cut(record: Record) -> Iterator[bytes]:
    left = SAMPLE_BYTES
    for piece in record_pieces(record.header.raw, record.chunks()):
        yield bytes(piece[:left])
        left -= len(piece)
        if left <= 0:
            return
