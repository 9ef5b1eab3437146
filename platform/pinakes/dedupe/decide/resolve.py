"""`resolve`: distinguish unequal bodies of one digest, by comparing them.

Each digest's bodies are compared with one representative per content found so far, and
numbered: the hash extension.  A digest with one capture costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import NamedTuple

from pinakes.errors import ConfigError
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_entry_bytes, estimate_line_bytes

from .bodies import BodyReader
from .contents import MOST_ROUNDS, Compare, compared_elsewhere, extend_line, number_contents
from .counting import ResolveCount
from .trust import SecondDigests, Trust, is_strong

_PIECE_LINES = 64


class Comparing(NamedTuple):
    """Told how far comparing is, in compressed bytes of records."""

    begin: Callable[[int], None] = lambda total: None
    """Called before the first body is read, with how much there is in all."""
    advance: Callable[[int], None] = lambda count: None


UNWATCHED = Comparing()
_Clustered = tuple[str, str, int, int, int, ManifestLine]
_Placed = tuple[str, int, int, str, int, int, int, ManifestLine]
_first_place = itemgetter(0, 1, 2)
_line_of: Callable[[_Placed], ManifestLine] = itemgetter(-1)


def resolve_lines(
    lines: Iterable[ManifestLine],
    bodies: BodyReader | None,
    *,
    count: ResolveCount,
    trust: Trust | None = None,
    space: SortSpace = DEFAULT_SPACE,
    compare: Compare | None = None,
    comparing: Comparing = UNWATCHED,
) -> Iterator[ManifestLine]:
    """Yield every line, with a hash extension where it may take part; in no order.

    With `bodies` every body of a digest that occurs twice is compared.  A body that
    cannot be read leaves its line out (`skip=unreadable`), named in `count.problems`.
    Without, digests are trusted and nothing is read or sorted.  With `trust` bodies are read
    only where that does not believe two lines to be equal; what was not read is not known to
    be readable.  Where lines have a second digest (`trust.second_digest`), captures that are
    equal in it and unequal in the first are read, and are collisions if it is so.
    `compare` reads bodies, if given, but those of digests with very many captures.
    `comparing` gets how far that is.

    Extensions count contents in order of the file and offset of their first capture, so
    that they do not depend on the order of the lines.  Memory: a few times `space`, and
    `KEPT_BODY_BYTES` for the representative.

    Raises:
        ConfigError: without `bodies`, for a digest that is neither sha256 nor sha512.
    """
    lines = _in_pieces(lines)
    if bodies is None:
        return _trust_digests(lines, count)
    return _compare_bodies(lines, bodies, count, trust, space, compare, comparing)


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
        yield extend_line(line, 0)


def _compare_bodies(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    trust: Trust | None,
    space: SortSpace,
    compare: Compare | None,
    comparing: Comparing,
) -> Iterator[ManifestLine]:
    # Lines that take no part go straight through a spool: they are not sorted.
    with Spool[ManifestLine](space=space, item_bytes=estimate_line_bytes) as rest:
        clustered = sort_outside_memory(
            _clustered(lines, rest, count), space=space, item_bytes=estimate_entry_bytes
        )
        alone: Spool[ManifestLine] = Spool(space=space, item_bytes=estimate_line_bytes)
        with alone, SecondDigests(space) as seconds:
            noted = _noting(clustered, seconds)
            placed = sort_outside_memory(
                _measured(_placed(noted, alone, count), comparing),
                space=space,
                item_bytes=estimate_entry_bytes,
            )
            # A cluster is known by the place of its first capture.
            clusters = (map(_line_of, cluster) for _, cluster in groupby(placed, key=_first_place))
            here = partial(
                number_contents,
                bodies=bodies,
                count=count,
                space=space,
                trust=trust,
                most_rounds=MOST_ROUNDS,
            )
            compared = (
                compared_elsewhere(clusters, compare, here, count, space)
                if compare is not None
                else chain.from_iterable(map(here, clusters))
            )
            for line in compared:
                yield line
                comparing.advance(line.length)
            yield from alone
            count.collisions += seconds.collisions(bodies, count.problems)
            count.second_digests_unread += seconds.unread
        yield from rest


def _measured(entries: Iterable[_Placed], comparing: Comparing) -> Iterator[_Placed]:
    """The same; when all have been drawn, which is before one is compared, reports their size."""
    total = 0
    for entry in entries:
        total += entry[-1].length
        yield entry
    comparing.begin(total)


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
                alone.append(extend_line(first[-1], 0))
                count.contents += 1
            first, several = entry, False
            count.clusters += 1
            continue
        if not several:
            several = True
            yield (*first[1:4], *first[1:])
        yield (*first[1:4], *entry[1:])
    if first is not None and not several:
        alone.append(extend_line(first[-1], 0))
        count.contents += 1


def _pass(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[line.skip or line.type or ""] += 1
    return line if line.hash_extension is None else extend_line(line, None)
