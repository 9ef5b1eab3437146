"""The bodies of one digest, distinguished by comparing them.

Each body is compared with one representative per content found so far.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, count, groupby, islice
from operator import itemgetter
from typing import NamedTuple

from pinakes.index.eligibility import UNREADABLE
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_entry_bytes, estimate_line_bytes

from .bodies import BodyReader, Representative, UnreadableBody, read_body, represent
from .counting import Collision, ResolveCount, capture_of
from .trust import Trust

MOST_ROUNDS = 16
"""Of the contents of one digest; real ones have one, real collisions two."""
_MOST_AT_ONCE = 256
"""Captures of a batch, about; and of one digest in it."""
_make = ManifestLine._make

Batch = list[list[ManifestLine]]
"""The captures of some digests, each ordered by place."""


class Compared(NamedTuple):
    """What comparing the bodies of a batch has found.

    `unequal` has the number of each line in the batch that has not the hash extension 0, with
    its own: None where its body could not be read.
    """

    unequal: dict[int, int | None]
    counted: ResolveCount


Compare = Callable[[Iterable[Batch]], Iterator[Compared]]
"""Compares the bodies of each batch in another process; answers come in the order given."""


def compare_batch(
    batch: Batch, bodies: BodyReader, trust: Trust | None, space: SortSpace
) -> Compared:
    """Compare the bodies of each digest of a batch."""
    unequal: dict[int, int | None] = {}
    counted = ResolveCount()
    numbers = count()
    for cluster in batch:
        lines = (line._replace(copy_number=next(numbers)) for line in cluster)
        for line in number_contents(lines, bodies, counted, space, trust, most_rounds=MOST_ROUNDS):
            if line.hash_extension != 0:
                unequal[line.copy_number or 0] = line.hash_extension
    return Compared(unequal, counted)


def compared_elsewhere(
    clusters: Iterable[Iterator[ManifestLine]],
    compare: Compare,
    compare_here: Callable[[Iterable[ManifestLine]], Iterator[ManifestLine]],
    counted: ResolveCount,
    space: SortSpace,
) -> Iterator[ManifestLine]:
    """The lines of all clusters with their extensions, most compared elsewhere.

    What has too many captures to be sent is compared here.  Memory: `space`, and some batches.
    """
    given: deque[Batch] = deque()
    with Spool[ManifestLine](space=space, item_bytes=estimate_line_bytes) as large:

        def batches() -> Iterator[Batch]:
            batch: Batch = []
            lines = 0
            for cluster in clusters:
                some = list(islice(cluster, _MOST_AT_ONCE))
                if len(some) == _MOST_AT_ONCE:
                    for line in compare_here(chain(some, cluster)):
                        large.append(line)
                    continue
                batch.append(some)
                lines += len(some)
                if lines >= _MOST_AT_ONCE:
                    given.append(batch)
                    yield batch
                    batch, lines = [], 0
            if batch:
                given.append(batch)
                yield batch

        for found in compare(batches()):
            counted.add(found.counted)
            for number, line in enumerate(chain.from_iterable(given.popleft())):
                extension = found.unequal.get(number, 0)
                yield _left_out(line) if extension is None else extend_line(line, extension)
        yield from large


def number_contents(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    space: SortSpace,
    trust: Trust | None = None,
    *,
    most_rounds: int | None = None,
) -> Iterator[ManifestLine]:
    """Give the captures of one digest, ordered by place, their extensions.

    One round a content: the first capture that is left stands for it, those equal to it
    leave, the others go another round.  With `trust` no body is read that it can do without.
    After `most_rounds` what is left is divided by its SHA-256 first, each body read once
    more: a digest that is declared, or broken, may have as many contents as captures.
    """
    found: list[ManifestLine] = []
    extension, left = yield from _rounds(lines, bodies, count, space, trust, found, 0, most_rounds)
    if left:
        for group in _by_sha256(left, bodies, count, space):
            if isinstance(group, ManifestLine):
                yield group
            else:
                extension, _ = yield from _rounds(
                    group, bodies, count, space, None, found, extension, None
                )
    count.contents += extension
    if len(found) > 1:
        count.collisions.append(Collision(found[0].digest, tuple(map(capture_of, found))))


def _rounds(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    space: SortSpace,
    trust: Trust | None,
    found: list[ManifestLine],
    extension: int,
    most: int | None,
) -> Generator[ManifestLine, None, tuple[int, Iterable[ManifestLine]]]:
    """Rounds from this extension on; the next one, and what is left after `most` rounds.

    `found` gets the first line of each content.
    """
    believed: Trust | None = None
    waiting: Iterable[ManifestLine] = lines
    while True:
        unequal: Spool[ManifestLine] = Spool(space=space, item_bytes=estimate_line_bytes)
        one: Representative | None = None
        lost = False
        for line in waiting:
            try:
                if one is None:
                    believed = trust if trust is not None and trust.believes(line.digest) else None
                    one = (
                        represent(line, bodies)
                        if believed is None
                        else Representative(line, None, is_read=False)
                    )
                    found.append(line)
                elif believed is not None and believed.agree(one.line, line):
                    count.believed += 1
                elif not one.equals(line, bodies):
                    unequal.append(line)
                    continue
            except UnreadableBody as fault:
                count.problems.append(fault.problem)
                if fault.line is not line:
                    # The representative, read once, is unreadable now: another must do.
                    lost = True
                    unequal.append(line)
                else:
                    yield _leave_out(line, count)
                continue
            yield extend_line(line, extension)
        if one is None:
            return extension, ()
        count.compared_bytes += one.compared_bytes
        extension += 1
        if lost:
            # It is unknown whether the next content is this one: no collision.
            found.pop()
        if not unequal or extension == most:
            return extension, unequal
        waiting = unequal


def _by_sha256(
    lines: Iterable[ManifestLine], bodies: BodyReader, count: ResolveCount, space: SortSpace
) -> Iterator[ManifestLine | Iterator[ManifestLine]]:
    """The lines in groups of one SHA-256, ordered by their first; and those left out."""
    known: Spool[tuple[bytes, int, ManifestLine]] = Spool(
        space=space, item_bytes=estimate_entry_bytes
    )
    for number, line in enumerate(lines):
        digest = hashlib.sha256()
        try:
            for piece in read_body(line, bodies):
                count.compared_bytes += len(piece)
                digest.update(piece)
        except UnreadableBody as fault:
            count.problems.append(fault.problem)
            yield _leave_out(line, count)
        else:
            known.append((digest.digest(), number, line))

    def in_groups() -> Iterator[tuple[int, int, ManifestLine]]:
        ordered = sort_outside_memory(
            known, key=itemgetter(0, 1), space=space, item_bytes=estimate_entry_bytes
        )
        for _, group in groupby(ordered, key=itemgetter(0)):
            first: int | None = None
            for _, number, line in group:
                first = number if first is None else first
                yield first, number, line

    ordered = sort_outside_memory(
        in_groups(), key=itemgetter(0, 1), space=space, item_bytes=estimate_entry_bytes
    )
    for _, group in groupby(ordered, key=itemgetter(0)):
        yield (line for _, _, line in group)


def extend_line(line: ManifestLine, extension: int | None) -> ManifestLine:
    """A line with this hash extension; faster than `_replace`."""
    return _make((*line[:6], extension, *line[7:]))


def _leave_out(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[UNREADABLE] += 1
    count.records -= 1
    return _left_out(line)


def _left_out(line: ManifestLine) -> ManifestLine:
    return line._replace(hash_extension=None, skip=UNREADABLE)
