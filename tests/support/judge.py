"""What an archive file holds, by zlib, the library of Zstandard and a few lines of code.

Nothing of ours is imported here.  A test that reads with our reader cannot see what our reader
misunderstands.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import zstandard

_HEAD = re.compile(rb"^WARC/\d\.\d\r?\n(.*?)\r?\n\r?\n", re.MULTILINE | re.DOTALL)
_FRAME = b"\x28\xb5\x2f\xfd"
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
    if data[1:4] in (b"\xb5\x2f\xfd", b"\x2a\x4d\x18"):
        return content_of_frames(data)
    return b"".join(piece for _, piece in pieces(data))


def content_of_frames(data: bytes) -> bytes:
    """What the frames of a file hold, read by the library alone."""
    return b"".join(frame_contents(data))


def frame_contents(data: bytes) -> Iterator[bytes]:
    """The same, frame by frame; of those that are passed over, nothing."""
    known, is_first = None, True
    while data:
        if data.startswith(_FRAME):
            inflater = zstandard.ZstdDecompressor(dict_data=known).decompressobj()
            yield inflater.decompress(data)
            assert inflater.eof
            data = inflater.unused_data
        else:
            end = 8 + int.from_bytes(data[4:8], "little")
            passed = data[8:end]
            if is_first and data.startswith(b"\x5d"):
                if passed.startswith(_FRAME):
                    passed = zstandard.ZstdDecompressor().decompress(passed)
                known = zstandard.ZstdCompressionDict(passed)
            data = data[end:]
        is_first = False


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
