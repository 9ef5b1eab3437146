"""Accounts of rows: how many there are, and a sum over their keys, so that two sets are compared
without keeping either."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from pinakes.catalog.file_rows import FileEntry

_MODULUS = 1 << 64


def number_of(key: bytes) -> int:
    """64 bits that stand for a row key."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")


@dataclass(slots=True)
class Sum:
    """Of a set of row keys; two are equal if the sets are, and else, but for chance, not."""

    count: int = 0
    total: int = 0

    def add(self, keys: Iterable[bytes]) -> None:
        """Add keys, each once."""
        for key in keys:
            self.count += 1
            self.total = (self.total + number_of(key)) % _MODULUS


@dataclass(slots=True)
class Account:
    """The rows of a file in `captures` and `digests`; of the file as `entry` has it."""

    entry: FileEntry
    captures: Sum = field(default_factory=Sum)
    digests: Sum = field(default_factory=Sum)

    def is_as(self, other: Account) -> bool:
        """Whether both are of the same rows."""
        return (self.captures, self.digests) == (other.captures, other.digests)
