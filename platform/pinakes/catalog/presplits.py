"""Split keys for new tables, from a sample of their future rows.

Quantiles of real keys, not top-level domains: `com,` is half the web.  Only `captures` and
`digests` grow with the number of captures; the other tables begin as one region each.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from heapq import heappush, heappushpop

from pinakes.archive_store.located import open_place
from pinakes.warc.file_names import base_name
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

from .record_rows import digest_rows
from .requests import iter_rows

_SAMPLED = 100_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class KeySample:
    """A uniform random sample of the keys added, of at most `most` keys."""

    def __init__(self, most: int = _SAMPLED) -> None:
        self._most = most
        self._kept: list[tuple[float, bytes]] = []
        self._chances = random.Random(0)  # noqa: S311 (the same sample, the same cuts)

    def add(self, key: bytes) -> None:
        """Add one key."""
        chance = self._chances.random()
        if len(self._kept) < self._most:
            heappush(self._kept, (chance, key))
        else:
            heappushpop(self._kept, (chance, key))

    def split_keys(self, regions: int) -> tuple[bytes, ...]:
        """The first keys of all regions but the first, as short as possible.

        Fewer than requested if the sample has too few different keys.
        """
        keys = sorted({key for _, key in self._kept})
        cuts = {len(keys) * number // regions for number in range(1, regions)} - {0}
        return tuple(_shortest_between(keys[cut - 1], keys[cut]) for cut in sorted(cuts))


def _shortest_between(before: bytes, key: bytes) -> bytes:
    """The shortest prefix of `key` that sorts after `before`, a smaller key."""
    size = next(
        (n for n, pair in enumerate(zip(before, key, strict=False)) if pair[0] != pair[1]),
        len(before),
    )
    return key[: size + 1]


def sampled_splits(
    places: Iterable[str], *, collection: str, regions: int
) -> Mapping[str, tuple[bytes, ...]]:
    """Split keys by table, for a store that will hold files like those at these places.

    Raises:
        InputRefused: a file cannot be read.
    """
    samples = {"captures": KeySample(), "digests": KeySample()}
    for place in places:
        for table, key in _keys_of(place, collection):
            samples[table].add(key)
    return {table: sample.split_keys(regions) for table, sample in samples.items()}


def _keys_of(place: str, collection: str) -> Iterator[tuple[str, bytes]]:
    """Yield table and key of every row that landing would write; damaged records have none."""
    name = f"sample/{base_name(place)}"
    with open_place(place) as source:
        records = iter_records(source, digests=("sha1", "sha256"))
        readable = (item for item in records if isinstance(item, Record))
        for row in iter_rows(readable, archive_file=name, landed=_EPOCH):
            if row.row_key is not None:
                yield "captures", row.row_key
                for key, _ in digest_rows(row, name, collection):
                    yield "digests", key
