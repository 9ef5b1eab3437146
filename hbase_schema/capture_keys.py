"""Row keys of `captures`.

    org,example)/page?q=1 20240229123456789 MZXW6YTB
    `------urlkey-------' `-17-digit time-' `-mark-'
                         SP                SP

- urlkey: printable ASCII without spaces (`printable_urlkey`).  Over 4096 bytes: its first
  4096, `~`, and the 64 hex digits of the SHA-256 of all of it, which is
  longer than any uncut urlkey.
- time: capture time, UTC, to the millisecond; 17 zeros if the date is unreadable.
- mark: 8 Base32 characters, the first 40 bits of SHA-256 over archive file, NUL, ordinal of
  the record in it as landed.  It distinguishes captures of one millisecond.

SP sorts before every byte of a urlkey, so byte order is the order of (urlkey, time), which is
CDXJ order; among cut urlkeys that share 4096 bytes it is the order of their hashes.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from pinakes.errors import MalformedRecord

from .ranges import KeyRange, prefix_range
from .text import name_bytes, printable_urlkey

URLKEY_LIMIT_BYTES = 4096
UNREADABLE_TIME = "0" * 17

_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_PAIRS = tuple((a + b).encode("ascii") for a in _BASE32 for b in _BASE32)  # by ten bits
_TIME = re.compile(r"[0-9]{17}\Z")
_KEY = re.compile(rb"([\x21-\x7e]*) ([0-9]{17}) ([A-Z2-7]{8})\Z")


class CaptureKey(NamedTuple):
    """The parts of a key.  A NamedTuple: one is made for each row of every CDX answer."""

    urlkey: str
    time: str
    mark: str

    @property
    def is_cut(self) -> bool:
        """Whether the urlkey was too long and ends with its hash."""
        return len(self.urlkey) > URLKEY_LIMIT_BYTES


def encode_urlkey(urlkey: str) -> bytes:
    """The first part of the key: printable, and cut if it is too long."""
    key = printable_urlkey(urlkey)
    if len(key) <= URLKEY_LIMIT_BYTES:
        return key
    return key[:URLKEY_LIMIT_BYTES] + b"~" + sha256(key).hexdigest().encode("ascii")


def encode_mark(archive_file: str, ordinal: int) -> bytes:
    """The last part of the key, from the file's identity and the ordinal as landed."""
    place = b"%b\0%d" % (name_bytes(archive_file), ordinal)
    bits = int.from_bytes(sha256(place).digest()[:5], "big")
    pairs = _BASE32_PAIRS
    return (
        pairs[bits >> 30] + pairs[bits >> 20 & 1023] + pairs[bits >> 10 & 1023] + pairs[bits & 1023]
    )


def encode_external_mark(filename: str, offset: int) -> bytes:
    """The last part of the key of a line of an archive that is stored elsewhere."""
    return encode_mark(f"\0{filename}", offset)


def encode_capture_key(urlkey: str, time: str, archive_file: str, ordinal: int) -> bytes:
    """The row key of a capture; `time` is 17 digits, else ValueError."""
    if not _TIME.match(time):
        raise ValueError(f"a capture time has 17 digits: {time!r}")
    return b"%b %b %b" % (
        encode_urlkey(urlkey),
        time.encode("ascii"),
        encode_mark(archive_file, ordinal),
    )


def decode_capture_key(key: bytes) -> CaptureKey:
    """The parts of a row key; Raises MalformedRecord if it is not one."""
    match = _KEY.match(key)
    if match is None:
        raise MalformedRecord(f"not a row key of captures: {key[:200]!r}")
    return CaptureKey(*(part.decode("ascii") for part in match.groups()))


def captures_of(urlkey: str, *, start_time: str = "", stop_time: str = "") -> KeyRange:
    """The captures of a urlkey, in order of time.

    Times are the first digits of a time, as in a CDX query (`2024`, `20240229`); the range
    begins with `start_time` and ends before `stop_time`.
    """
    key = encode_urlkey(urlkey)
    start_row = key + b" "
    if start_time:
        start_row += _digits(start_time)
    # `!` follows the space that ends the urlkey.
    return KeyRange(start_row, b"%b %b" % (key, _digits(stop_time)) if stop_time else key + b"!")


def captures_under(urlkey_prefix: str) -> KeyRange:
    """The captures below a prefix: `org,example)/docs/` is a folder, `org,example,` hosts."""
    return prefix_range(printable_urlkey(urlkey_prefix)[:URLKEY_LIMIT_BYTES])


def _digits(time: str) -> bytes:
    if not (time.isascii() and time.isdigit() and len(time) <= 17):
        raise ValueError(f"a time is up to 17 digits: {time!r}")
    return time.encode("ascii")
