"""Which records a dictionary is trained on, and which it is measured with: never the same.

By whole groups: all records of a URL, or all of a site (the host, and the first folder of the
path), drawn by a seed.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.dictionaries.samples import Sampler, kind_of
from pinakes.rewrite.taken import is_alone
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.write import record_pieces

SHARE = 0.25


class Place(NamedTuple):
    """A record in its file; `size` is its inflated bytes."""

    file: Path
    offset: int
    gzip_bytes: int
    size: int
    group: str


class HeldRecord(NamedTuple):
    """What is compressed: all bytes of a record, and what it takes in the archive."""

    kind: str
    data: bytes
    gzip_bytes: int


class Split(NamedTuple):
    """A collection in two parts."""

    sampler: Sampler
    held: list[Place]
    held_groups: list[str]
    files: int
    gzip_bytes: int
    """Of all records."""


def url_of(record: Record) -> str:
    """The group of a record, if single URLs are held out."""
    return record.target_uri or record.record_id or ""


def site_of(record: Record) -> str:
    """The group of a record, if whole sites are: `host/first-folder`."""
    try:
        parts = urlsplit(record.target_uri or "")
    except ValueError:
        return ""
    return f"{parts.netloc}/{parts.path.lstrip('/').partition('/')[0]}"


GROUPINGS: dict[str, Callable[[Record], str]] = {"records": url_of, "sites": site_of}


def drawn(sizes: dict[str, int], *, seed: int, share: float = SHARE) -> set[str]:
    """Groups, in an order that the seed gives, that have at most this share of all bytes.

    The smallest of all where none has so little.
    """
    left = share * sum(sizes.values())
    found: set[str] = set()
    for group in sorted(sizes, key=lambda group: _rank(group, seed)):
        if sizes[group] <= left:
            found.add(group)
            left -= sizes[group]
    return found or {min(sizes, key=lambda group: (sizes[group], group))}


def _rank(group: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {group}".encode("utf-8", "surrogateescape")).digest()


def split(files: Sequence[Path], grouping: str, *, seed: int) -> Split:
    """Read the files twice: which groups there are, then what is trained on."""
    group_of = GROUPINGS[grouping]
    sizes: dict[str, int] = {}
    for _, record in _records(files):
        group = group_of(record)
        sizes[group] = sizes.get(group, 0) + record.length
    held_groups = drawn(sizes, seed=seed)
    sampler, held = Sampler(seed=seed), []
    for file, record in _records(files):
        group = group_of(record)
        if group in held_groups:
            size = len(record.header.raw) + record.block_size + 4
            held.append(Place(file, record.offset, record.length, size, group))
        else:
            sampler.add(record)
    return Split(sampler, held, sorted(held_groups), len(files), sum(sizes.values()))


def some(held: Sequence[Place], most_bytes: int, *, seed: int) -> list[Place]:
    """Records drawn by the seed, of at most so many inflated bytes; a smaller part is in it."""
    order = list(held)
    random.Random(seed).shuffle(order)
    found, left = [], most_bytes
    for place in order:
        left -= place.size
        if left < 0:
            break
        found.append(place)
    return found


def read(places: Iterable[Place]) -> list[HeldRecord]:
    """All bytes of these records, in the same order."""
    order = list(places)
    found: dict[Place, HeldRecord] = {}
    for file in sorted({place.file for place in order}):
        with open_source(file) as source:
            for place in (place for place in order if place.file == file):
                record = read_record(source, place.offset, digests=())
                if not isinstance(record, Record):
                    raise SystemExit(f"{file}:{place.offset}: damaged")
                pieces = record_pieces(record.header.raw, record.chunks())
                data = b"".join(map(bytes, pieces))
                found[place] = HeldRecord(kind_of(record), data, place.gzip_bytes)
    return [found[place] for place in order]


def _records(files: Sequence[Path]) -> Iterator[tuple[Path, Record]]:
    """Records that have a gzip member to themselves; others cannot be compared."""
    for file in files:
        with open_source(file) as source:
            for item in iter_records(source, digests=()):
                if isinstance(item, Record) and is_alone(source, item) and not item.findings:
                    yield file, item
