"""Digests that count as equal unread, in `resolve_collisions`; and those that do not.

    s SECOND           the first capture of a digest         from digests to where they are read
    x                  a collision                           from there to the report

A line that agrees with the first of its digest is settled without reading its body.  Other lines
are compared with a copy of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from pinakes.dedupe.decide.bodies import BodyReader
from pinakes.dedupe.decide.second_digests import MOST_READ, find_collision
from pinakes.dedupe.decide.trust import Trust, second_digest
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import COPY, LEADER, MEMBER, line_text, text_line
from pinakes.mr_jobs.lines.collisions import collision_text
from pinakes.mr_jobs.lines.settled import settled
from pinakes.mr_jobs.lines.shards import to_read
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, sortable_place

SECOND, COLLISION = b"s", b"x"
"""Prefixes of keys."""

_SHARD = b"99999999"
Pair = tuple[bytes, bytes]


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
