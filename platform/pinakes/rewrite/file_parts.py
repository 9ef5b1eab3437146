"""An archive file cut into parts, each with one record: together they are all of its content.

    content   line ends | record, line ends | record, line ends | junk | record, line ends | …
    parts     ---------   -----------------   -----------------   ----   -----------------

A part reaches from where the reader finds a record, or bytes that are no record, to where it finds
the next.  What a part holds is taken from the content itself, not put together from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from pinakes.errors import MalformedRecord
from pinakes.warc.compression.members import compression_of
from pinakes.warc.damage import holds_members
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, MemoryBody, Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import IN_MEMORY_BYTES, Source

from .arc_bytes import ArcPiece, ReadablePlace, readable_pieces, rest_of

Bytes = bytes | memoryview
_CLOSING_BYTES = 4


class FilePart(NamedTuple):
    """`size` bytes of content, which `pieces` gives, again with each call.

    `item` is what they begin with; None for line ends before the first record, and for those after
    a revisit that replaced a record.
    """

    item: Item | None
    size: int
    pieces: Callable[[], Iterable[Bytes]]


def iter_parts(source: Source) -> Iterator[FilePart]:
    """The parts of a file in order; with the memory of a record of up to `IN_MEMORY_BYTES`.

    Raises:
        MalformedRecord: bytes of a compressed file cannot be read, with their place.
    """
    if compression_of(source) is None and holds_members(source, 0):
        raise _damaged(source, 0, "the file begins with bytes that are no compressed member")
    walk: _Walk | None = _Walk(source, 0)
    item: Item | None = None
    for following in chain(iter_records(source, digests=()), (None,)):
        whole = _whole_content(item)
        if whole is not None and _is_next(source, item, len(whole), following):
            # The reader has just proven that nothing but this is between the two.
            yield FilePart(item, len(whole), _once_more(whole))
            walk = None
        else:
            if walk is None:
                walk = _Walk(source, item.offset if item is not None else 0)
            yield from _apart(walk.take_until(item, following))
        item = following


def _apart(part: FilePart) -> Iterator[FilePart]:
    """A part; of a revisit that replaced a record, more line ends than close it apart from it.

    The record that it is made into again has the checksum that the revisit names, so that nothing
    else may be in the member that it replaces.
    """
    item = part.item
    size = part.size
    if isinstance(item, Record) and is_ours(item.header):
        size = min(size, len(item.header.raw) + item.block_size + _CLOSING_BYTES)
    if 0 < size < part.size:
        yield FilePart(item, size, lambda: stretch_of(part, 0, size))
        yield FilePart(None, part.size - size, lambda: stretch_of(part, size, part.size))
    elif part.size:
        yield part


def stretch_of(part: FilePart, start: int, end: int) -> Iterator[Bytes]:
    """The bytes `[start, end)` of a part, in pieces."""
    at = 0
    for piece in part.pieces():
        cut = piece[max(0, start - at) : max(0, end - at)]
        at += len(piece)
        if cut:
            yield cut


def _whole_content(item: Item | None) -> Bytes | None:
    """A record that the fast path has read, with the line ends that close it."""
    if not isinstance(item, Record) or not isinstance(item.body, MemoryBody):
        return None
    data, body = item.body.data, item.body
    is_whole = body.start > 0 and len(data) == body.end + _CLOSING_BYTES and not item.findings
    if not is_whole:
        return None
    return data if isinstance(data, bytes) else memoryview(data)


def _is_next(source: Source, item: Item | None, size: int, following: Item | None) -> bool:
    """Whether no byte of the file is between a record of this content and the next item."""
    if not isinstance(item, Record):
        return False
    is_plain = compression_of(source) is None
    end = item.offset + (size if is_plain else item.length)
    if following is None:
        return end == source.size
    return end == following.offset and not (
        isinstance(following, Record) and following.inner_offset
    )


def _once_more(data: Bytes) -> Callable[[], Iterable[Bytes]]:
    return lambda: (data,)


class _Walk:
    """Goes through the content of a file, from item to item."""

    def __init__(self, source: Source, start: int) -> None:
        self._source = source
        self._is_plain = compression_of(source) is None
        self._pieces = readable_pieces(source, start)
        self._rest: ArcPiece | None = None

    def take_until(self, item: Item | None, following: Item | None) -> FilePart:
        """The bytes from here, where `item` begins, up to the one that follows, or the end."""
        taken = _Taken()
        place = self._place(following)
        for piece in self._left():
            if piece.raw:
                raise _damaged(self._source, piece.offset, _why_unread(item, following))
            before = len(piece.data)
            if place is not None and piece.offset == place[0]:
                before = min(before, max(0, place[1] - piece.inner))
            taken.add(piece, before)
            self._rest = rest_of(piece, before)
            if self._rest is not None:
                return taken.part(item, self._source)
        if following is not None:
            raise _damaged(self._source, following.offset, _why_unread(item, following))
        return taken.part(item, self._source)

    def _left(self) -> Iterator[ArcPiece]:
        while True:
            piece = self._rest if self._rest is not None else next(self._pieces, None)
            self._rest = None
            if piece is None:
                return
            yield piece

    def _place(self, item: Item | None) -> tuple[int, int] | None:
        """(offset, inner offset), as pieces count them."""
        if item is None:
            return None
        if self._is_plain:
            return 0, item.offset
        return item.offset, item.inner_offset if isinstance(item, Record) else 0


class _Taken:
    """Bytes of one part: their place, and themselves up to `IN_MEMORY_BYTES`."""

    def __init__(self) -> None:
        self._run: ReadablePlace | None = None
        self._kept: list[bytes] = []

    def add(self, piece: ArcPiece, count: int) -> None:
        if not count:
            return
        run = self._run or ReadablePlace(False, piece.offset, piece.inner, 0, b"")
        self._run = run._replace(size=run.size + count)
        if self._run.size <= IN_MEMORY_BYTES:
            self._kept.append(bytes(piece.data[:count]))
        else:
            self._kept.clear()

    def part(self, item: Item | None, source: Source) -> FilePart:
        run = self._run
        if run is None:
            return FilePart(item, 0, tuple)
        if run.size <= IN_MEMORY_BYTES:
            return FilePart(item, run.size, _once_more(b"".join(self._kept)))
        return FilePart(item, run.size, lambda: run.pieces(source))


def _why_unread(item: Item | None, following: Item | None) -> str:
    for each in (item, following):
        if isinstance(each, DamagedStretch):
            return each.reason
        if each is not None and each.damage:
            return each.damage[0].message
    return "bytes that cannot be read"


def _damaged(source: Source, offset: int, why: str) -> MalformedRecord:
    return MalformedRecord(
        f"damaged, so that nothing of this file was written: {why}",
        file=source.name,
        offset=offset,
    )


def equal_blocks(old: Record, new: Record) -> bool:
    """Whether two blocks are equal, byte for byte."""
    if old.body.size != new.body.size:
        return False
    if isinstance(old.body, MemoryBody) and isinstance(new.body, MemoryBody):
        return bytes(next(old.chunks(), b"")) == bytes(next(new.chunks(), b""))
    return equal_streams(old.chunks(), new.chunks())


def equal_streams(one: Iterable[Bytes], other: Iterable[Bytes]) -> bool:
    """Whether these pieces are the same bytes, however they are divided."""
    # Of two views Python compares byte for byte in a loop, of two bytes with memcmp.
    lefts, rights = filter(None, map(bytes, one)), filter(None, map(bytes, other))
    left = right = b""
    while True:
        left, right = left or next(lefts, b""), right or next(rights, b"")
        if not left or not right:
            return left == right
        size = min(len(left), len(right))
        if left[:size] != right[:size]:
            return False
        left, right = left[size:], right[size:]
