"""The bytes of a file in another compression, and the proof that its content is the same.

The parts of a new file are Zstandard frames, gzip members, or neither.  A form is shared; what it
makes is for one thread each.
"""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from zstandard import ZstdCompressionDict

from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.warc.compression.zstd_writer import FrameWriter, dictionary_frame
from pinakes.warc.file_names import COMPRESSIONS
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import IN_MEMORY_BYTES, Source
from pinakes.warc.write import gzip_member

from .arc_bytes import findings_of, readable_pieces
from .file_parts import Bytes, FilePart, equal_blocks

MakeMember = Callable[[int, Iterable[Bytes]], Iterable[Bytes]]
"""Gives the member of a content of so many bytes, in pieces; lazy."""

_BATCH_BYTES = 1 << 18
_BATCHES_AHEAD = 2
"""For each thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberForm:
    """How each part is compressed."""

    suffix: str
    """Of names of such files."""
    start: bytes
    """What a file begins with."""
    new_maker: Callable[[], MakeMember]

    def name(self, base: str) -> str:
        """The name of a file in this form, of that in another: `a.warc.zst` of `a.warc.gz`."""
        for compression in COMPRESSIONS:
            if base.lower().endswith(compression):
                base = base[: -len(compression)]
        return base + self.suffix


def zstd_form(level: int, dictionary: ZstdCompressionDict | None = None) -> MemberForm:
    """A frame a part.  `Raises` ConfigError for a level or a dictionary that cannot be used."""
    FrameWriter(level, dictionary)
    start = b"" if dictionary is None else dictionary_frame(dictionary)
    return MemberForm(
        suffix=".zst", start=start, new_maker=partial(_frame_maker, level, dictionary)
    )


def _frame_maker(level: int, dictionary: ZstdCompressionDict | None) -> MakeMember:
    return FrameWriter(level, dictionary).frame_pieces


def _make_gzip_member(size: int, pieces: Iterable[Bytes]) -> Iterator[Bytes]:
    return gzip_member(pieces)


def _make_none(size: int, pieces: Iterable[Bytes]) -> Iterable[Bytes]:
    return pieces


GZIP = MemberForm(suffix=".gz", start=b"", new_maker=lambda: _make_gzip_member)
PLAIN = MemberForm(suffix="", start=b"", new_maker=lambda: _make_none)


class Content(NamedTuple):
    """All that a file holds when it is uncompressed."""

    size: int
    sha256: str


def iter_members(
    parts: Iterable[FilePart], form: MemberForm, *, threads: int = 1
) -> Iterator[Bytes]:
    """The new file's bytes in pieces, the same with any number of threads.

    Memory: a few times `IN_MEMORY_BYTES` a thread.
    """
    yield form.start
    if threads == 1:
        make = form.new_maker()
        for part in parts:
            yield from make(part.size, part.pieces())
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from _iter_threaded(parts, form, pool, threads * _BATCHES_AHEAD)


def _iter_threaded(
    parts: Iterable[FilePart], form: MemberForm, pool: ThreadPoolExecutor, most: int
) -> Iterator[Bytes]:
    makers = _Makers(form)
    under_way: deque[Future[list[Bytes]]] = deque()
    for batch in _batches(parts):
        if isinstance(batch, FilePart):
            # Its pieces are read from the file, which is this thread's.
            while under_way:
                yield from under_way.popleft().result()
            yield from makers.own()(batch.size, batch.pieces())
            continue
        if len(under_way) == most:
            yield from under_way.popleft().result()
        under_way.append(pool.submit(makers.make_all, batch))
    while under_way:
        yield from under_way.popleft().result()


def _batches(parts: Iterable[FilePart]) -> Iterator[FilePart | list[tuple[int, list[Bytes]]]]:
    """Contents in memory, some at a time: a task costs as much as a small record."""
    batch: list[tuple[int, list[Bytes]]] = []
    size = 0
    for part in parts:
        is_large = part.size > IN_MEMORY_BYTES
        if batch and (is_large or size >= _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        if is_large:
            yield part
        else:
            batch.append((part.size, list(part.pieces())))
            size += part.size
    if batch:
        yield batch


class _Makers:
    """A maker for each thread."""

    def __init__(self, form: MemberForm) -> None:
        self._form = form
        self._local = threading.local()

    def own(self) -> MakeMember:
        if not hasattr(self._local, "make"):
            self._local.make = self._form.new_maker()
        make: MakeMember = self._local.make
        return make

    def make_all(self, batch: list[tuple[int, list[Bytes]]]) -> list[Bytes]:
        make = self.own()
        return [piece for size, pieces in batch for piece in make(size, pieces)]


def content_of(source: Source) -> Content:
    """Read all of a file's content, by its members alone: records are not looked at.

    Raises:
        MalformedRecord: some of it cannot be read.
    """
    state, size = hashlib.sha256(), 0
    for piece in readable_pieces(source):
        if piece.raw:
            raise MalformedRecord(
                "bytes that cannot be read", file=source.name, offset=piece.offset
            )
        state.update(piece.data)
        size += len(piece.data)
    return Content(size, state.hexdigest())


def require_same(old: Source, new: Source) -> Content:
    """Prove that two files hold the same; the content of both.

    Compared are all bytes, by SHA-256; and record by record, in order: the header, the block, and
    what the reader finds wrong.

    Raises:
        DigestMismatch: they do not.
        MalformedRecord: one of them cannot be read.
    """
    content, written = content_of(old), content_of(new)
    if content != written:
        raise DigestMismatch(
            f"{written.size} bytes, SHA-256 {written.sha256}, are not the {content.size} bytes, "
            f"SHA-256 {content.sha256}, that they were made of: not published",
            file=new.name,
        )
    both = zip_longest(iter_records(old, digests=()), iter_records(new, digests=()))
    for before, after in both:
        if before is None or after is None or not _are_same(before, after):
            place = before if before is not None else after
            raise DigestMismatch(
                "a reader would not find the records of this file in the new one, from here on: "
                "not published",
                file=old.name if before is not None else new.name,
                offset=place.offset if place is not None else None,
            )
    return content


def _are_same(before: Item, after: Item) -> bool:
    if isinstance(before, DamagedStretch) or isinstance(after, DamagedStretch):
        return isinstance(before, DamagedStretch) and isinstance(after, DamagedStretch)
    return (
        before.header.raw == after.header.raw
        and (before.type, before.version) == (after.type, after.version)
        and before.content_length == after.content_length
        and _codes(before) == _codes(after)
        and equal_blocks(before, after)
    )


def _codes(record: Record) -> list[str]:
    """What is wrong with a record itself, regardless of what shares its member."""
    return sorted(finding.code for finding in findings_of(record))
