"""Byte for byte: is this body that one.

A representative small enough is kept in memory while its cluster is compared; a larger
one is read again for every comparison.  Lengths that differ settle it unread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pinakes.errors import InputRefused, PinakesError
from pinakes.index.manifest import ManifestLine

from .bodies import BodyReader

KEPT_BODY_BYTES = 8 << 20


class UnreadableBody(Exception):
    """Inside this package: which of two bodies could not be read, and why."""

    def __init__(self, line: ManifestLine, problem: PinakesError) -> None:
        super().__init__(problem.message)
        self.line = line
        self.problem = problem


@dataclass(slots=True)
class Representative:
    """The body that others of its digest are compared with.

    `body` is None where it is larger than `KEPT_BODY_BYTES`.
    """

    line: ManifestLine
    body: bytes | None
    compared_bytes: int = 0

    def equals(self, line: ManifestLine, bodies: BodyReader) -> bool:
        """Whether this line's body is the representative's.

        Raises:
            UnreadableBody: naming the one of the two that cannot be read.
        """
        known, size = self.line.size, line.size
        if known is not None and size is not None and known != size:
            return False
        pieces = self._counted(read_body(line, bodies))
        if self.body is not None:
            return _equals_bytes(pieces, self.body)
        return _equal_streams(pieces, read_body(self.line, bodies))

    def _counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.compared_bytes += len(piece)
            yield piece


def read_body(line: ManifestLine, bodies: BodyReader) -> Iterator[bytes]:
    """The line's body in pieces.

    Raises:
        UnreadableBody: where it cannot be read.
    """
    try:
        yield from bodies.open_body(line)
    except PinakesError as error:
        raise UnreadableBody(line, error) from error
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        raise UnreadableBody(
            line, InputRefused(reason, file=line.file, offset=line.offset)
        ) from error


def represent(line: ManifestLine, bodies: BodyReader) -> Representative:
    """Read a line's body as the one to compare with.

    Raises:
        UnreadableBody: where it cannot be read.
    """
    parts: list[bytes] = []
    size = 0
    for piece in read_body(line, bodies):
        parts.append(piece)
        size += len(piece)
        if size > KEPT_BODY_BYTES:
            return Representative(line, None)
    return Representative(line, b"".join(parts))


def _equals_bytes(pieces: Iterable[bytes], body: bytes) -> bool:
    at = 0
    for piece in pieces:
        # startswith compares in place: no slice of the body is copied.
        if not body.startswith(piece, at):
            return False
        at += len(piece)
    return at == len(body)


def _equal_streams(one: Iterator[bytes], other: Iterator[bytes]) -> bool:
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
