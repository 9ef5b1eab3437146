"""A record and a revisit of it, by hand: one for each way in which crawlers name originals."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

BODY = b"<html>" + bytes(range(256)) * 8
OTHER = BODY[::-1]
URI, ELSEWHERE = "http://example.org/x", "http://example.org/y"
DATE, LATER = "2020-01-01T00:00:01Z", "2020-01-02T00:00:01Z"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
ORIGINAL_ID = "<urn:uuid:00000000-0000-4000-8000-00000000000a>"
REVISIT_ID = "<urn:uuid:00000000-0000-4000-8000-00000000000b>"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
Fields = Mapping[str, str]


def sha1(data: bytes) -> Fields:
    digest = base64.b32encode(hashlib.sha1(data).digest()).decode()
    return {"WARC-Payload-Digest": f"sha1:{digest}"}


def by(algorithm: str, data: bytes) -> Fields:
    return {"WARC-Payload-Digest": f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"}


def raw(kind: str, fields: Fields, block: bytes) -> bytes:
    lines = {
        "WARC-Type": kind,
        "WARC-Record-ID": ORIGINAL_ID if kind != "revisit" else REVISIT_ID,
        "WARC-Target-URI": URI,
        "WARC-Date": DATE if kind != "revisit" else LATER,
        "Content-Type": "application/http; msgtype=response",
        **({"WARC-Profile": IDENTICAL} if kind == "revisit" else {}),
        **fields,
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


class Pair(NamedTuple):
    """The original and the revisit; what `validate --refs` says, and whether bytes prove it."""

    original: bytes
    revisit: bytes
    outcome: str = "resolves"
    head: bytes = HEAD
    """Of the full record."""
    body: bytes = BODY

    def files(self) -> tuple[bytes, bytes]:
        return gzip.compress(self.original, mtime=0), gzip.compress(self.revisit, mtime=0)


_PLACE = {"WARC-Refers-To-Target-URI": URI, "WARC-Refers-To-Date": DATE}
_ELSEWHERE = {"WARC-Target-URI": ELSEWHERE}
_ID = {"WARC-Refers-To": ORIGINAL_ID}
_FULL = raw("response", sha1(BODY), HEAD + BODY)

PROVEN: dict[str, Pair] = {
    "digest": Pair(_FULL, raw("revisit", sha1(BODY), HEAD)),
    "digest in hex": Pair(_FULL, raw("revisit", by("sha1", BODY), HEAD)),
    "sha256 of sha1": Pair(_FULL, raw("revisit", by("sha256", BODY), HEAD)),
    "md5 of sha1": Pair(_FULL, raw("revisit", by("md5", BODY), HEAD)),
    "sha512 of an original without": Pair(
        raw("response", {}, HEAD + BODY), raw("revisit", by("sha512", BODY), HEAD)
    ),
    "id alone, by another algorithm": Pair(
        _FULL, raw("revisit", _ELSEWHERE | _ID | by("sha256", BODY), HEAD)
    ),
    "id alone, at another URL": Pair(_FULL, raw("revisit", _ELSEWHERE | _ID | sha1(BODY), HEAD)),
    "URI and date": Pair(_FULL, raw("revisit", _ELSEWHERE | _PLACE | sha1(BODY), HEAD)),
    "digest alone, at another URL": Pair(_FULL, raw("revisit", _ELSEWHERE | sha1(BODY), HEAD)),
    "no head of its own": Pair(_FULL, raw("revisit", sha1(BODY), b"")),
    "head of a 304": Pair(_FULL, raw("revisit", sha1(BODY), b"HTTP/1.1 304 Not Modified\r\n\r\n")),
    "digest without chunks": Pair(
        raw("response", sha1(BODY), CHUNKED_HEAD + CHUNKED),
        raw("revisit", sha1(BODY), HEAD),
        head=CHUNKED_HEAD,
        body=CHUNKED,
    ),
    "block digest": Pair(
        _FULL,
        raw("revisit", {**sha1(BODY), "WARC-Block-Digest": "sha1:" + "A" * 32}, HEAD),
    ),
}
"""Each can be made full: the bytes of the original have the digest."""

NOT_PROVEN: dict[str, Pair] = {
    "no digest": Pair(_FULL, raw("revisit", _PLACE, HEAD), "other-digest"),
    "names nothing": Pair(
        _FULL,
        raw("revisit", {"WARC-Profile": NOT_MODIFIED}, b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        "unnamed",
    ),
    "the original is later": Pair(
        raw("response", {**sha1(BODY), "WARC-Date": "2021-01-01T00:00:00Z"}, HEAD + BODY),
        raw("revisit", sha1(BODY), HEAD),
        "dangling",
    ),
    "another body": Pair(
        raw("response", sha1(OTHER), HEAD + OTHER), raw("revisit", sha1(BODY), HEAD), "dangling"
    ),
    "another body at another URL, of which its digest is said": Pair(
        raw("response", sha1(BODY), HEAD + OTHER),
        raw("revisit", _ELSEWHERE | sha1(BODY), HEAD),
        "dangling",
    ),
    "an algorithm that nobody computes": Pair(
        _FULL, raw("revisit", {"WARC-Payload-Digest": "sha384:" + "0" * 96}, HEAD), "dangling"
    ),
    "an id that no record has": Pair(
        _FULL,
        raw("revisit", {"WARC-Refers-To": "<urn:uuid:0>", **_ELSEWHERE, **sha1(OTHER)}, HEAD),
        "dangling",
    ),
    "the id of a record of its URI with another body": Pair(
        _FULL, raw("revisit", _ID | sha1(OTHER), HEAD), "other-digest"
    ),
    "the id of another body, by another algorithm": Pair(
        _FULL, raw("revisit", _ELSEWHERE | _ID | by("sha256", OTHER), HEAD), "other-digest"
    ),
    "URI and date of a body that is not the one declared": Pair(
        raw("response", sha1(BODY), HEAD + OTHER),
        raw("revisit", _ELSEWHERE | _PLACE | sha1(BODY), HEAD),
        "damaged",
        body=OTHER,
    ),
    "a digest of its URI whose body is not the one declared": Pair(
        raw("response", by("sha256", BODY), HEAD + OTHER),
        raw("revisit", by("sha256", BODY), HEAD),
        "damaged",
    ),
    "the id of a body that is not the one declared": Pair(
        raw("response", sha1(BODY), HEAD + OTHER),
        raw("revisit", _ELSEWHERE | _ID | sha1(BODY), HEAD),
        "damaged",
        body=OTHER,
    ),
    "the id of another body": Pair(
        _FULL, raw("revisit", _ELSEWHERE | _ID | sha1(OTHER), HEAD), "other-digest"
    ),
}
