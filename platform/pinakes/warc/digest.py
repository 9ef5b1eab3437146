"""Labelled digests as archives write them, compared by value.

Writers declare digests in many spellings (`sha1:` Base32, hex, upper-case hex,
`sha-256:`, no label, `=` padding); two spellings of one value are one `Digest`.
Source: ISO 28500:2017 §5.8 (`labelled-digest`); the forms are those of real files.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
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
_LABELLED = re.compile(r"(?:sha|md|blake)[-_]?\d\w*:", re.IGNORECASE | re.ASCII)
_UNLABELLED = re.compile(r"[a-z0-9]{26,}=*\Z", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True, repr=False)
class Digest:
    """An algorithm's name, lower case and without a hyphen, and the raw bytes."""

    algorithm: str
    value: bytes

    def __str__(self) -> str:
        """`sha1:` with upper-case Base32, every other algorithm with lower-case hex."""
        return format_digest(self.algorithm, self.value)

    def __repr__(self) -> str:
        return f"<Digest {self}>"

    @property
    def hex(self) -> str:
        return self.value.hex()


def format_digest(algorithm: str, value: bytes) -> str:
    """The text of a digest, as `Digest` writes it."""
    if algorithm == "sha1":
        whole = len(value) == SIZES_BYTES["sha1"]
        return "sha1:" + (_base32_of_20(value) if whole else base64.b32encode(value).decode())
    return f"{algorithm}:{value.hex()}"


# Base32 of 20 bytes, in a third of the time of base64.b32encode: the 160 bits are spread over
# 32 bytes, five to a byte, by halving groups: 40 bits into 64, 20 into 32, 10 into 16, 5 into 8.
_SPLIT = struct.Struct("5s5s5s5s")
_SPREAD = struct.Struct("3x5s3x5s3x5s3x5s")
_STEPS = tuple(
    (
        sum(((1 << half) - 1) << (lane * at + half) for at in range(256 // lane)),
        lane // 2 - half,
        sum(((1 << half) - 1) << (lane * at) for at in range(256 // lane)),
    )
    for lane, half in ((64, 20), (32, 10), (16, 5))
)
(_HIGH_20, _BY_20, _LOW_20), (_HIGH_10, _BY_10, _LOW_10), (_HIGH_5, _BY_5, _LOW_5) = _STEPS
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".ljust(256, b"?")


def _base32_of_20(value: bytes) -> str:
    bits = int.from_bytes(_SPREAD.pack(*_SPLIT.unpack(value)), "big")
    bits = (bits & _HIGH_20) << _BY_20 | bits & _LOW_20
    bits = (bits & _HIGH_10) << _BY_10 | bits & _LOW_10
    bits = (bits & _HIGH_5) << _BY_5 | bits & _LOW_5
    return bits.to_bytes(32, "big").translate(_ALPHABET).decode("ascii")


def parse_digest(text: str) -> Digest | None:
    """Read a declared digest in any of these spellings; None if it is in another.

    The label may be missing: 32 characters are then an MD5 in hex or a SHA-1 in
    Base32, distinguished by their letters.
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


def resembles_digest(text: str) -> bool:
    """Whether text was meant as a digest, if perhaps a truncated one, and not as a URL.

    It has a label such as `sha1:`, or so many letters and digits, and nothing else, as no
    host's name has.
    """
    return bool(_LABELLED.match(text.strip()) or _UNLABELLED.match(text.strip()))


def _decode(body: str, algorithm: str | None) -> bytes | None:
    if not body.isascii():  # the upper case of one letter may be three
        return None
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


_HASHERS: dict[str, Callable[..., _Hash]] = {
    name: partial(getattr(hashlib, name), usedforsecurity=False) for name in SIZES_BYTES
}


def hasher(algorithm: str) -> Callable[..., _Hash]:
    """The constructor of a hash object; `Raises` ConfigError for an unknown algorithm.

    FIPS builds refuse MD5 and SHA-1 unless they are declared as not used for security.
    """
    make = _HASHERS.get(algorithm)
    if make is None:
        known = ", ".join(SIZES_BYTES)
        raise ConfigError(f"unknown digest algorithm {algorithm!r}: use one of {known}")
    return make
