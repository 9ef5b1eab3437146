"""Bytes of a stored file that are compared with what is known of them while they are given out.

The last piece is read, and held back until all of them are proven: a client that has the whole
answer has the right bytes.  What is proven is a whole file, by its SHA-256, and each record that
is in a range which begins where a record does.  A range that begins elsewhere is no record, and
is given as it is stored: its client puts it together with others, and has the `ETag`.
"""

from __future__ import annotations

import hashlib
import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import BinaryIO, NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import sidecar_places
from pinakes.catalog.sidecar import Places
from pinakes.catalog.sound_records import DIGESTS, StoredJudge
from pinakes.catalog.stored_generations import StoredGeneration
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.row_store.port import RowStore
from pinakes.warc.compression.members import compression_of
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import IN_MEMORY_BYTES, Source

PIECE_BYTES = 1 << 18
KEPT_S = 60.0
"""How long the verdict on a whole file stands, where single records need one."""
_MOST_KEPT = 16
_LINE_ENDS_BYTES = 4
Prove = Callable[[BinaryIO], None]


class CheckedBytes:
    """The bytes `[start, end)` of an open file, in pieces; not for several threads."""

    def __init__(
        self,
        file: BinaryIO,
        start: int,
        end: int,
        *,
        name: str,
        prove: Prove | None = None,
        sha256: str | None = None,
    ) -> None:
        """`prove` is called with the file before the last piece is given, and raises where the
        bytes are wrong; `sha256` is what all of them are compared with."""
        self.file = file
        self.name = name
        self.size = end - start
        self._at, self._end = start, end
        self._prove = prove
        self._sha256 = sha256
        self._state = hashlib.sha256()

    @property
    def is_done(self) -> bool:
        """Whether all pieces were given."""
        return self._at >= self._end

    def next_piece(self) -> bytes:
        """At most `PIECE_BYTES`; nothing where all were given.

        Raises:
            DigestMismatch: before the last piece, if the bytes are not what they were.
        """
        if self.is_done:
            return b""
        self.file.seek(self._at)
        piece = self.file.read(min(PIECE_BYTES, self._end - self._at))
        if not piece:
            why = "a stored file is shorter than what was written"
            raise DigestMismatch(why, file=self.name, offset=self._at)
        self._at += len(piece)
        if self._sha256 is not None:
            self._state.update(piece)
        if self._at >= self._end:
            self.require_proven()
        return piece

    def require_proven(self) -> None:
        """Raise DigestMismatch where the bytes are wrong; called with the last piece, too.

        Of a whole file what was not given yet is read for it.
        """
        if self._prove is not None:
            self._prove(self.file)
        if self._sha256 is None:
            return
        self.file.seek(self._at)
        for piece in iter(lambda: self.file.read(PIECE_BYTES), b""):
            self._state.update(piece)
        if self._sha256 != self._state.hexdigest():
            why = "damaged: the file has not the SHA-256 with which it was written"
            raise DigestMismatch(why, file=self.name)

    def close(self) -> None:
        self.file.close()

    def pieces(self) -> Iterator[bytes]:
        """All that are left; the file is closed with the last."""
        try:
            while piece := self.next_piece():
                yield piece
        finally:
            self.close()


class _Known:
    """What is kept of a stored file for a while: where its records are, and who judges them."""

    def __init__(self, sha256: str, judge: StoredJudge, places: Places | None) -> None:
        self.sha256 = sha256
        self.judge = judge
        self.places = places
        self.until_s = time.monotonic() + KEPT_S


class RecordProofs:
    """Proves records of the files of a store.  Safe for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive
        self._kept: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def require_sound(self, opened: BinaryIO, file: StoredGeneration, start: int, end: int) -> None:
        """Raise DigestMismatch where a record in `[start, end)` has other bytes than it had.

        Nothing is compared where no record begins at `start`, or only a part is asked of one
        that is too large for memory.  Without a sidecar the whole file is.
        """
        known = self._of(file)
        if known.places is None:
            if not known.judge.is_as_written():
                why = "damaged: its sidecar is, and the file is not as it was written"
                raise DigestMismatch(why, file=file.name)
            return
        for stretch in _stretches(known.places, start, end):
            _require_sound(opened, file, stretch, known.judge)

    def _of(self, file: StoredGeneration) -> _Known:
        with self._lock:
            known = self._kept.get(file.name)
            is_of_it = known is not None and known.sha256 == file.sha256
            if known is not None and is_of_it and time.monotonic() < known.until_s:
                return known
        try:
            places = sidecar_places(self._archive, file.name)
        except (InputRefused, MalformedRecord):
            places = None
        judge = StoredJudge(self._rows, self._archive, file.name)
        known = _Known(file.sha256, judge, places)
        with self._lock:
            self._kept[file.name] = known
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return known


class _Stretch(NamedTuple):
    """A record, or a member that `records` share."""

    start: int
    end: int
    records: int


def _stretches(places: Places, start: int, end: int) -> Iterator[_Stretch]:
    """What is to be compared of a range."""
    at = bisect_left(places.offsets, start)
    if at == len(places.offsets) or places.offsets[at] != start:
        return
    numbers = range(at, bisect_left(places.offsets, end))
    for offset, group in groupby(numbers, key=places.offsets.__getitem__):
        lengths = [places.lengths[number] for number in group]
        behind = offset + max(lengths)
        if behind <= end or behind - offset <= IN_MEMORY_BYTES:
            yield _Stretch(offset, behind, len(lengths))


def _require_sound(
    opened: BinaryIO, file: StoredGeneration, stretch: _Stretch, judge: StoredJudge
) -> None:
    start, end, records = stretch
    source = Source(opened, name=file.name, size=min(end, file.size))
    if compression_of(source, start) is None:
        # The line ends that close it are read faster than their lack.
        source = Source(opened, name=file.name, size=min(end + _LINE_ENDS_BYTES, file.size))
    found: Iterator[Item | None] = iter((read_record(source, start, digests=DIGESTS),))
    if records > 1:
        found = iter_records(source, start=start, digests=DIGESTS)
    for item in found:
        if isinstance(item, Record) and start <= item.offset < end:
            judge.require_sound(source, item)
            records -= 1
    if records:
        why = "damaged: no record is here any more"
        raise DigestMismatch(why, file=file.name, offset=start)
