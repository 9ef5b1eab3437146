"""Records that share compressed members: each in a member of its own, some replaced.

    members   |A A A B B|B B C C|        cuts   A  B  C
    becomes   |A A A|stone|C C|

A stretch of members is inflated once, and cut where its records begin.  What stays is compressed
again as it was inflated; what lies between two records goes or stays with the first of them.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from isal import isal_zlib

from pinakes.errors import MalformedRecord
from pinakes.warc.compression import Damage
from pinakes.warc.members import compression_of, inflate_member
from pinakes.warc.source import Source

_LINE_ENDS = b"\r\n"


class Cut(NamedTuple):
    """Where a record begins, in which member; `stone`, with its line ends, stands for it."""

    offset: int
    inner_offset: int
    stone: bytes | None


def cut_apart(source: Source, start: int, end: int, cuts: Sequence[Cut]) -> Iterator[bytes]:
    """The members of `[start, end)`, which begin with the first record, with one for each record.

    Memory: a piece.

    Raises:
        MalformedRecord: a member is damaged.
    """
    compression = compression_of(source, start) or ""
    left = list(reversed(cuts))
    part = _part(left.pop(), compression)
    for at, inner, piece in _inflated(source, start, end):
        begin = 0
        while left and left[-1].offset == at and left[-1].inner_offset < inner + len(piece):
            cut = left.pop()
            here = cut.inner_offset - inner
            yield part.add(piece[begin:here])
            yield part.end()
            part, begin = _part(cut, compression), here
        yield part.add(piece[begin:])
    yield part.end()


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


class _Part(Protocol):
    """What becomes of one record."""

    def add(self, piece: bytes, /) -> bytes: ...
    def end(self) -> bytes: ...


class _Kept:
    """The record in a member of its own."""

    def __init__(self, compression: str) -> None:
        is_bzip2 = compression == "bzip2"
        self._compressor = bz2.BZ2Compressor() if is_bzip2 else isal_zlib.compressobj(3, 8, 31)

    def add(self, piece: bytes, /) -> bytes:
        return self._compressor.compress(piece)

    def end(self) -> bytes:
        return self._compressor.flush()


class _Replaced:
    """The stone in its place."""

    def __init__(self, kept: _Kept, stone: bytes) -> None:
        self._kept = kept
        self._stone = stone

    def add(self, piece: bytes, /) -> bytes:
        """Nothing."""
        return b""

    def end(self) -> bytes:
        return self._kept.add(self._stone) + self._kept.end()


def _part(cut: Cut, compression: str) -> _Part:
    kept = _Kept(compression)
    return kept if cut.stone is None else _Replaced(kept, cut.stone)


def _inseparable(why: str, file: str, offset: int) -> MalformedRecord:
    return MalformedRecord(
        f"{why}: a record that shares this member cannot be cut out of it; take the crawl out "
        "(`pinakes crawl remove`), and land what may stay (`pinakes filter`)",
        file=file,
        offset=offset,
    )
