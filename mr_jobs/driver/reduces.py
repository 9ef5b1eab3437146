"""How many tasks a reduce step has on Hadoop, whose own default is one.

By what is read: bodies and what is known of originals travel with lines, so that 64 MB of
lines, some 150,000 captures, may bring gigabytes to a reducer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from pinakes.config import Configuration
from pinakes.mr_jobs.places import open_place, split_name

LINE_BYTES = 64 << 20
_MOST = 10_000


def reduces_for(lines_bytes: int) -> int:
    """Tasks of a reduce step behind so many bytes of lines."""
    return min(max(1, -(-lines_bytes // LINE_BYTES)), _MOST)


def lines_bytes(names: Sequence[str], configuration: Configuration) -> int:
    """The size of files of lines: paths, or `hdfs://…`, the last part with `*` in it or not."""
    return sum(_size(name, configuration) for name in names)


def _size(name: str, configuration: Configuration) -> int:
    where = split_name(name, stored=False)
    if where is None:
        return os.path.getsize(name) if os.path.isfile(name) else 0
    place, base = where
    with open_place(place, configuration) as folder:
        return sum(stored.size for stored in folder.list() if fnmatchcase(stored.name, base))
