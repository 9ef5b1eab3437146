"""Byte for byte: is this body that one.

A representative small enough is kept in memory while its cluster is compared; a larger
one is read again for every comparison.  Lengths that differ settle it unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine

from .bodies import BodyReader, Piece

KEPT_BODY_BYTES = 8 << 20
# What is wrong with one body; a store that is away, or a lease that is lost, ends the run.
_FAULTS = (InputRefused, MalformedRecord, OSError)


class UnreadableBody(Exception):
    """Inside this package: which of two bodies could not be read, and why."""

    def __init__(self, line: ManifestLine, problem: PinakesError) -> None:
        super().__init__(problem.message)
        self.line = line
        self.problem = problem


@dataclass(slots=True)
class Representative:
    """The body that others of its digest are compared with.

    `body` is None where it is larger than `KEPT_BODY_BYTES`, or not `is_read` yet.
    """

    line: ManifestLine
    body: bytes | None
    compared_bytes: int = 0
    is_read: bool = True

    def equals(self, line: ManifestLine, bodies: BodyReader) -> bool:
        """Whether this line's body is the representative's.

        Raises:
            UnreadableBody: naming the one of the two that cannot be read.
        """
        known, size = self.line.size, line.size
        if known is not None and size is not None and known != size:
            return False
        if not self.is_read:
            self.body, self.is_read = represent(self.line, bodies).body, True
        if self.body is None:
            return equal_streams(
                self._counted(read_body(line, bodies)), read_body(self.line, bodies)
            )
        try:
            return self._equals_kept(self.body, bodies.open_body(line))
        except _FAULTS as error:
            raise _unreadable(line, error) from error

    def _equals_kept(self, body: bytes, pieces: Iterable[Piece]) -> bool:
        at = 0
        for piece in pieces:
            self.compared_bytes += len(piece)
            # startswith compares in place: no slice of the body is copied.
            if not body.startswith(piece, at):
                return False
            at += len(piece)
        return at == len(body)

    def _counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.compared_bytes += len(piece)
            yield piece


def represent(line: ManifestLine, bodies: BodyReader) -> Representative:
    """Read a line's body as the one to compare with.

    Raises:
        UnreadableBody: where it cannot be read.
    """
    parts: list[Piece] = []
    size = 0
    try:
        for piece in bodies.open_body(line):
            parts.append(piece)
            size += len(piece)
            if size > KEPT_BODY_BYTES:
                return Representative(line, None)
    except _FAULTS as error:
        raise _unreadable(line, error) from error
    return Representative(line, b"".join(parts))


def read_body(line: ManifestLine, bodies: BodyReader) -> Iterator[bytes]:
    """The line's body in pieces; UnreadableBody where it cannot be read."""
    try:
        yield from map(bytes, bodies.open_body(line))
    except _FAULTS as error:
        raise _unreadable(line, error) from error


def _unreadable(line: ManifestLine, error: PinakesError | OSError) -> UnreadableBody:
    if isinstance(error, PinakesError):
        return UnreadableBody(line, error)
    reason = f"cannot be read: {error.strerror or error}"
    return UnreadableBody(line, InputRefused(reason, file=line.file, offset=line.offset))


def equal_streams(one: Iterator[bytes], other: Iterator[bytes]) -> bool:
    """Whether these pieces are the same bytes, however they are divided."""
    left = right = b""
    while True:
        left = left or next(filter(None, one), b"")
        right = right or next(filter(None, other), b"")
        if not left or not right:
            return left == right
        size = min(len(left), len(right))
        if left[:size] != right[:size]:
            return False
        left, right = left[size:], right[size:]
