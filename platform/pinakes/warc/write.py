r"""Writing WARC records: header lines, block, closing line ends; one gzip member each.

The same input gives the same bytes: a member has no name and no time, and its
compressed data does not depend on how the input is split into pieces.

    WARC/1.1 CRLF  *( name ": " value CRLF )  CRLF  block  CRLF CRLF

Layer: `warc`, standard library only.  Source: ISO 28500:2017 §4, Annex D; RFC 1952.
"""

from __future__ import annotations

import re
import uuid
import zlib
from collections.abc import Iterable, Iterator

VERSION = "WARC/1.1"
RECORD_END = b"\r\n\r\n"
LEVEL = 6  # docs/adr/0030-compression.md
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# ID1 ID2, deflate, no flags, no time, no extra flags, operating system unknown.
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


def format_header(fields: Iterable[tuple[str, str]], *, version: str = VERSION) -> bytes:
    """A record's header, from the version line to the blank line; fields in the order given.

    Values may contain surrogates that `surrogateescape` made of bytes that are not UTF-8.

    Raises:
        ValueError: for a name that is not a token, or a value with a control character:
            a line end in it would begin another field.
    """
    lines = [version]
    for name, value in fields:
        if not _TOKEN.fullmatch(name) or _UNSAFE.search(value):
            raise ValueError(f"not a header field: {name!r}: {value!r}")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


def record_pieces(
    header: bytes, block: Iterable[bytes | memoryview]
) -> Iterator[bytes | memoryview]:
    """A whole record, as in an uncompressed file."""
    yield header
    yield from block
    yield RECORD_END


def gzip_member(pieces: Iterable[bytes | memoryview], *, level: int = LEVEL) -> Iterator[bytes]:
    """One gzip member of these pieces; lazy, with the memory of one piece."""
    yield _GZIP_HEADER
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    crc = size = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
        size += len(piece)
        compressed = compressor.compress(piece)
        if compressed:
            yield compressed
    yield compressor.flush()
    yield crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def compress_member(data: bytes, *, level: int = LEVEL) -> bytes:
    """One gzip member of bytes in memory."""
    return b"".join(gzip_member((data,), level=level))


def name_record(*parts: str) -> str:
    """A record id that depends only on these parts: `<urn:uuid:…>`, UUIDv5.

    Parts are joined by NUL, which none of them may contain.
    """
    if any("\0" in part for part in parts):
        raise ValueError("a part of a record's name contains NUL")
    return f"<{uuid.uuid5(_NAMESPACE, chr(0).join(parts)).urn}>"


_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://pinakes.invalid/record")
