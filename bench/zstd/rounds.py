"""Everything about Zstandard in one run: split, train, compress, read back, print."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from zstandard import ZstdCompressionDict

from bench.cache import cache_dir
from bench.rounds import say
from pinakes.dictionaries.savings import Measurement, best_of, measure_sizes
from pinakes.warc.compression.zstd_writer import dictionary_frame

from .held_out import HeldRecord, Place, Split, read, some, split
from .levels import (
    MEGABYTES,
    LevelFigures,
    at_level,
    by_kind,
    first_of,
    gzip_mb_per_s,
    most_bytes,
)
from .reading import inflating, random_access, whole_file, write_pair
from .tables import INFLATED, READ, WHOLE, kind_table, level_table, reading_table

GROUP = "zstd: sizes, speeds, reading"
LEVELS = tuple(range(1, 23))
TRAINED_FOR = 8
KIND_LEVELS = (8, 19)
SEED = 1
MOST_NAMED = 8


def run(
    files: Sequence[Path],
    *,
    grouping: str = "records",
    levels: Sequence[int] = LEVELS,
    runs: int = 3,
    seed: int = SEED,
    trained_for: int = TRAINED_FOR,
) -> None:
    """Measure, and print tables; sizes hold whatever else runs, speeds on a quiet machine only.

    Beside each level gzip is timed again, so that what the host does meanwhile counts for both.
    """
    say(f"{GROUP}: reading {len(files)} files")
    parts = split(files, grouping, seed=seed)
    dictionary = train(parts, trained_for)
    stored = 0 if dictionary is None else len(dictionary_frame(dictionary))
    places = some(parts.held, MEGABYTES[0][1] * 10**6, seed=seed)
    records = read(places)
    groups = "" if len(parts.held_groups) > MOST_NAMED else f": {', '.join(parts.held_groups)}"
    print(
        f"{GROUP}: {len(files)} files, {parts.gzip_bytes / 1e6:.1f} MB of gzip; "
        f"held out: {len(parts.held):,} records of {len(parts.held_groups):,} {grouping}{groups}; "
        f"dictionary: {0 if dictionary is None else len(dictionary.as_bytes()):,} bytes, "
        f"{stored:,} in each file, trained for level {trained_for}; seed {seed}\n"
    )
    pairs, gzip_speeds = [], []
    for level in levels:
        say(f"{GROUP}: level {level}")
        part = list(first_of(records, most_bytes(level)))
        gzip_speeds.append(gzip_mb_per_s(part))
        pairs.append((at_level(level, part, None, 0), at_level(level, part, dictionary, stored)))
    print(
        level_table(pairs, gzip_speeds, collection_bytes=parts.gzip_bytes, files=parts.files),
        "\n",
    )
    for level in (level for level in KIND_LEVELS if level in levels):
        print(f"level {level}, records alone\n\n{kinds(level, records, dictionary)}\n")
    print(reading(places, records, dictionary, level=trained_for, runs=runs, seed=seed))
    noted = [[asdict(figures) for figures in pair] for pair in pairs]
    (cache_dir() / "zstd.json").write_text(json.dumps(noted, indent=1))


def train(parts: Split, level: int) -> ZstdCompressionDict | None:
    """The dictionary that `pinakes zstd train` would write of what is not held out."""
    say(f"{GROUP}: training")
    sampler = parts.sampler
    measurement = Measurement(sampler.held_out(), sampler.records, level=level, files=parts.files)
    best = best_of(list(measure_sizes(sampler.training(), measurement.of)))
    return None if best is None else ZstdCompressionDict(best.dictionary)


def kinds(level: int, records: Sequence[HeldRecord], dictionary: ZstdCompressionDict | None) -> str:
    """The table by media type."""
    say(f"{GROUP}: level {level} by kind")
    rows: list[tuple[str, LevelFigures, LevelFigures]] = []
    for kind, part in by_kind(first_of(records, most_bytes(level))).items():
        rows.append((kind, at_level(level, part, None, 0), at_level(level, part, dictionary, 0)))
    return kind_table(rows)


def reading(
    places: Sequence[Place],
    records: Sequence[HeldRecord],
    dictionary: ZstdCompressionDict | None,
    *,
    level: int,
    runs: int,
    seed: int,
) -> str:
    """The table of reading, of files written for it."""
    say(f"{GROUP}: reading back")
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="zstd-") as scratch:
        pair = write_pair(places, records, dictionary, Path(scratch), level=level)
        found = [
            (INFLATED, inflating(pair, rounds=runs, seed=seed)),
            (READ, random_access(pair, rounds=runs, seed=seed)),
            (WHOLE, whole_file(pair, rounds=runs)),
        ]
    return reading_table(found)
