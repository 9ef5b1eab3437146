"""Some records of a file replaced, and the check that nothing else was.

Everything outside the stretches that were replaced has to be equal as it is written, byte for
byte; inside them every other record, since several may share a member.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from pinakes.errors import DigestMismatch
from pinakes.rewrite.file_parts import equal_blocks
from pinakes.rewrite.replace import Replacement
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_PIECE_BYTES = 1 << 20


class _Stretch(NamedTuple):
    """A stretch of the old file, and how many bytes stand for it in the new one."""

    offset: int
    length: int
    size: int


class ReplacedRecords:
    """What was replaced in one file, noted while it is written."""

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []

    def noted(self, replacements: Iterable[Replacement]) -> Iterator[Replacement]:
        """The same replacements, whose pieces must be drawn before the next."""
        self._stretches.clear()
        for offset, length, pieces in replacements:
            yield Replacement(offset, length, self._counted(offset, length, pieces))

    def _counted(
        self, offset: int, length: int, pieces: Iterable[bytes | memoryview]
    ) -> Iterator[bytes | memoryview]:
        size = 0
        for piece in pieces:
            size += len(piece)
            yield piece
        self._stretches.append(_Stretch(offset, length, size))

    def check(
        self,
        before: Source,
        after: Source,
        ordinals: Container[int],
        fits: Callable[[Record, Record], bool],
    ) -> None:
        """Raise DigestMismatch unless all but these records is as it was.

        `fits(old, new)` says whether one of them became what it should be.
        """
        at = shift = 0
        for stretch in self._stretches:
            _require_equal(before, after, at, stretch.offset, shift)
            at = stretch.offset + stretch.length
            shift += stretch.size - stretch.length
        _require_equal(before, after, at, before.size, shift)
        if before.size + shift != after.size:
            raise _wrong(before, before.size)
        for old, new in zip_longest(records_of(before), records_of(after)):
            if old is None or new is None:
                raise _wrong(before, before.size)
            if not (fits if old.ordinal in ordinals else _are_equal)(old, new):
                raise _wrong(before, old.offset)


def records_of(source: Source) -> Iterator[Record]:
    """The records of a file, without what is none."""
    return (item for item in iter_records(source, digests=()) if isinstance(item, Record))


def block_of(record: Record) -> bytes:
    """The whole block: of a revisit or a tombstone, which are short."""
    return b"".join(map(bytes, record.chunks()))


def _require_equal(before: Source, after: Source, start: int, end: int, shift: int) -> None:
    for at in range(start, end, _PIECE_BYTES):
        size = min(_PIECE_BYTES, end - at)
        if bytes(before.view(at, size)) != bytes(after.view(at + shift, size)):
            raise _wrong(before, at)


def _are_equal(old: Record, new: Record) -> bool:
    return old.header.raw == new.header.raw and equal_blocks(old, new)


def _wrong(before: Source, offset: int) -> DigestMismatch:
    return DigestMismatch(
        "the new file would differ in more than it should",
        file=before.name,
        offset=offset,
    )
