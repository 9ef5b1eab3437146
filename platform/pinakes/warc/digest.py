"""Labelled digests as archives write them, compared by value.

A declared digest comes in many spellings (`sha1:` Base32, hex, upper-case hex,
`sha-256:`, no label, `=` padding); two spellings of one value are one `Digest`.
Source: ISO 28500:2017 §5.8 (`labelled-digest`); the forms are those of real files.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pinakes.errors import ConfigError

if TYPE_CHECKING:
    from hashlib import _Hash

SIZES_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}
_BY_HEX_LENGTH = {size * 2: name for name, size in SIZES_BYTES.items()}
_BY_BASE32_LENGTH = {(size * 8 + 4) // 5: name for name, size in SIZES_BYTES.items()}
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Digest:
    """An algorithm's name, lower case and without a hyphen, and the raw bytes."""

    algorithm: str
    value: bytes

    def __str__(self) -> str:
        """`sha1:` with upper-case Base32, every other algorithm with lower-case hex."""
        if self.algorithm == "sha1":
            return "sha1:" + base64.b32encode(self.value).decode("ascii")
        return f"{self.algorithm}:{self.value.hex()}"

    @property
    def hex(self) -> str:
        return self.value.hex()


def parse_digest(text: str) -> Digest | None:
    """Read a declared digest in any spelling; None where it is none of them.

    The label may be missing: 32 characters are then an MD5 in hex or a SHA-1 in
    Base32, told apart by their letters.
    """
    label, colon, body = text.strip().rpartition(":")
    algorithm = label.lower().replace("-", "").replace("_", "") if colon else None
    if algorithm is not None and algorithm not in SIZES_BYTES:
        return None
    body = body.strip().rstrip("=")
    value = _decode(body, algorithm)
    if value is None:
        return None
    return Digest(algorithm or _BY_HEX_LENGTH[len(value) * 2], value)


def _decode(body: str, algorithm: str | None) -> bytes | None:
    by_hex = _BY_HEX_LENGTH.get(len(body))
    if by_hex and algorithm in (None, by_hex) and _HEX.issuperset(body.lower()):
        return bytes.fromhex(body)
    by_base32 = _BY_BASE32_LENGTH.get(len(body))
    if by_base32 and algorithm in (None, by_base32):
        try:
            return base64.b32decode(body.upper() + "=" * (-len(body) % 8))
        except (binascii.Error, ValueError):
            return None
    return None


def hasher(algorithm: str) -> Callable[..., _Hash]:
    """The constructor of a hash object; `Raises` ConfigError for an unknown algorithm.

    FIPS builds refuse MD5 and SHA-1 unless told that nothing's security rests on them.
    """
    if algorithm not in SIZES_BYTES:
        known = ", ".join(SIZES_BYTES)
        raise ConfigError(f"unknown digest algorithm {algorithm!r}: use one of {known}")
    return partial(getattr(hashlib, algorithm), usedforsecurity=False)
