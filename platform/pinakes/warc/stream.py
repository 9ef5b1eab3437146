"""Inflated bytes in order, each with its place in the archive file.

For what the fast path does not take: records too large for memory, several records in one
member, one record over several members, damage.  A stream never raises on damage: it ends,
and `damage` says why and where.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from pinakes.warc.compression.members import compression_at, inflate_member
from pinakes.warc.compression.port import Damage

from .damage import find_swallowed, is_whole_member
from .source import READ_BYTES, Source

_OUT_BYTES = 1 << 20
# A window for looks at a distance, besides the one that the file is read through.
_FAR_BYTES = 1 << 13
# 4 MiB of what does not compress are 256 of gzip.
_PIECES_AHEAD = 1 << 9
_FAR_LOOKS = 16


class ByteStream(Protocol):
    """Bytes in order; `position` counts them from where the stream was opened."""

    source: Source
    position: int
    damage: Damage | None
    damaged_from: int  # where the damaged member begins; `damage.offset` is in or after it

    @property
    def resume_from(self) -> int: ...
    @property
    def search_from(self) -> int: ...

    def search_from_behind(self, count: int) -> int: ...
    def peek(self, length: int) -> bytes: ...
    def look(self, ahead: int, length: int) -> bytes: ...
    def take(self, length: int) -> bytes: ...
    def place(self) -> tuple[int, int]: ...
    def end_of_last_byte(self) -> int: ...
    def at_member_start(self) -> bool: ...
    def member_starts(self, length: int) -> list[int]: ...


def skip_bytes(stream: ByteStream, count: int) -> None:
    """Take `count` bytes, or all that are left."""
    while count > 0:
        piece = stream.take(count)
        if not piece:
            return
        count -= len(piece)


class PlainStream:
    """An uncompressed archive file."""

    damage: Damage | None = None
    damaged_from = 0

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.position = offset
        self.resume_from = source.size
        self._far: Source | None = None

    @property
    def search_from(self) -> int:
        """Where to look for the next record, if none begins at the next byte."""
        return self.position + 1

    def search_from_behind(self, count: int) -> int:
        """`search_from` if no record begins in the next `count` bytes either."""
        return self.position + count

    def peek(self, length: int) -> bytes:
        """The next bytes without taking them; fewer only at the end."""
        return self.look(0, length)

    def look(self, ahead: int, length: int) -> bytes:
        """As `peek`, but of what follows in `ahead` bytes."""
        source = self.source
        if ahead > READ_BYTES:
            source = self._far = self._far or source.again(window_bytes=_FAR_BYTES)
        return bytes(source.view(self.position + ahead, length))

    def take(self, length: int) -> bytes:
        """At least one and at most `length` bytes; none at the end."""
        data = bytes(self.source.view(self.position, min(length, _OUT_BYTES)))
        self.position += len(data)
        return data

    def place(self) -> tuple[int, int]:
        """(offset in the file, offset in the inflated member) of the next byte."""
        return self.position, 0

    def end_of_last_byte(self) -> int:
        """The file offset after the byte taken last."""
        return self.position

    def at_member_start(self) -> bool:
        """Whether the next byte is the first of a member; a plain file has none."""
        return False

    def member_starts(self, length: int) -> list[int]:
        """Which of the next `length` bytes are the first of a member: none."""
        return []


class MemberStream:
    """The concatenated content of compressed members, from the member at `offset` on."""

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.position = 0
        self.damage: Damage | None = None
        self.damaged_from = offset
        self.far_looks = _FAR_LOOKS
        """How often a look that inflates again may still be taken: a hostile file wants many."""
        self._pieces: deque[memoryview] = deque()
        self._ahead = 0
        self._members: deque[tuple[int, int]] = deque()  # (position, offset) of each start
        self._ends: dict[int, int] = {}
        self._faults: dict[int, Damage] = {}
        # Weakly: a cycle would keep the inflated bytes until the garbage collector runs.
        self._inflated = MemberStream._inflate_members(weakref.proxy(self), offset)

    def peek(self, length: int) -> bytes:
        """The next bytes without taking them; fewer only at the end or before damage."""
        while self._ahead < length and self._load():
            pass
        if self._pieces and len(self._pieces[0]) >= length:
            return bytes(self._pieces[0][:length])
        return self.look(0, length)

    def look(self, ahead: int, length: int) -> bytes:
        """As `peek`, but of what follows in `ahead` bytes: all of them are kept in memory."""
        while self._ahead < ahead + length and self._load():
            pass
        parts, at, end = [], 0, ahead + length
        for piece in self._pieces:
            if at + len(piece) > ahead:
                parts.append(piece[max(ahead - at, 0) : end - at])
            at += len(piece)
            if at >= end:
                break
        return b"".join(parts)

    def take(self, length: int) -> bytes:
        """At least one and at most `length` bytes of one member; none at the end."""
        if not self._pieces and not self._load():
            return b""
        while len(self._members) > 1 and self._members[1][0] <= self.position:
            self._ends.pop(self._members.popleft()[1], None)
        piece = self._pieces.popleft()
        if len(piece) > length:
            self._pieces.appendleft(piece[length:])
            piece = piece[:length]
        self.position += len(piece)
        self._ahead -= len(piece)
        return bytes(piece)

    @property
    def ahead(self) -> int:
        """How many bytes are in memory that are not taken yet."""
        return self._ahead

    def can_look(self, ahead: int) -> bool:
        """Keep so many of the next bytes in memory; false if that takes too many pieces."""
        while self._ahead < ahead and len(self._pieces) <= _PIECES_AHEAD and self._load():
            pass
        return len(self._pieces) <= _PIECES_AHEAD

    def _load(self) -> bool:
        piece = next(self._inflated, None)
        if piece is None:
            return False
        self._pieces.append(memoryview(piece))
        self._ahead += len(piece)
        return True

    def place(self) -> tuple[int, int]:
        """(offset of the member, offset in its inflated bytes) of the next byte."""
        if not self._pieces:
            self._load()
        start, offset = max(m for m in self._members if m[0] <= self.position)
        return offset, self.position - start

    def end_of_last_byte(self) -> int:
        """The file offset after the member that holds the byte taken last.

        Inflates the rest of that member a second time if the stream has not reached its
        end yet; only once, however many records share it.

        Raises:
            Damage: if that rest cannot be read.
        """
        holder = self._members[0][1]
        if holder not in self._ends and holder not in self._faults:
            try:
                for _ in inflate_member(self.source, holder, self._ends):
                    pass
            except Damage as damage:
                self._note(holder, damage)
        if holder in self._faults:
            raise self._faults[holder]
        return self._ends[holder]

    @property
    def search_from(self) -> int:
        """Where to look for the next record, if none begins at the next byte.

        An intact member, checksum included, is skipped as a whole: what looks like members in
        its compressed bytes is stored content.
        """
        member, _ = self.place()
        if member in self._ends or is_whole_member(self.source, member, self._ends):
            return self._ends[member]
        return member + 1

    def search_from_behind(self, count: int) -> int:
        """As `search_from`: a member is skipped as a whole."""
        return self.search_from

    def at_member_start(self) -> bool:
        """Whether the next byte is the first of a member."""
        return any(start == self.position for start, _ in self._members)

    def member_starts(self, length: int) -> list[int]:
        """Which of the next `length` bytes, peeked at before, are the first of a member."""
        ahead = (start - self.position for start, _ in self._members)
        return [at for at in ahead if 0 <= at < length]

    @property
    def resume_from(self) -> int:
        """Where to look for the next record once `damage` has ended the stream."""
        damage = self.damage
        if damage is None:
            return self.source.size
        if damage.is_end_proven and damage.end is not None:
            return damage.end
        inflated = self.position + self._ahead
        if self._members and self._members[-1] == (inflated, self.damaged_from):
            # Nothing was inflated from it: its end may be computed from bytes of the next member.
            return self.damaged_from + 1
        behind = max(damage.offset, self.damaged_from + 1)
        return behind if damage.end is None else damage.end

    def _note(self, member: int, damage: Damage) -> None:
        if damage.end is None:
            damage.end = find_swallowed(self.source, member + 1, damage.offset)
        self._faults[member] = damage

    def _inflate_members(self, offset: int) -> Iterator[bytes]:
        produced = 0
        size = self.source.size
        while offset < size:
            self.damaged_from = offset
            compression = compression_at(self.source, offset)
            if compression is None:
                self.damage = Damage("damaged", "bytes that are no compressed member", offset)
                return
            if self._members and self._members[-1][0] == produced:
                # The last one was empty; a file may have millions of empty members.
                self._ends.pop(self._members.pop()[1], None)
            self._members.append((produced, offset))
            try:
                for piece in compression.inflate(self.source, offset, self._ends):
                    produced += len(piece)
                    yield piece
            except Damage as damage:
                self._note(offset, damage)
                self.damage = damage
                return
            offset = self._ends[offset]
