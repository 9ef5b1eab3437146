"""The proof on raw bytes that a rewritten archive file gives back the one it was made of.

    before  member  member  plain record  bytes that are neither ...
    after   equal   equal   equal         equal              a revisit: what it replaced is there

Walks both files side by side by what they are made of (RFC 1952 members, plain records,
whatever else) and compares all bytes, inflated, in order; a revisit of ours stands for the
header it replaced, its block, and a body that fits its checksum.  Shares nothing with the
reader, or with what writes, but the inflater: what they both misunderstand is seen here.
That a reference leads to that body is asked elsewhere (`resolution`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast
from urllib.parse import unquote_to_bytes

from isal import igzip_lib, isal_zlib

from pinakes.warc.source import Source

# isal's stubs declare its exception class as an instance.
_InflateError = cast("type[Exception]", igzip_lib.IsalError)
_CLOSING = b"\r\n\r\n"
_MAGIC = b"\x1f\x8b\x08"
# isal takes reserved flags, which zlib refuses (RFC 1952 §2.3.1.2).
_FLAGS_MOST = b"\x1f"
# What a member begins with that has neither time nor name (RFC 1952 §2.3).
_HEADER_USUAL = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_HEADER_LEAST = len(_HEADER_USUAL)
_VERSION = b"WARC/"
_UNIT_START = re.compile(rb"\x1f\x8b\x08|(?<=\n)WARC/\d")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_REPLACED = re.compile(
    rb"Pinakes-Replaced: version=1; run=[^;]*; crc32=([0-9a-f]{8}); added=([1-9]\d{0,5})"
    rb"((?:; [1-9]\d{0,5}=[^; ]*)*)"
)
_REVISIT = re.compile(rb"\r\nwarc-type:[ \t]*revisit[ \t]*\r\n", re.IGNORECASE)
_FED_BYTES = 1 << 14
# What was rewritten differs in its first bytes, and a window is not to move for it.
_FIRST_BYTES = 1 << 10
_PIECE_BYTES = 1 << 16
_HEADER_BYTES = 1 << 18
_KEPT_BYTES = 1 << 20
_OVERLAP_BYTES = 16
# What may be read in vain beside the file's own size: beyond it, the rest is one unit.
_IN_VAIN_BYTES = 1 << 26


Inflate = Callable[[Source, int], Iterator[tuple[bytes, int]]]


class _NoMember(Exception):
    """No member begins there that inflates whole."""


class Difference(NamedTuple):
    """Where two files part: a member or record that begins there, before and after."""

    before: int
    after: int
    what: str


class RawProof(NamedTuple):
    """Whether a file gives another back, and whether readers must be asked, too.

    `difference` is the first place where it does not.  `behind_damage`: there are other bytes
    behind a stretch that is neither member nor record.  How far a reader takes that to reach may
    depend on them.
    """

    difference: Difference | None
    behind_damage: bool


def compare_raw(before: Source, after: Source) -> RawProof:
    """Whether `after` gives `before` back, byte for byte.

    Either may hold revisits for full records of the other.  Memory: 1 MiB of each.
    Cost: `before` is inflated once, `after` where its bytes are others.
    """
    walk = _Walk(before, after)
    return RawProof(walk.find(), walk.behind_damage)


class _Unlike(Exception):
    """What is not as it was."""


class _Unit(NamedTuple):
    end: int
    is_member: bool = False
    is_sound: bool = True
    pieces: list[bytes] | None = None
    """What a member holds that is not too large to keep."""


class _Units:
    """What a file is made of, from any of its units on.

    A member is one only if it inflates whole, by its checksum; a plain record, if two line ends
    close it where it says that it ends.  What lies before the next of them is a unit, too.
    """

    def __init__(self, source: Source, inflate: Inflate) -> None:
        self.source = source
        self._inflate = inflate
        self._in_vain = self._no_header_to = 0

    def at(self, offset: int) -> _Unit:
        """The unit that begins there."""
        found = self._whole(offset) or self._damaged_member(offset)
        if found is not None:
            return found
        for start in self._starts(offset + 1):
            if self._in_vain > _IN_VAIN_BYTES + self.source.size:
                break
            if self._whole(start) is not None:
                return _Unit(start, is_sound=False)
        return _Unit(self.source.size, is_sound=False)

    def content(self, offset: int, unit: _Unit) -> Iterator[bytes]:
        """What it holds, in pieces."""
        if unit.pieces is not None:
            return iter(unit.pieces)
        if unit.is_member:
            return (piece for piece, _ in self._inflate(self.source, offset))
        return map(bytes, self.source.pieces(offset, unit.end, _PIECE_BYTES))

    def _whole(self, offset: int) -> _Unit | None:
        start = bytes(self.source.view(offset, len(_VERSION)))
        if start == _VERSION:
            return self._record(offset)
        return self._member(offset) if start.startswith(_MAGIC) else None

    def _member(self, offset: int) -> _Unit | None:
        end, size = offset, 0
        pieces: list[bytes] = []
        try:
            for piece, end in self._inflate(self.source, offset):  # noqa: B007
                size += len(piece)
                if size <= _KEPT_BYTES:
                    pieces.append(piece)
        except _NoMember:
            self._in_vain += _FED_BYTES + end - offset
            return None
        kept = pieces if size <= _KEPT_BYTES else None
        return _Unit(end, is_member=True, pieces=kept)

    def _damaged_member(self, offset: int) -> _Unit | None:
        """A member but for its first bytes: what looks like members in it is content of it."""
        start = bytes(self.source.view(offset, _HEADER_LEAST))
        if sum(map(int.__eq__, start, _HEADER_USUAL)) < _HEADER_LEAST // 2:
            return None
        end, crc, size = offset, 0, 0
        try:
            for piece, end in _inflate_data(self.source, offset + _HEADER_LEAST):  # noqa: B007
                crc, size = isal_zlib.crc32(piece, crc), size + len(piece)
            trailer = crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
            if bytes(self.source.view(end, len(trailer))) == trailer:
                return _Unit(end + len(trailer), is_sound=False)
        except _NoMember:
            pass
        self._in_vain += _FED_BYTES + end - offset
        return None

    def _record(self, offset: int) -> _Unit | None:
        header = self._header(offset)
        end = offset + len(header) + _content_length(header)
        if header and bytes(self.source.view(end, len(_CLOSING))) == _CLOSING:
            return _Unit(end + len(_CLOSING))
        return None

    def _header(self, offset: int) -> bytes:
        if offset + _HEADER_BYTES // 2 <= self._no_header_to:
            return b""
        header = _header_in(bytes(self.source.view(offset, _FED_BYTES)))
        if header is None:
            text = bytes(self.source.view(offset, _HEADER_BYTES))
            header = _header_in(text)
            if header is None:
                self._no_header_to = offset + len(text)
        return header or b""

    def _starts(self, offset: int) -> Iterator[int]:
        """Where a unit may begin."""
        while offset < self.source.size:
            # From one byte before: a version line begins a line.
            base = offset - 1
            view = bytes(self.source.view(base, _PIECE_BYTES))
            if base + len(view) == self.source.size:
                offset = self.source.size
            else:
                offset = base + len(view) - _OVERLAP_BYTES
            for match in _UNIT_START.finditer(view, 1):
                if base + match.start() < offset:
                    yield base + match.start()


class _Contents:
    """What unit after unit holds; `at` is where the next one begins."""

    def __init__(self, units: _Units, at: int) -> None:
        self.at = at
        self._units = units
        self._pieces: Iterator[bytes] = iter(())
        self._ready = b""
        self._taken = self._position = self._no_header_to = 0
        self._is_member = False

    def peek(self, size: int) -> bytes:
        """The next bytes; fewer where the unit ends, none where the file does."""
        while self.between_units():
            if not self._goes_on():
                return b""
        while len(self._ready) - self._taken < size and (piece := next(self._pieces, b"")):
            self._ready, self._taken = self._ready[self._taken :] + piece, 0
        return self._ready[self._taken : self._taken + size]

    def skip(self, size: int) -> None:
        """Of what was peeked at."""
        self._taken += size
        self._position += size

    def take(self, size: int) -> bytes:
        """The next bytes; fewer only where the file ends."""
        found = b""
        while len(found) < size and (piece := self.peek(size - len(found))):
            self.skip(len(piece))
            found += piece
        return found

    def between_units(self) -> bool:
        """Whether nothing is left of the unit that was begun."""
        while self._taken == len(self._ready):
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._ready, self._taken = piece, 0
        return False

    def header(self) -> bytes:
        """Of a record that begins here, blank line included; nothing of what is none."""
        start = self.peek(len(_VERSION))
        if not start or not _VERSION.startswith(start):
            return b""
        if self._position + _HEADER_BYTES // 2 <= self._no_header_to:
            return b""
        header = _header_in(self.peek(_FED_BYTES))
        if header is None:
            header = _header_in(self.peek(_HEADER_BYTES)) or self._header_over_units()
        return header or b""

    def _header_over_units(self) -> bytes | None:
        """It may go on in the next members."""
        while (found := _header_in(self._ready[self._taken :])) is None:
            more = next(self._pieces, None)
            if more is None and self._goes_on():
                continue
            if more is None or len(self._ready) - self._taken > _HEADER_BYTES:
                self._no_header_to = self._position + len(self._ready) - self._taken
                return None
            self._ready, self._taken = self._ready[self._taken :] + more, 0
        return found if found.startswith(_VERSION) else None

    def begin(self) -> None:
        """Go on to the next unit, if none is begun: a record, or a member that begins with one.

        What is neither is not compared by what it holds.
        """
        while self.between_units() and self.at < self._units.source.size:
            unit = self._begin_unit()
            start = b"" if self.between_units() else self.peek(len(_VERSION))
            holds_record = unit.is_sound and _VERSION.startswith(start)
            if not (holds_record and (start or unit.is_member)):
                raise _Unlike("other bytes")

    def _goes_on(self) -> bool:
        """Whether what was begun can go on in the next unit, a member then."""
        if not self._is_member or self.at == self._units.source.size:
            return False
        if not self._units.at(self.at).is_member:
            return False
        self._begin_unit()
        return True

    def _begin_unit(self) -> _Unit:
        unit = self._units.at(self.at)
        self._pieces = self._units.content(self.at, unit)
        self.at, self._is_member = unit.end, unit.is_member
        return unit


class _Walk:
    """From unit to unit, over those that are equal as they are."""

    def __init__(self, before: Source, after: Source) -> None:
        self._before = _Units(before, _inflate)
        self._after = _Units(after, _inflate_strictly)
        self._is_damaged = self.behind_damage = False

    def find(self) -> Difference | None:
        one, other = self._before.source, self._after.source
        before = after = 0
        # How far the bytes are equal, compressed: all of them, where nothing was rewritten.
        equal = self._equal_to(0, 0, one.size)
        while before < one.size or after < other.size:
            if equal == one.size and equal - before == other.size - after:
                return None
            was = self._before.at(before) if before < one.size else _Unit(before)
            self._is_damaged |= not was.is_sound
            if equal < was.end:
                equal += self._equal_to(equal, equal - before + after, was.end)
            if before < was.end <= equal:
                before, after = was.end, after + was.end - before
                continue
            self.behind_damage = self._is_damaged
            now = self._after.at(after) if after < other.size else _Unit(after)
            try:
                if _is_replaced(was, now):
                    before, after = was.end, now.end
                else:
                    before, after = self._compare_contents(before, after)
            except _Unlike as unlike:
                return Difference(before, after, str(unlike))
            equal = before
        return None

    def _equal_to(self, at: int, other_at: int, end: int) -> int:
        """How many bytes are equal from there on; may look beyond `end`."""
        one, other, size, step = self._before.source, self._after.source, 0, _FIRST_BYTES
        while at + size < end:
            found = _equal_bytes(
                bytes(one.view(at + size, step)), bytes(other.view(other_at + size, step))
            )
            size += found
            if found < step:
                break
            step = _PIECE_BYTES
        return size

    def _compare_contents(self, before: int, after: int) -> tuple[int, int]:
        """Compare by what they hold, to where a unit begins in both."""
        old, new = _Contents(self._before, before), _Contents(self._after, after)
        while True:
            old.begin()
            new.begin()
            _compare_next(old, new)
            if old.between_units() and new.between_units():
                return old.at, new.at


def _is_replaced(was: _Unit, now: _Unit) -> bool:
    """Whether a small member is a revisit for all of another: most that is rewritten is."""
    if was.pieces is None or now.pieces is None:
        return False
    full, revisit = b"".join(was.pieces), b"".join(now.pieces)
    if len(revisit) > len(full):
        full, revisit = revisit, full
    own = _header_in(revisit)
    replaced = _replaced_header(own) if own else None
    if not own or replaced is None:
        return False
    header, crc32 = replaced
    block = revisit[len(own) : -len(_CLOSING)]
    return (
        _content_length(own) == len(block)
        and _content_length(header) == len(full) - len(header) - len(_CLOSING)
        and full.startswith(header + block)
        and full.endswith(_CLOSING)
        and revisit.endswith(_CLOSING)
        and isal_zlib.crc32(full) == crc32
    )


def _compare_next(old: _Contents, new: _Contents) -> None:
    """A record, or bytes that are in none."""
    was, now = old.header(), new.header()
    if was == now:
        _compare_bytes(old, new, len(was) + _content_length(was)) if was else _compare_others(
            old, new
        )
    elif (replaced := _replaced_header(now)) is not None:
        _compare_replaced(old, was, new, now, *replaced)
    elif (replaced := _replaced_header(was)) is not None:
        _compare_replaced(new, now, old, was, *replaced)
    else:
        raise _Unlike("other bytes")


def _compare_bytes(old: _Contents, new: _Contents, size: int) -> None:
    while size:
        was, now = old.peek(min(size, _PIECE_BYTES)), new.peek(min(size, _PIECE_BYTES))
        count = min(len(was), len(now))
        if was[:count] != now[:count] or (not count and was != now):
            raise _Unlike("other bytes")
        if not count:
            # A record that is cut off, in both.
            return
        old.skip(count)
        new.skip(count)
        size -= count


def _compare_others(old: _Contents, new: _Contents) -> None:
    was, now = old.peek(_PIECE_BYTES), new.peek(_PIECE_BYTES)
    size = min(len(was), len(now))
    following = was.find(_VERSION, 1, size)
    if following > 0:
        size = following
    elif size > _OVERLAP_BYTES:
        size -= _OVERLAP_BYTES
    _compare_bytes(old, new, size or len(was) or len(now))


def _compare_replaced(
    full: _Contents, header: bytes, revisit: _Contents, own: bytes, replaced: bytes, crc32: int
) -> None:
    """A record and the revisit that stands for it; its body is the one of that checksum."""
    if full.take(len(header)) != replaced:
        raise _Unlike("the header does not come back")
    revisit.take(len(own))
    block = revisit.take(min(_content_length(own), _HEADER_BYTES))
    rest = _content_length(header) - len(block)
    if rest < 0 or full.take(len(block)) != block:
        raise _Unlike("the block does not come back")
    crc = isal_zlib.crc32(block, isal_zlib.crc32(header))
    while rest and (piece := full.peek(min(rest, _PIECE_BYTES))):
        full.skip(len(piece))
        crc = isal_zlib.crc32(piece, crc)
        rest -= len(piece)
    if isal_zlib.crc32(_CLOSING, crc) != crc32:
        raise _Unlike("the checksum is another")
    if not full.take(4) == revisit.take(4) == _CLOSING:
        raise _Unlike("other line ends close the record")


def _replaced_header(header: bytes) -> tuple[bytes, int] | None:
    """The header that a revisit of ours replaced, and that record's checksum; None of any other.

    What docs/restore.md says, in another language.
    """
    lines = header[: -len(_CLOSING)].split(b"\r\n")
    field = _REPLACED.fullmatch(lines[-1])
    if field is None or not _REVISIT.search(header):
        return None
    crc32, added, replaced = field.groups()
    kept = lines[: -int(added)]
    parts = [part.partition(b"=") for part in replaced.split(b"; ")[1:]]
    numbers = [int(number) for number, _, _ in parts]
    if len({1, *numbers}) <= len(numbers) or max(numbers, default=0) > len(kept):
        return None
    for number, (_, _, line) in zip(numbers, parts, strict=True):
        kept[number - 1] = unquote_to_bytes(line)
    return b"\r\n".join(kept) + _CLOSING, int(crc32, 16)


def _header_in(text: bytes) -> bytes | None:
    """Up to and with the blank line, nothing where a member is in it; None: it goes on."""
    end = text.find(_CLOSING)
    if end < 0:
        return None
    found = text[: end + len(_CLOSING)]
    return b"" if _MAGIC in found else found


def _content_length(header: bytes) -> int:
    found = _LENGTH.search(header)
    return int(found[1]) if found else 0


def _inflate(source: Source, offset: int) -> Iterator[tuple[bytes, int]]:
    """Pieces of a member's content, each with where the member ends, if it ends there."""
    if bytes(source.view(offset + 3, 1)) > _FLAGS_MOST:
        raise _NoMember
    yield from _inflate_data(source, offset, igzip_lib.DECOMP_GZIP)


def _inflate_data(
    source: Source, offset: int, form: int = igzip_lib.DECOMP_DEFLATE
) -> Iterator[tuple[bytes, int]]:
    """The same of what a member's header and trailer are around."""
    inflater = igzip_lib.IgzipDecompressor(form)
    try:
        while not inflater.eof:
            view = source.view(offset, _FED_BYTES) if inflater.needs_input else b""
            if not view and inflater.needs_input:
                raise _NoMember
            offset += len(view)
            piece = inflater.decompress(view, _PIECE_BYTES)
            yield piece, offset - len(inflater.unused_data)
    except _InflateError as error:
        raise _NoMember from error


def _inflate_strictly(source: Source, offset: int) -> Iterator[tuple[bytes, int]]:
    """The same by zlib, which refuses incomplete codes that isal takes (RFC 1951 §3.2.7)."""
    inflater = zlib.decompressobj(31)
    try:
        while not inflater.eof:
            fed = inflater.unconsumed_tail
            if not fed:
                fed = bytes(source.view(offset, _FED_BYTES))
                offset += len(fed)
            if not fed:
                raise _NoMember
            piece = inflater.decompress(fed, _PIECE_BYTES)
            yield piece, offset - len(inflater.unused_data)
    except zlib.error as error:
        raise _NoMember from error


def _equal_bytes(was: bytes, now: bytes) -> int:
    """How many are equal from the start."""
    size = min(len(was), len(now))
    if was[:size] == now[:size]:
        return size
    low = 0
    while size - low > 1:
        middle = (low + size) // 2
        if was[low:middle] == now[low:middle]:
            low = middle
        else:
            size = middle
    return low
