"""The proof on raw bytes that a rewritten archive file gives back the one it was made of.

    before  member  member  plain record  bytes that are neither ...
    after   equal   equal   equal         equal              a revisit: what it replaced is there

Walks both files side by side by what they are made of (RFC 1952 members, plain records,
anything else) and compares all bytes, inflated, in order; a revisit of ours stands for the
header it replaced, its block, and a body that fits its checksum.  Shares nothing with the
reader, or with what writes, but the inflater: what they both misunderstand is seen here.
That a reference leads to that body is asked elsewhere (`resolution`), unless the SHA-256 of
each original's body is given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from isal import isal_zlib

from pinakes.warc.source import Source

from .raw_contents import RawContents
from .raw_units import (
    CLOSING,
    HEADER_BYTES,
    OVERLAP_BYTES,
    PIECE_BYTES,
    VERSION,
    Unit,
    Units,
    content_length,
    header_in,
    inflate,
    inflate_strictly,
    replaced_header,
)

# What was rewritten differs in its first bytes, and a window is not to move for it.
_FIRST_BYTES = 1 << 10


class RawDifference(NamedTuple):
    """Where two files part: a member or record that begins there, before and after."""

    before: int
    after: int
    what: str


class RawProof(NamedTuple):
    """Whether a file gives another back, and whether readers must be asked, too.

    `difference` is the first place where it does not.  `behind_damage`: there are other bytes
    after a stretch that is neither member nor record.  How far a reader takes that to reach may
    depend on them.  `holds_revisits`: records of one are revisits in the other, and their bodies
    come back by a checksum alone.
    """

    difference: RawDifference | None
    behind_damage: bool
    holds_revisits: bool


def compare_raw(before: Source, after: Source, bodies: Sequence[str] | None = None) -> RawProof:
    """Whether `after` gives `before` back, byte for byte.

    Either may hold revisits for full records of the other.  `bodies`: those of `after` stand for
    bodies of these SHA-256 (hex), in order; None: any that have their checksum.  Memory: members of
    up to 8 MiB, twice.  Cost: `before` is inflated once, `after` where its bytes are others; a
    larger member that was rewritten twice.
    """
    walk = _Walk(before, after, _Bodies(bodies))
    return RawProof(walk.find(), walk.behind_damage, walk.holds_revisits)


class _Unlike(Exception):
    """What is not as it was."""


class _Bodies:
    """What the bodies are to be that revisits stand for."""

    def __init__(self, expected: Sequence[str] | None) -> None:
        self.are_given = expected is not None
        self._left = iter(expected or ())

    def require(self, sha256: str) -> None:
        """Raise _Unlike where the next body is to be another."""
        if next(self._left, None) != sha256:
            raise _Unlike("a body that was left out is not its original's")

    def require_none(self) -> None:
        """Raise _Unlike where more was to be left out."""
        if next(self._left, None) is not None:
            raise _Unlike("fewer bodies were left out than originals were read")


class _Walk:
    """From unit to unit, over those that are equal as they are."""

    def __init__(self, before: Source, after: Source, bodies: _Bodies) -> None:
        self._bodies = bodies
        self._before = Units(before, inflate)
        self._after = Units(after, inflate_strictly)
        self._is_damaged = self.behind_damage = self.holds_revisits = False

    def find(self) -> RawDifference | None:
        """The first; None where there is none."""
        difference = self._first_difference()
        if difference is None:
            try:
                self._bodies.require_none()
            except _Unlike as unlike:
                return RawDifference(0, 0, str(unlike))
        return difference

    def _first_difference(self) -> RawDifference | None:
        one, other = self._before.source, self._after.source
        before = after = 0
        # How far the bytes are equal, compressed: all of them, where nothing was rewritten.
        equal = self._equal_to(0, 0, one.size)
        while before < one.size or after < other.size:
            if equal == one.size and equal - before == other.size - after:
                return None
            was = self._before.at(before) if before < one.size else Unit(before)
            self._is_damaged |= not was.is_sound
            if equal < was.end:
                equal += self._equal_to(equal, equal - before + after, was.end)
            if before < was.end <= equal:
                before, after = was.end, after + was.end - before
                continue
            self.behind_damage = self._is_damaged
            now = self._after.at(after) if after < other.size else Unit(after)
            try:
                if _is_replaced(was, now, self._bodies):
                    self.holds_revisits = True
                    before, after = was.end, now.end
                else:
                    before, after = self._compare_contents(before, after)
            except _Unlike as unlike:
                return RawDifference(before, after, str(unlike))
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
            step = PIECE_BYTES
        return size

    def _compare_contents(self, before: int, after: int) -> tuple[int, int]:
        """Compare by what they hold, to where a unit begins in both."""
        old, new = RawContents(self._before, before), RawContents(self._after, after)
        while True:
            if not (old.begin() and new.begin()):
                # What holds no record is not compared by what it holds.
                raise _Unlike("other bytes")
            self.holds_revisits |= _compare_next(old, new, self._bodies)
            if old.between_units() and new.between_units():
                return old.at, new.at


def _is_replaced(was: Unit, now: Unit, bodies: _Bodies) -> bool:
    """Whether a small member is a revisit for all of another: most that is rewritten is."""
    if was.pieces is None or now.pieces is None:
        return False
    full, revisit = b"".join(was.pieces), b"".join(now.pieces)
    is_restored = len(revisit) > len(full)
    if is_restored:
        full, revisit = revisit, full
    own = header_in(revisit)
    replaced = replaced_header(own) if own else None
    if not own or replaced is None:
        return False
    header, crc32 = replaced
    block = revisit[len(own) : -len(CLOSING)]
    is_one = (
        content_length(own) == len(block)
        and content_length(header) == len(full) - len(header) - len(CLOSING)
        and full.startswith(header + block)
        and full.endswith(CLOSING)
        and revisit.endswith(CLOSING)
        and isal_zlib.crc32(full) == crc32
    )
    if is_one and bodies.are_given and not is_restored:
        body = memoryview(full)[len(header) + len(block) : -len(CLOSING)]
        bodies.require(hashlib.sha256(body).hexdigest())
    return is_one


def _compare_next(old: RawContents, new: RawContents, bodies: _Bodies) -> bool:
    """A record, or bytes that are in none; whether a revisit stands for it in one of the two."""
    was, now = old.header(), new.header()
    if was == now:
        _compare_bytes(old, new, len(was) + content_length(was)) if was else _compare_others(
            old, new
        )
        return False
    if (replaced := replaced_header(now)) is not None:
        sha256 = hashlib.sha256() if bodies.are_given else None
        _compare_replaced(old, was, new, now, *replaced, sha256)
        if sha256 is not None:
            bodies.require(sha256.hexdigest())
    elif (replaced := replaced_header(was)) is not None:
        _compare_replaced(new, now, old, was, *replaced, None)
    else:
        raise _Unlike("other bytes")
    return True


def _compare_bytes(old: RawContents, new: RawContents, size: int) -> None:
    while size:
        was, now = old.peek(min(size, PIECE_BYTES)), new.peek(min(size, PIECE_BYTES))
        count = min(len(was), len(now))
        if was[:count] != now[:count] or (not count and was != now):
            raise _Unlike("other bytes")
        if not count:
            # A record that is cut off, in both.
            return
        old.skip(count)
        new.skip(count)
        size -= count


def _compare_others(old: RawContents, new: RawContents) -> None:
    was, now = old.peek(PIECE_BYTES), new.peek(PIECE_BYTES)
    size = min(len(was), len(now))
    following = was.find(VERSION, 1, size)
    if following > 0:
        size = following
    elif size > OVERLAP_BYTES:
        size -= OVERLAP_BYTES
    _compare_bytes(old, new, size or len(was) or len(now))


def _compare_replaced(
    full: RawContents,
    header: bytes,
    revisit: RawContents,
    own: bytes,
    replaced: bytes,
    crc32: int,
    sha256: hashlib._Hash | None,
) -> None:
    """A record and the revisit that stands for it; its body is the one of that checksum.

    `sha256` gets the body.
    """
    if full.take(len(header)) != replaced:
        raise _Unlike("the header does not come back")
    revisit.take(len(own))
    block = revisit.take(min(content_length(own), HEADER_BYTES))
    rest = content_length(header) - len(block)
    if rest < 0 or full.take(len(block)) != block:
        raise _Unlike("the block does not come back")
    crc = isal_zlib.crc32(block, isal_zlib.crc32(header))
    while rest and (piece := full.peek(min(rest, PIECE_BYTES))):
        full.skip(len(piece))
        crc = isal_zlib.crc32(piece, crc)
        if sha256 is not None:
            sha256.update(piece)
        rest -= len(piece)
    if isal_zlib.crc32(CLOSING, crc) != crc32:
        raise _Unlike("the checksum is another")
    if not full.take(4) == revisit.take(4) == CLOSING:
        raise _Unlike("other line ends close the record")


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
