"""WARC files with one fault of their writer each, made by bytes, and a reader of strict ones."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib
from random import Random
from typing import NamedTuple

CRLF = b"\r\n"
END = CRLF * 2


class Block(NamedTuple):
    """A block, the type of its record, and whether that declares the block's digest."""

    data: bytes
    type: str = "response"
    has_digest: bool = False


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def http(body: bytes, *fields: str, sized: bool = True) -> bytes:
    lines = ("HTTP/1.1 200 OK", *fields, *([f"Content-Length: {len(body)}"] if sized else []))
    return "\r\n".join((*lines, "", "")).encode() + body


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


BLOCKS = {
    "page": Block(http(b"<p>hello")),
    "binary": Block(http(Random(1).randbytes(3000))),
    "ends with CRLF": Block(http(b"line\r\n")),
    "ends with two CRLF": Block(http(b"line\r\n\r\n"), has_digest=True),
    "blank lines": Block(http(b"a\r\n\r\n\r\nb\n\nc")),
    "chunked": Block(
        http(chunked(b"hello"), "Transfer-Encoding: chunked", sized=False), "response", True
    ),
    "gzip": Block(http(gzip.compress(b"hello" * 99, mtime=0), "Content-Encoding: gzip")),
    "resource": Block(b"just text", "resource", has_digest=True),
    "resource of line ends": Block(CRLF * 5, "resource", has_digest=True),
    "empty": Block(b"", "resource", has_digest=True),
    "larger than a piece": Block(http(Random(2).randbytes(70_000))),
    "no HTTP length": Block(http(b"x" * 40, sized=False), has_digest=True),
}


def record(number: int, block: Block, **fields: str | None) -> bytes:
    """A record of WARC/1.1; `fields` replace what it has, `length`, `nl` and `end` its framing."""
    length = fields.pop("length", None)
    nl, end = fields.pop("nl", None) or "\r\n", fields.pop("end", None)
    is_http = block.type == "response"
    named: dict[str, str | None] = {
        "WARC-Type": block.type,
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>",
        "WARC-Date": "2020-01-02T03:04:05Z",
        "WARC-Target-URI": f"http://example.org/{number}",
        "WARC-IP-Address": "192.0.2.1" if is_http else None,
        "WARC-Block-Digest": sha1(block.data) if block.has_digest else None,
        "Content-Type": "application/http; msgtype=response" if is_http else "text/plain",
        "Content-Length": str(len(block.data)) if length is None else length,
    }
    named |= {name.replace("_", "-"): value for name, value in fields.items()}
    lines = ["WARC/1.1", *(f"{k}: {v}" for k, v in named.items() if v is not None), "", ""]
    return nl.join(lines).encode() + block.data + (END if end is None else end.encode())


def packed(records: list[bytes], form: str) -> bytes:
    """A file of these: `plain`, `gzip`, or `one` gzip member of all."""
    if form == "plain":
        return b"".join(records)
    if form == "one":
        return gzip.compress(b"".join(records), mtime=0)
    return b"".join(gzip.compress(one, mtime=0) for one in records)


class Strict(NamedTuple):
    """A record as it has to be: header lines, block."""

    lines: list[bytes]
    block: bytes


def strict_records(data: bytes) -> list[Strict]:
    """The records of a file that is as the standard says; one a member where it is gzip."""
    if data[:2] != b"\x1f\x8b":
        found = []
        while data:
            one, data = _strict(data)
            found.append(one)
        return found
    found = []
    while data:
        inflater = zlib.decompressobj(31)
        one, rest = _strict(inflater.decompress(data))
        assert inflater.eof
        assert not rest, "one record a member"
        found.append(one)
        data = inflater.unused_data
    return found


def _strict(data: bytes) -> tuple[Strict, bytes]:
    head, blank, rest = data.partition(END)
    lines = head.split(CRLF)
    assert blank
    assert lines[0] == b"WARC/1.1"
    assert b"\n" not in head.replace(CRLF, b"")
    named = dict(line.split(b": ", 1) for line in lines[1:])
    size = int(named[b"Content-Length"])
    assert rest[size : size + 4] == END, "closed by two CRLF"
    return Strict(lines, rest[:size]), rest[size + 4 :]
