"""What each level makes of held-out records, with a dictionary and without.

A ratio is of bytes, against the same records in the archive's gzip.  Of slow levels fewer records
are compressed, a part of those of the quick ones.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from zstandard import ZstdCompressionDict

from pinakes.warc.compression.zstd_writer import FrameWriter

from .held_out import HeldRecord

GIGABYTE = 10**9
MEGABYTES = ((12, 64), (18, 32), (22, 16))
"""Up to which level how many are compressed."""
GZIP_LEVEL = 9
"""What wget and warcio write with."""
GZIP_BYTES = 8 * 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFigures:
    """Of one level; `dictionary_bytes` is what a file takes to hold it, 0 without one."""

    level: int
    records: int
    gzip_bytes: int
    zstd_bytes: int
    inflated_bytes: int
    cpu_s: float
    dictionary_bytes: int = 0

    @property
    def records_ratio(self) -> float:
        """Of the records alone."""
        return self.zstd_bytes / self.gzip_bytes

    def ratio(self, *, of_bytes: int, files: int = 1) -> float:
        """Of an archive of so many bytes of gzip, which holds the dictionary in each file."""
        return self.records_ratio + files * self.dictionary_bytes / of_bytes

    @property
    def mb_per_s(self) -> float:
        """Inflated bytes a second of CPU."""
        return self.inflated_bytes / 1e6 / self.cpu_s if self.cpu_s else 0.0


def most_bytes(level: int) -> int:
    """Inflated bytes that are compressed at this level."""
    return next(megabytes for upto, megabytes in MEGABYTES if level <= upto) * 10**6


def first_of(records: Iterable[HeldRecord], limit: int) -> Iterator[HeldRecord]:
    """The first records, of at most so many inflated bytes."""
    for record in records:
        limit -= len(record.data)
        if limit < 0:
            return
        yield record


def at_level(
    level: int,
    records: Sequence[HeldRecord],
    dictionary: ZstdCompressionDict | None,
    dictionary_bytes: int,
) -> LevelFigures:
    """Compress these records, a frame each."""
    writer = FrameWriter(level, dictionary)
    writer.frame(b"so that the dictionary is read")
    begin = time.process_time()
    size = sum(len(writer.frame(record.data)) for record in records)
    return LevelFigures(
        level=level,
        records=len(records),
        gzip_bytes=sum(record.gzip_bytes for record in records),
        zstd_bytes=size,
        inflated_bytes=sum(len(record.data) for record in records),
        cpu_s=time.process_time() - begin,
        dictionary_bytes=dictionary_bytes,
    )


def gzip_mb_per_s(records: Iterable[HeldRecord]) -> float:
    """Inflated megabytes that zlib compresses in a second of CPU, a gzip member for each record;
    of the first `GZIP_BYTES`."""
    part = [record.data for record in first_of(records, GZIP_BYTES)]
    begin = time.process_time()
    for data in part:
        gzip.compress(data, GZIP_LEVEL, mtime=0)
    cpu_s = time.process_time() - begin
    return sum(map(len, part)) / 1e6 / cpu_s if cpu_s else 0.0


def by_kind(records: Iterable[HeldRecord]) -> dict[str, list[HeldRecord]]:
    """The same records, the kind with most bytes of gzip first."""
    kinds: dict[str, list[HeldRecord]] = {}
    for record in records:
        kinds.setdefault(record.kind, []).append(record)
    return dict(sorted(kinds.items(), key=lambda kind: -sum(r.gzip_bytes for r in kind[1])))
