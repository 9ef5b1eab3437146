"""Records that share compressed members: each in a member of its own, some replaced.

    members   |A A A B B|B B C C|        cuts   A  B  C
    becomes   |A A A|stone|C C|

A stretch of members is inflated once, and cut where its records begin.  What stays is compressed
again as it was inflated; what lies between two records goes or stays with the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pinakes.errors import MalformedRecord
from pinakes.warc.compression import Damage
from pinakes.warc.members import compression_at, inflate_member
from pinakes.warc.source import Source


class Cut(NamedTuple):
    """Where a record begins, in which member; `stone`, with its line ends, stands for it."""

    offset: int
    inner_offset: int
    stone: bytes | None


def cut_apart(source: Source, start: int, end: int, cuts: Sequence[Cut]) -> Iterator[bytes]:
    """The members of `[start, end)`, which begin with the first record, with one for each record.

    Memory: a piece, or some MiB.

    Raises:
        MalformedRecord: a member is damaged, or what is no content lies between them.
    """
    compression = compression_at(source, start)
    assert compression is not None
    if compression.passes_over_bytes(source, start, end):
        why = "a frame that cannot be read, or is none of a record, lies here"
        raise _inseparable(why, source.name, start)
    for number, found in groupby(_cut(source, start, end, cuts), key=itemgetter(0)):
        stone = cuts[number].stone
        pieces = (piece for _, piece in found) if stone is None else (stone,)
        yield from compression.compress_pieces(source, pieces)


def _cut(
    source: Source, start: int, end: int, cuts: Sequence[Cut]
) -> Iterator[tuple[int, memoryview]]:
    """(number of a record, a piece of it); at least one piece of each."""
    number = 0
    for at, inner, piece in _inflated(source, start, end):
        begin, view = 0, memoryview(piece)
        while number + 1 < len(cuts) and _begins_in(cuts[number + 1], at, inner + len(piece)):
            here = cuts[number + 1].inner_offset - inner
            yield number, view[begin:here]
            number, begin = number + 1, here
        yield number, view[begin:]


def _begins_in(cut: Cut, offset: int, end: int) -> bool:
    return cut.offset == offset and cut.inner_offset < end


def _inflated(source: Source, at: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """(offset of a member, where in it the piece begins, the piece)."""
    while at < end:
        ends: dict[int, int] = {}
        inner = 0
        try:
            for piece in inflate_member(source, at, ends):
                yield at, inner, piece
                inner += len(piece)
        except Damage as damage:
            raise _inseparable(damage.message, source.name, at) from None
        at = ends[at]


def _inseparable(why: str, file: str, offset: int) -> MalformedRecord:
    return MalformedRecord(
        f"{why}: a record that shares this member cannot be cut out of it; take the crawl out "
        "(`pinakes crawl remove`), and land what may stay (`pinakes filter`)",
        file=file,
        offset=offset,
    )
