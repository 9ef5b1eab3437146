"""Records that readers read differently, one oddity each, and how each reader reads them.

The columns of warcio and FastWARC are measured by the test; jwarc's (`jwarc extract
--payload`, 0.36.0) were noted down, since a test must not need Java for a table.
"""

from __future__ import annotations

import io
from typing import NamedTuple

from archive_builders import records_of, warc
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from warcio.archiveiterator import ArchiveIterator


class Case(NamedTuple):
    """A record; `jwarc` is the payload as that reader extracts it."""

    name: str
    data: bytes
    jwarc: bytes
    why: str


BODY = b"<p>hi"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

CASES = [
    Case(
        "HTTP header lines end with LF",
        warc(b"HTTP/1.1 200 OK\nA: 1\n\n" + BODY),
        BODY,
        "The first blank line ends the head, whatever its line end: browsers understood the "
        "servers that sent this.",
    ),
    Case(
        "HTTP header lines end with LF, the last with CRLF",
        warc(b"HTTP/1.1 200 OK\nA: 1\n\r\n" + BODY),
        BODY,
        "As above.",
    ),
    Case(
        "LF twice, then CRLF: the body begins with a line end",
        warc(b"HTTP/1.1 200 OK\nA: 1\n\n\r\n" + BODY),
        b"\r\n" + BODY,
        "As above: the first blank line.",
    ),
    Case(
        "no blank line after the HTTP header",
        warc(b"HTTP/1.1 200 OK\r\nA: 1\r\n"),
        b"",
        "A message that is only a head has an empty payload.",
    ),
    Case(
        "chunked body",
        warc(CHUNKED + b"5\r\n" + BODY + b"\r\n0\r\n\r\n"),
        BODY,
        "The key is the digest of the stored body; that of the body without chunks is kept for "
        "look-ups.",
    ),
    Case(
        "chunked, with trailers",
        warc(CHUNKED + b"5\r\n" + BODY + b"\r\n0\r\nDigest: x\r\n\r\n"),
        BODY,
        "Trailers are part of the stored body, but not of the body without chunks.",
    ),
    Case(
        "chunked, with bytes after the last chunk",
        warc(CHUNKED + b"5\r\n" + BODY + b"\r\n0\r\n\r\nmore"),
        b"<p>hi\r\n0\r\n\r\nmore",
        "Bytes after the last chunk are stored, but are not content.",
    ),
    Case(
        "declared as chunked, but not chunked",
        warc(CHUNKED + BODY),
        BODY,
        "There is no coding to remove: only the stored body has a digest.",
    ),
    Case(
        "chunked, truncated inside a chunk",
        warc(CHUNKED + b"9\r\n" + BODY),
        BODY,
        "As above; such a body is neither an original nor a duplicate.",
    ),
    Case(
        "a resource whose Content-Type is application/http",
        warc(b"HTTP/1.1 200 OK\r\n\r\n" + BODY, record_type="resource"),
        b"HTTP/1.1 200 OK\r\n\r\n" + BODY,
        "The payload of a resource is its block (ISO 28500 §6.4).",
    ),
    Case(
        "a response whose Content-Type is text/html, the block an HTTP message",
        warc(b"HTTP/1.1 200 OK\r\n\r\n" + BODY, content_type="text/html"),
        b"",
        "The URI is http and the block begins with HTTP/, which decides. Some writers put the "
        "payload's type there.",
    ),
    Case(
        "a response to dns:",
        warc(b"20200102030405\nexample.org. 60 IN A 192.0.2.1\n", content_type="text/dns").replace(
            b"http://example.org/0", b"dns:example.org"
        ),
        b"",
        "Not an HTTP message: the payload is the block.",
    ),
    Case(
        "a Content-Length in HTTP that is less than the body",
        warc(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + BODY),
        BODY,
        "The payload is all that was stored.",
    ),
]


def ours(case: Case) -> tuple[bytes, bytes | None]:
    """(payload as stored, without chunks) as this reader has them; None where not chunked."""
    (record,) = records_of(case.data)
    stored = b"".join(map(bytes, record.payload()))
    if record.dechunked_digest() is None:
        return stored, None
    from pinakes.warc.http.message import Dechunker

    dechunker = Dechunker()
    return stored, b"".join(bytes(part) for part in dechunker.feed(stored))


def by_warcio(case: Case) -> bytes:
    """What `content_stream` gives, as pywb serves it and cdxj-indexer hashes it."""
    record = next(iter(ArchiveIterator(io.BytesIO(case.data))))
    return bytes(record.content_stream().read())


def by_fastwarc(case: Case) -> bytes:
    """What `reader` gives once HTTP is parsed, with its defaults."""
    record = next(iter(FastArchiveIterator(io.BytesIO(case.data), parse_http=True)))
    return bytes(record.reader.read())
