"""What an archive file holds, by zlib and a few lines: nothing of ours is imported here.

A test that reads with our reader cannot see what our reader misunderstands.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

_HEAD = re.compile(rb"^WARC/\d\.\d\r?\n(.*?)\r?\n\r?\n", re.MULTILINE | re.DOTALL)
_ADDRESS = (b"WARC-Target-URI", b"WARC-Date")
_REFERENCE = (b"WARC-Refers-To-Target-URI", b"WARC-Refers-To-Date")
_MEMBERS_OF_A_HEAD = 4
Fields = dict[bytes, bytes]


def pieces(data: bytes) -> Iterator[tuple[bool, bytes]]:
    """Every member inflated (RFC 1952), and the bytes that are in none as they are, in order."""
    at, loose = 0, bytearray()
    while at < len(data):
        inflater = zlib.decompressobj(31)
        content = b""
        if data.startswith(b"\x1f\x8b\x08", at):
            try:
                content = inflater.decompress(memoryview(data)[at:])
            except zlib.error:
                inflater = zlib.decompressobj(31)
        if inflater.eof:
            if loose:
                yield False, bytes(loose)
                loose.clear()
            yield True, content
            at = len(data) - len(inflater.unused_data)
        else:
            loose += data[at : at + 1]
            at += 1
    if loose:
        yield False, bytes(loose)


def content(data: bytes) -> bytes:
    """All of it, one behind the other."""
    return b"".join(piece for _, piece in pieces(data))


def headers(data: bytes) -> Iterator[Fields]:
    """The fields of each record, over several members too; of two of one name the first.

    A record begins at a line's begin, or at a member's, whatever lies before; so some come
    several times: of the member that they are in, of that and the next ones, of the whole file.
    """
    texts = list(pieces(data))
    over_members = [
        b"".join(text for _, text in texts[first : first + _MEMBERS_OF_A_HEAD])
        for first, (is_member, _) in enumerate(texts)
        if is_member
    ]
    for text in (*over_members, content(data)):
        for head in _HEAD.finditer(text):
            fields: Fields = {}
            for line in head[1].splitlines():
                name, _, value = line.partition(b":")
                fields.setdefault(name.strip(), value.strip(b" <>"))
            yield fields


def dangling(after: list[bytes], ours: bytes) -> list[Fields]:
    """Revisits with the field `ours` that name no full record's URI and date."""
    found = [fields for data in after for fields in headers(data)]
    revisits = [fields for fields in found if fields.get(b"WARC-Type") == b"revisit"]
    full = {
        tuple(fields.get(name) for name in _ADDRESS)
        for fields in found
        if fields.get(b"WARC-Type") in (b"response", b"resource")
    }
    return [
        fields
        for fields in revisits
        if ours in fields and tuple(fields.get(name) for name in _REFERENCE) not in full
    ]
