"""Row keys of `digests`: one row for each capture and digest.

    news:sha1:da39…0709:5120:20240229123456:crawl/a:b.warc.gz:0000000012
    `--' `--' `-------' `--' `------------' `---------------' `--------'
    scope  |  lower hex length   second        archive file     ordinal
       algorithm        of the stored body     (escaped)       10 digits

Decoding is unambiguous although file names may contain `:`: no other part can, so five
parts are split off at the left, one at the right, and the rest is the archive file.

Byte order within one content is by age: time cut to the second, then archive file (escaped,
with the `:` after it), then ordinal as a number.  That is the order in which originals are
chosen, with one exception: two files of one second, if the name of one begins with the name of
the other.  To break that tie as dedupe does, read all rows of that second.  Length is part of
the content: unequal lengths never merge.

A revisit that a crawler wrote has a row by what it refers to, so that it is found from there:

    news:refers:9f86d081884c7d659a2feaa0c55ad015:0:20240229123456:crawl/a.warc.gz:0000000012
         `----' `------------------------------'   `------------'
        or `refersid`   half a SHA-256             the second that it names, else zeros

`refers` is over the urlkey that it names (its own where it names none), as in keys of captures;
`refersid` over a record id, of one that names nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from pinakes.errors import MalformedRecord

from .ranges import KeyRange, prefix_range
from .text import check_name, escape_name, unescape_name

_SECOND = re.compile(r"[0-9]{14}\Z")
_HEX = re.compile(r"[0-9a-f]+\Z")
_KEY = re.compile(
    rb"([A-Za-z0-9._-]+):([a-z0-9]+):([0-9a-f]+):([0-9]+):([0-9]{14})"
    rb":([\x21-\x7e]+):([0-9]{10})\Z"
)

SHORTEST_CONTENT_BYTES = len(b"s:sha1:") + 40
"""What all rows of one content have in common, at the least: a scope of one letter, a SHA-1.

In a scope of 27 letters these bytes still hold 14 digits of the digest.
"""


REFERS_TO_URLKEY, REFERS_TO_ID = "refers", "refersid"
NO_SECOND = "0" * 14


class DigestKey(NamedTuple):
    """The parts of a key.  A NamedTuple: scans for popular digests make millions."""

    scope: str
    algorithm: str
    hex: str
    length: int
    second: str
    archive_file: str
    ordinal: int


def encode_digest_key(key: DigestKey) -> bytes:
    """The row key; Raises ValueError or ConfigError for an invalid part."""
    place = _place(key.length, key.second, key.archive_file, key.ordinal)
    return _content(key.scope, key.algorithm, key.hex) + place


def encode_digest_keys(
    scope: str,
    digests: Iterable[tuple[str, bytes]],
    length: int,
    second: str,
    archive_file: str,
    ordinal: int,
) -> list[bytes]:
    """The row keys of one capture, one for each (algorithm, digest); Raises as above.

    Landing writes two of them per capture, which differ only in their digests.
    """
    place = _place(length, second, archive_file, ordinal)
    return [
        b"%b%b:%b" % (_scope_prefix(scope, algorithm), digest.hex().encode("ascii"), place)
        for algorithm, digest in digests
    ]


def _place(length: int, second: str, archive_file: str, ordinal: int) -> bytes:
    if not _SECOND.match(second):
        raise ValueError(f"a second has 14 digits: {second!r}")
    if not 0 <= ordinal < 10**10 or length < 0 or not archive_file:
        raise ValueError(f"not the place of a record: {archive_file!r}, {ordinal}, {length}")
    name = escape_name(archive_file)
    return b"%d:%b:%b:%010d" % (length, second.encode("ascii"), name, ordinal)


def decode_digest_key(key: bytes) -> DigestKey:
    """The parts of a row key; Raises MalformedRecord if it is not one."""
    match = _KEY.match(key)
    if match is None:
        raise MalformedRecord(f"not a row key of digests: {key[:200]!r}")
    scope, algorithm, digest, length, second, archive_file, ordinal = match.groups()
    return DigestKey(
        scope.decode("ascii"),
        algorithm.decode("ascii"),
        digest.decode("ascii"),
        int(length),
        second.decode("ascii"),
        unescape_name(archive_file),
        int(ordinal),
    )


def digests_of(scope: str, algorithm: str, hex_digest: str, length: int | None = None) -> KeyRange:
    """The captures with this digest in a scope, by length and then by age."""
    prefix = _content(scope, algorithm, hex_digest)
    return prefix_range(prefix if length is None else b"%b%d:" % (prefix, length))


def encode_reference_key(
    scope: str, kind: str, named: bytes, second: str, archive_file: str, ordinal: int
) -> bytes:
    """The row key of a crawler's revisit by what it names: `kind` is one of `REFERS_TO_…`.

    Raises ValueError or ConfigError for an invalid part.
    """
    place = _place(0, second, archive_file, ordinal)
    return _content(scope, kind, _half_digest(named)) + place


def references_to(scope: str, kind: str, named: bytes | None = None) -> KeyRange:
    """The crawlers' revisits that name this, by second; without `named`, all of a kind."""
    if named is None:
        return prefix_range(_scope_prefix(scope, kind))
    return prefix_range(_content(scope, kind, _half_digest(named)))


def _half_digest(named: bytes) -> str:
    """Two names of one half digest cost a look at a revisit too many, and nothing else."""
    return sha256(named).hexdigest()[:32]


def _content(scope: str, algorithm: str, hex_digest: str) -> bytes:
    if len(hex_digest) % 2 or not _HEX.match(hex_digest):
        raise ValueError(f"not a digest in lower-case hex: {algorithm}:{hex_digest}")
    return b"%b%b:" % (_scope_prefix(scope, algorithm), hex_digest.encode("ascii"))


@lru_cache(maxsize=64)
def _scope_prefix(scope: str, algorithm: str) -> bytes:
    if not (algorithm.isalnum() and algorithm.islower()):
        raise ValueError(f"not an algorithm: {algorithm!r}")
    return b"%b:%b:" % (check_name(scope, "a scope"), check_name(algorithm, "an algorithm"))
