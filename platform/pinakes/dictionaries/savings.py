"""What a dictionary saves, net of its own storage, and which size saves most.

Measured on records that it was not trained on, at the level that is to be used, and extrapolated
to the archive, kind by kind, by the number of records.  Each file holds the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zstandard import ZstdCompressionDict

from pinakes.warc.compression.zstd_writer import FrameWriter, dictionary_frame

from .samples import Sample
from .training import SIZES, train

_WORSE_IN_TURN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What a dictionary saves of an archive, in bytes, estimated.

    `by_kind` has the archive's compressed bytes of each kind, without it and with it.
    """

    dictionary: bytes
    stored_bytes: int
    """In each file."""
    files: int
    by_kind: Mapping[str, tuple[int, int]]

    @property
    def saved_bytes(self) -> int:
        """Of records."""
        return sum(without - with_it for without, with_it in self.by_kind.values())

    @property
    def net_bytes(self) -> int:
        """Of files."""
        return self.saved_bytes - self.files * self.stored_bytes

    @property
    def plain_bytes(self) -> int:
        """The archive's records, compressed without a dictionary."""
        return sum(without for without, _ in self.by_kind.values())


def measure_sizes(
    training: Sequence[bytes],
    measure: Callable[[bytes], Saving],
    sizes: Iterable[int] = SIZES,
) -> Iterator[Saving]:
    """Train and measure one size after the other, from the smallest; lazy.

    Ends where the samples are too few, where a larger one is not found, and when two in turn save
    less than the best before them.
    """
    best, longest, worse = 0, 0, 0
    for size in sizes:
        dictionary = train(training, size)
        if dictionary is None or len(dictionary) <= longest:
            return
        longest = len(dictionary)
        saving = measure(dictionary)
        yield saving
        worse = 0 if saving.net_bytes > best else worse + 1
        best = max(best, saving.net_bytes)
        if worse == _WORSE_IN_TURN and best > 0:
            return


def best_of(savings: Iterable[Saving]) -> Saving | None:
    """The one that saves most, if any saves something; the smaller one of two alike."""
    useful = [saving for saving in savings if saving.net_bytes > 0]
    return max(useful, key=lambda saving: saving.net_bytes, default=None)


class Measurement:
    """Compresses the same held-out records with one dictionary after the other."""

    def __init__(
        self, held_out: Sequence[Sample], records: Mapping[str, int], *, level: int, files: int
    ) -> None:
        """`records` has the number of the archive's records of each kind."""
        self._held_out = held_out
        self._level = level
        self._files = files
        counts: dict[str, int] = {}
        for sample in held_out:
            counts[sample.kind] = counts.get(sample.kind, 0) + 1
        self._weights = {kind: records[kind] / count for kind, count in counts.items()}
        self._without = self._sizes(None)

    def of(self, dictionary: bytes) -> Saving:
        """Measure this one.  At level 19 that takes seconds for each of its megabytes."""
        known = ZstdCompressionDict(dictionary)
        sizes = self._sizes(known)
        by_kind = {
            kind: (round(self._without[kind] * weight), round(sizes[kind] * weight))
            for kind, weight in self._weights.items()
        }
        return Saving(
            dictionary=dictionary,
            stored_bytes=len(dictionary_frame(known)),
            files=self._files,
            by_kind=by_kind,
        )

    def _sizes(self, dictionary: ZstdCompressionDict | None) -> dict[str, int]:
        """The compressed bytes of held-out records, by kind."""
        writer = FrameWriter(self._level, dictionary)
        sizes = dict.fromkeys(self._weights, 0)
        for sample in self._held_out:
            sizes[sample.kind] += len(writer.frame(sample.data))
        return sizes
