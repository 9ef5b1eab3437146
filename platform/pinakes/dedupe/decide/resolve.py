"""`resolve`: tell unequal bodies of one digest apart, by comparing them.

Each digest's bodies are compared with one representative per content found so far, and
numbered: the hash extension.  A digest with one capture costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter

from pinakes.errors import ConfigError
from pinakes.index.eligibility import UNREADABLE
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes

from .bodies import BodyReader
from .compare import Representative, UnreadableBody, read_body, represent
from .counting import Collision, ResolveCount, capture_of
from .second_digests import SecondDigests
from .trust import Trust, is_strong

_PIECE_LINES = 64
_MOST_ROUNDS = 16
"""Of the contents of one digest; real ones have one, real collisions two."""
_Clustered = tuple[str, str, int, int, int, ManifestLine]
_Placed = tuple[str, int, int, str, int, int, int, ManifestLine]
_first_place = itemgetter(0, 1, 2)
_line_of: Callable[[_Placed], ManifestLine] = itemgetter(-1)
_make = ManifestLine._make


def resolve_lines(
    lines: Iterable[ManifestLine],
    bodies: BodyReader | None,
    *,
    count: ResolveCount,
    trust: Trust | None = None,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[ManifestLine]:
    """Yield every line, with a hash extension where it may take part; in no order.

    With `bodies` every body of a digest that occurs twice is compared.  A body that
    cannot be read leaves its line out (`skip=unreadable`), named in `count.problems`.
    Without, digests are trusted and nothing is read or sorted.  With `trust` bodies are read
    only where that does not believe two lines to be equal; what was not read is not known to
    be readable.  Where lines have a second digest (`trust.second_digest`), captures that are
    equal in it and unequal in the first are read, and are collisions if it is so.

    Extensions count contents in order of the file and offset of their first capture, so
    that they do not depend on the order of the lines.  Memory: a few times `space`, and
    `KEPT_BODY_BYTES` for the representative.

    Raises:
        ConfigError: without `bodies`, for a digest that is neither sha256 nor sha512.
    """
    lines = _in_pieces(lines)
    if bodies is None:
        return _trust_digests(lines, count)
    return _compare_bodies(lines, bodies, count, trust, space)


def _in_pieces(lines: Iterable[ManifestLine]) -> Iterator[ManifestLine]:
    """The same lines, drawn some at a time.

    What makes them inflates and hashes bodies: taken in turns with it, a line costs us
    twice as long, for our code is out of the processor's caches each time.
    """
    source = iter(lines)
    while piece := list(islice(source, _PIECE_LINES)):
        yield from piece


def takes_part(line: ManifestLine) -> bool:
    """Whether this line's body is worth comparing."""
    return line.skip is None and line.type != "revisit"


def _trust_digests(lines: Iterable[ManifestLine], count: ResolveCount) -> Iterator[ManifestLine]:
    for line in lines:
        if not takes_part(line):
            yield _pass(line, count)
            continue
        if not is_strong(line.digest):
            raise ConfigError(
                "--compare none needs a manifest made with --digest sha256 or sha512; "
                f"this line has {line.digest.partition(':')[0]}",
                file=line.file,
                offset=line.offset,
            )
        count.records += 1
        yield _extend(line, 0)


def _compare_bodies(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    trust: Trust | None,
    space: SortSpace,
) -> Iterator[ManifestLine]:
    # Lines that take no part go straight through a spool: they are not sorted.
    with Spool[ManifestLine](space=space, item_bytes=estimate_line_bytes) as rest:
        clustered = sort_outside_memory(
            _clustered(lines, rest, count), space=space, item_bytes=_clustered_bytes
        )
        alone: Spool[ManifestLine] = Spool(space=space, item_bytes=estimate_line_bytes)
        with alone, SecondDigests(space) as seconds:
            noted = _noting(clustered, seconds)
            placed = sort_outside_memory(
                _placed(noted, alone, count), space=space, item_bytes=_placed_bytes
            )
            # A cluster is known by the place of its first capture.
            for _, cluster in groupby(placed, key=_first_place):
                yield from number_contents(
                    map(_line_of, cluster), bodies, count, space, trust, most_rounds=_MOST_ROUNDS
                )
            yield from alone
            count.collisions += seconds.collisions(bodies, count.problems)
            count.second_digests_unread += seconds.unread
        yield from rest


def _clustered(
    lines: Iterable[ManifestLine], rest: Spool[ManifestLine], count: ResolveCount
) -> Iterator[_Clustered]:
    for number, line in enumerate(lines):
        if takes_part(line):
            count.records += 1
            yield (line.digest, line.file, line.offset, line.inner_offset, number, line)
        else:
            rest.append(_pass(line, count))


def _noting(entries: Iterable[_Clustered], seconds: SecondDigests) -> Iterator[_Clustered]:
    for entry in entries:
        seconds.note(entry[-1])
        yield entry


def _placed(
    entries: Iterable[_Clustered], alone: Spool[ManifestLine], count: ResolveCount
) -> Iterator[_Placed]:
    """Each capture of a digest that occurs twice, by the place of the digest's first."""
    first: _Clustered | None = None
    several = False
    for entry in entries:
        if first is None or entry[0] != first[0]:
            if first is not None and not several:
                alone.append(_extend(first[-1], 0))
                count.contents += 1
            first, several = entry, False
            count.clusters += 1
            continue
        if not several:
            several = True
            yield (*first[1:4], *first[1:])
        yield (*first[1:4], *entry[1:])
    if first is not None and not several:
        alone.append(_extend(first[-1], 0))
        count.contents += 1


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
    After `most_rounds` what is left is told apart by its SHA-256 first, each body read once
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
            yield _extend(line, extension)
        if one is None:
            return extension, ()
        count.compared_bytes += one.compared_bytes
        extension += 1
        if lost:
            # Nobody knows whether the next content is this one: no collision.
            found.pop()
        if not unequal or extension == most:
            return extension, unequal
        waiting = unequal


def _by_sha256(
    lines: Iterable[ManifestLine], bodies: BodyReader, count: ResolveCount, space: SortSpace
) -> Iterator[ManifestLine | Iterator[ManifestLine]]:
    """The lines in groups of one SHA-256, ordered by their first; and those left out."""
    known: Spool[tuple[bytes, int, ManifestLine]] = Spool(space=space, item_bytes=_hashed_bytes)
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
            known, key=itemgetter(0, 1), space=space, item_bytes=_hashed_bytes
        )
        for _, group in groupby(ordered, key=itemgetter(0)):
            first: int | None = None
            for _, number, line in group:
                first = number if first is None else first
                yield first, number, line

    ordered = sort_outside_memory(
        in_groups(), key=itemgetter(0, 1), space=space, item_bytes=_hashed_bytes
    )
    for _, group in groupby(ordered, key=itemgetter(0)):
        yield (line for _, _, line in group)


def _extend(line: ManifestLine, extension: int) -> ManifestLine:
    return _make((*line[:6], extension, *line[7:]))


def _pass(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[line.skip or line.type or ""] += 1
    return line if line.hash_extension is None else _make((*line[:6], None, *line[7:]))


def _leave_out(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[UNREADABLE] += 1
    count.records -= 1
    return line._replace(hash_extension=None, skip=UNREADABLE)


def _hashed_bytes(entry: tuple[object, int, ManifestLine]) -> int:
    return 160 + estimate_line_bytes(entry[-1])


def _clustered_bytes(entry: _Clustered) -> int:
    return 160 + estimate_line_bytes(entry[-1])


def _placed_bytes(entry: _Placed) -> int:
    return 220 + estimate_line_bytes(entry[-1])
