"""Data between the steps of `resolve_collisions`: a digest's lines and shards.

d DIGEST           a shard that a map has begun, or a line       from the maps
f FILE             a line, its role, and to which shard          from maps and digests
d DIGEST # SHARD   a line and its body (`bodies`)            from the files
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, sortable

FILE, DIGEST = b"f", b"d"
"""Prefixes of keys, after `SETTLED`: a file to read, a digest to compare."""

SHARD, LINE = b"0", b"1"
"""Prefixes of a digest's values: started shards sort before its lines."""

LEADS = b"L"
"""In place of a shard, before the place of a line that others were settled with."""


class OftenDigest:
    """A digest that is frequent in a map: keeps the first line by place."""

    __slots__ = ("first", "leads", "lines", "place")

    def __init__(self, place: bytes, first: ManifestLine) -> None:
        self.place = place
        self.first = first
        self.lines = 0
        self.leads = False

    def take(self, place: bytes, line: ManifestLine) -> ManifestLine:
        """Add a line; return the one that is not the first."""
        self.lines += 1
        if place < self.place:
            self.place, self.first, line = place, line, self.first
        return line


def lines_of(values: Iterable[bytes], begun: set[bytes]) -> Iterator[ManifestLine]:
    """The lines of a digest; before the first, shards that maps started are put in `begun`."""
    for value in values:
        if value.startswith(SHARD):
            begun.add(value[1:])
        else:
            yield text_line(value.split(SEPARATOR, 3)[3])


def to_read(line: ManifestLine, role: bytes, to: bytes) -> tuple[bytes, bytes]:
    """A line, keyed by its file, and the key to which its body is sent."""
    place = b"%020d%020d" % (line.offset, line.inner_offset)
    return FILE + sortable(line.file), SEPARATOR.join((place, to, role, line_text(line)))
