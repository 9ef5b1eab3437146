"""Data between the steps of `resolve_collisions`: a digest's lines and shards.

    d DIGEST           a shard that a map has begun, or a line       from the maps
    f FILE             a line, its role, and to which shard          from maps and digests
    d DIGEST # SHARD   a line and its body (`bodies`)                from the files
    s SECOND           the first capture of a digest                 from digests to its file
    x                  a collision                                   from there to the report

A line that agrees with the first of a digest that is believed is settled without reading its body.
Other lines are compared with a copy of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from pinakes.dedupe.decide.bodies import BodyReader
from pinakes.dedupe.decide.trust import MOST_READ, Trust, find_collision, second_digest
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import COPY, LEADER, MEMBER, line_text, settled, text_line
from pinakes.mr_jobs.lines.collisions import collision_text
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, sortable, sortable_place

FILE, DIGEST = b"f", b"d"
"""Prefixes of keys, after `SETTLED`: a file to read, a digest to compare."""

SHARD, LINE = b"0", b"1"
"""Prefixes of a digest's values: started shards sort before its lines."""

LEADS = b"L"
"""In place of a shard, before the place of a line that others were settled with."""

SECOND, COLLISION = b"s", b"x"
"""Prefixes of keys."""
_SHARD = b"99999999"


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


def noted(line: ManifestLine) -> Iterator[Pair]:
    """A line keyed by its second digest, if it has one."""
    second = second_digest(line)
    if second is not None:
        digest = line.digest.encode("utf-8", "surrogateescape")
        known = line_text(line._replace(record_id=None, also=None))
        value = SEPARATOR.join((digest, sortable_place(line), known))
        yield SECOND + second.encode("utf-8", "surrogateescape"), value


def believed(
    key: bytes,
    lines: Iterator[ManifestLine],
    leading: set[bytes],
    trust: Trust,
    count: Callable[[str, int], None],
) -> Iterator[Pair]:
    """Yield the lines of a believed digest, in order of place; the first is settled.

    `leading` has the places of lines with which maps found others to agree.
    """
    first = next(lines)
    count("contents", 1)
    yield settled(first._replace(hash_extension=0))
    yield from noted(first)
    to = b"%b#%b" % (key, _SHARD)
    is_read = False
    for line in lines:
        if trust.agree(first, line):
            count("believed", 1)
            yield settled(line._replace(hash_extension=0))
            continue
        if not is_read:
            is_read = True
            yield to_read(first, COPY, to)
        yield from noted(line)
        yield to_read(line, LEADER if sortable_place(line) in leading else MEMBER, to)


def not_equal(line: ManifestLine) -> PinakesError:
    """The error for a line that others were settled with, but that is not known to equal the
    first: two bodies with one SHA-256, or one that cannot be read."""
    return PinakesError(
        "this capture is not known to be equal to others of its digest, which were believed to "
        "be: run it again with --compare bytes",
        file=line.file,
        offset=line.offset,
    )


def second_collisions(
    values: Iterable[bytes],
    second: str,
    bodies: BodyReader,
    count: Callable[[str, int], None],
    problems: list[PinakesError],
) -> Iterator[Pair]:
    """The collision among the lines of one second digest, if there is one."""
    contents: list[ManifestLine] = []
    for _, same in groupby(values, key=lambda value: value.split(SEPARATOR, 1)[0]):
        if len(contents) == MOST_READ:
            count("second digests unread", 1)
            continue
        contents.append(text_line(next(same).split(SEPARATOR, 3)[3]))
    collision = find_collision(second, contents, bodies, problems)
    if collision is not None:
        yield COLLISION, collision_text(collision.digest, enumerate(collision.captures))
