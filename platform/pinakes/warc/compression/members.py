"""Compressed members of an archive file, in any compression.

The one place that knows which compressions are read.  Each is an adapter of `compression`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.warc.source import Source

from . import bzip2_streams, gzip_members, zstd_frames
from .port import Compression, Damage, WholeMember
from .zstd_dictionary import dictionary_of

_COMPRESSIONS: tuple[Compression, ...] = (gzip_members, bzip2_streams, zstd_frames)
MEMBER_START = re.compile(b"|".join(b"(%b)" % each.START for each in _COMPRESSIONS))
MEMBER_START_BYTES = 10
_UNSUPPORTED = {
    b"\x04\x22\x4d\x18": "an LZ4 frame, which is not read here: decompress it first (lz4 -d)",
    b"PK\x03\x04": "a ZIP file: only one named .wacz is read, as a package of archive files",
    b"\xfd7zX": "an XZ file, which is not read here: decompress it first (xz -d)",
}


def why_unread(start: bytes) -> str | None:
    """Why a file that begins like this is not read, if it is a container of another kind."""
    container = _UNSUPPORTED.get(start[:4])
    return f"this is {container}" if container else None


def compression_at(source: Source, offset: int) -> Compression | None:
    """The compression of the member that begins at `offset`; None if none does."""
    match = MEMBER_START.match(bytes(source.view(offset, MEMBER_START_BYTES)))
    return None if match is None else _COMPRESSIONS[(match.lastindex or 0) - 1]


def compression_of(source: Source, offset: int = 0) -> str | None:
    """`gzip`, `bzip2` or `zstd`, by the bytes at `offset`; None if no member begins there."""
    compression = compression_at(source, offset)
    return None if compression is None else compression.NAME


def unit_at(source: Source, offset: int) -> str:
    """What the member at `offset` is called in messages."""
    compression = compression_at(source, offset)
    return "member" if compression is None else compression.UNIT


def why_not_written(source: Source, compression: Compression | None) -> str:
    """Why nothing can be written for a record that is compressed so; nothing where it can be.

    None is for one that is not compressed: what stands in its place is not, either.
    """
    if dictionary_of(source).is_zstd and compression is not zstd_frames:
        return "a Zstandard file, in which this is not a frame: only frames are written into it"
    return "" if compression is None else compression.why_not_written(source)


def has_checksums(source: Source, start: int, end: int) -> bool:
    """Whether checksums cover the content of the members of `[start, end)`, read without damage."""
    compression = compression_at(source, start)
    return compression is not None and compression.has_checksums(source, start, end)


def inflate_member(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """The content of one member in bounded pieces; its end goes to `ends`.

    Raises:
        Damage: where reading cannot continue, after all readable bytes; also where no member
            begins.
    """
    compression = compression_at(source, offset)
    if compression is None:
        raise Damage("damaged", "bytes that are no compressed member", offset)
    return compression.inflate(source, offset, ends)


def iter_whole(source: Source, offset: int) -> Iterator[WholeMember]:
    """Members from `offset` on, each inflated at once, all of one compression.

    Ends before the first that is damaged, or larger than `IN_MEMORY_BYTES`.
    """
    compression = compression_at(source, offset)
    return iter(()) if compression is None else compression.iter_whole(source, offset)


def first_bytes(source: Source, offset: int, count: int) -> bytes:
    """At most `count` first bytes of what may be a member; cheap if it is not one."""
    compression = compression_at(source, offset)
    try:
        return b"" if compression is None else compression.first_bytes(source, offset, count)
    except Damage:
        return b""
