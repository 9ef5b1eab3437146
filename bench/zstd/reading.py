"""The same records read from gzip and from Zstandard: one by its offset, and the whole file."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from isal import isal_zlib
from zstandard import ZstdCompressionDict, ZstdDecompressor

from bench.measure import Spread, ratios, spread
from pinakes.warc.compression.zstd_writer import FrameWriter, dictionary_frame
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record

from .held_out import HeldRecord, Place

LOOKS = 2000


class Written(NamedTuple):
    """A file, and where each record is; the last offset is the file's end."""

    file: Path
    offsets: list[int]


class Pair(NamedTuple):
    """The same records in two files."""

    gzip: Written
    zstd: Written
    dictionary: ZstdCompressionDict | None


class ReadingFigures(NamedTuple):
    """Of one way to read: records, or inflated bytes, a second of CPU; ours over gzip's."""

    gzip_per_s: Spread
    zstd_per_s: Spread
    times_gzip: Spread


def write_pair(
    places: Sequence[Place],
    records: Sequence[HeldRecord],
    dictionary: ZstdCompressionDict | None,
    folder: Path,
    *,
    level: int,
) -> Pair:
    """Write both files: gzip members as the archive has them, and a frame for each record."""
    gzip = Written(folder / "records.warc.gz", [])
    zstd = Written(folder / "records.warc.zst", [])
    writer = FrameWriter(level, dictionary)
    with gzip.file.open("wb") as members, zstd.file.open("wb") as frames:
        if dictionary is not None:
            frames.write(dictionary_frame(dictionary))
        for place, record in zip(places, records, strict=True):
            gzip.offsets.append(members.tell())
            zstd.offsets.append(frames.tell())
            with place.file.open("rb") as file:
                file.seek(place.offset)
                members.write(file.read(place.gzip_bytes))
            frames.write(writer.frame(record.data))
        gzip.offsets.append(members.tell())
        zstd.offsets.append(frames.tell())
    return Pair(gzip, zstd, dictionary)


def inflating(pair: Pair, *, rounds: int, seed: int) -> ReadingFigures:
    """Records a second of which offset and length are known: read, and inflated in one call."""
    numbers = _numbers(pair, seed)
    decompressor = ZstdDecompressor(dict_data=pair.dictionary)

    def looks(written: Written, inflate: Callable[[bytes], bytes]) -> float:
        with written.file.open("rb") as file:
            begin = time.process_time()
            for number in numbers:
                start, end = written.offsets[number : number + 2]
                inflate(os.pread(file.fileno(), end - start, start))
            return LOOKS / (time.process_time() - begin)

    return _compared(
        lambda: looks(pair.gzip, inflate_gzip),
        lambda: looks(pair.zstd, decompressor.decompress),
        rounds,
    )


def inflate_gzip(member: bytes) -> bytes:
    """The content of a gzip member, its checksum verified."""
    return isal_zlib.decompress(member, 31)


def random_access(pair: Pair, *, rounds: int, seed: int) -> ReadingFigures:
    """Records a second, each read by its offset, all of it; the file stays open."""
    numbers = _numbers(pair, seed)

    def looks(written: Written) -> float:
        with open_source(written.file) as source:
            _taken(read_record(source, written.offsets[0], digests=()))
            begin = time.process_time()
            for number in numbers:
                _taken(read_record(source, written.offsets[number], digests=()))
            return LOOKS / (time.process_time() - begin)

    return _compared(lambda: looks(pair.gzip), lambda: looks(pair.zstd), rounds)


def whole_file(pair: Pair, *, rounds: int) -> ReadingFigures:
    """Inflated megabytes a second, of a file read from its beginning to its end."""

    def read(written: Written) -> float:
        begin = time.process_time()
        size = sum(_taken(item) for item in iter_records(written.file, digests=()))
        return size / 1e6 / (time.process_time() - begin)

    return _compared(lambda: read(pair.gzip), lambda: read(pair.zstd), rounds)


def _numbers(pair: Pair, seed: int) -> list[int]:
    return random.Random(seed).choices(range(len(pair.gzip.offsets) - 1), k=LOOKS)


def _compared(gzip: Callable[[], float], zstd: Callable[[], float], rounds: int) -> ReadingFigures:
    rates = [(gzip(), zstd()) for _ in range(rounds)]
    of_gzip, of_zstd = [rate[0] for rate in rates], [rate[1] for rate in rates]
    return ReadingFigures(spread(of_gzip), spread(of_zstd), ratios(of_zstd, of_gzip))


def _taken(item: object) -> int:
    """The bytes of a record, all of which were read."""
    if not isinstance(item, Record):
        raise SystemExit(f"bench zstd: {item}")
    return len(item.header.raw) + _size(item.chunks())


def _size(pieces: Iterable[bytes | memoryview]) -> int:
    return sum(map(len, pieces))
