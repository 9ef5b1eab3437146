"""Row keys, in `crawls`, of captures that a running crawl has seen, as its crawler reports them.

    +news:seen:spring:5f1c2d3e:sha1:3c01…fdb8:20240229123456:9f86d081884c7d659a2feaa0c55ad015
     `--'      `----' `------' `------------' `------------' `------------------------------'
    collection crawl  opening  digest, in hex     second       half a SHA-256 of the urlkey
    +news:seen:spring:5f1c2d3e:url:9f86d081884c7d659a2feaa0c55ad015:20240229123456:sha1:3c01…fdb8

A capture has both rows, with the same cell: it is found by its digest, the earliest first, and by
its URL.  `opening` stands for the act that opened the crawl, as the first 32 bits of a SHA-256:
what was reported of a crawl that was cancelled is never that of a later one of its name.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from pinakes.errors import MalformedRecord

from .name_keys import encode_collection_key, encode_crawl_key
from .ranges import KeyRange, prefix_range

_KEY = re.compile(
    rb"\+[A-Za-z0-9._-]+:seen:[A-Za-z0-9._-]+:([0-9a-f]{8}):"
    rb"(?:([a-z0-9]+):([0-9a-f]+):([0-9]{14}):[0-9a-f]{32}"
    rb"|url:[0-9a-f]{32}:([0-9]{14}):([a-z0-9]+):([0-9a-f]+))\Z"
)


class SeenScope(NamedTuple):
    """A crawl of a collection, from when it was opened until it is committed or taken out."""

    collection: str
    crawl: str
    opening: str


class SeenKey(NamedTuple):
    """What a row key says of the capture; the digest in lower-case hex."""

    algorithm: str
    hex: str
    second: str


def opening_of(act: str) -> str:
    """The part of a key that stands for the act that opened a crawl."""
    return sha256(act.encode()).hexdigest()[:8]


def encode_seen_keys(
    scope: SeenScope, algorithm: str, hex_digest: str, second: str, urlkey: bytes
) -> tuple[bytes, bytes]:
    """The row keys of a capture, by digest and by URL; `urlkey` is as in keys of captures."""
    prefix, half, when = _prefix(scope), _half(urlkey), second.encode("ascii")
    digest = b"%b:%b" % (algorithm.encode("ascii"), hex_digest.encode("ascii"))
    return (
        b"%b%b:%b:%b" % (prefix, digest, when, half),
        b"%burl:%b:%b:%b" % (prefix, half, when, digest),
    )


def decode_seen_key(key: bytes) -> SeenKey:
    """The capture of a row key of either kind; Raises MalformedRecord if it is neither."""
    _, algorithm, hex_digest, second, second_2, algorithm_2, hex_2 = _parts(key)
    found = (algorithm or algorithm_2, hex_digest or hex_2, second or second_2)
    return SeenKey(*(part.decode("ascii") for part in found))


def decode_seen_opening(key: bytes) -> str:
    """The opening in a row key; Raises MalformedRecord as `decode_seen_key`."""
    return _parts(key)[0].decode("ascii")


def _parts(key: bytes) -> tuple[bytes, ...]:
    match = _KEY.match(key)
    if match is None:
        raise MalformedRecord(f"not a row key of a reported capture: {key[:200]!r}")
    return match.groups()


def seen_with(scope: SeenScope, algorithm: str, hex_digest: str) -> KeyRange:
    """The captures with a digest, the earliest first."""
    return prefix_range(b"%b%b:%b:" % (_prefix(scope), algorithm.encode(), hex_digest.encode()))


def seen_at(scope: SeenScope, urlkey: bytes, second: str | None = None) -> KeyRange:
    """The captures of a urlkey, or those of one second, the earliest first."""
    when = b"" if second is None else b"%b:" % second.encode("ascii")
    return prefix_range(b"%burl:%b:%b" % (_prefix(scope), _half(urlkey), when))


def seen_by_digest(scope: SeenScope) -> KeyRange:
    """The rows by digest of all captures of a scope, those of one digest together."""
    prefix = _prefix(scope)
    return KeyRange(prefix, prefix + b"url:")


def seen_of(scope: SeenScope) -> KeyRange:
    """All rows of a scope."""
    return prefix_range(_prefix(scope))


def seen_in(collection: str, crawl: str) -> KeyRange:
    """All rows of a crawl, whichever act has opened it."""
    return prefix_range(_of_crawl(collection, crawl))


def _of_crawl(collection: str, crawl: str) -> bytes:
    return b"%b:seen:%b:" % (encode_collection_key(collection), encode_crawl_key(crawl))


def _prefix(scope: SeenScope) -> bytes:
    return b"%b%b:" % (_of_crawl(scope.collection, scope.crawl), scope.opening.encode("ascii"))


def _half(urlkey: bytes) -> bytes:
    return sha256(urlkey).hexdigest()[:32].encode("ascii")
