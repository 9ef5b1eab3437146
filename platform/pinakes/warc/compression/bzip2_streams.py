"""bzip2 streams, one a member, as seen in tests of other tools; see `compression`.

Layer: `warc`.  Source: none is normative; the format is that of bzip2 1.0.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterable, Iterator

from pinakes.warc.source import Source

from .port import Damage, WholeMember

NAME = "bzip2"
UNIT = "bzip2 stream"
FORM_SHOWS_END = False
ENDS_WITH_CRC32 = False
START = rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90|\Z)"
_IN_BYTES = 1 << 14
_OUT_BYTES = 1 << 20


def inflate(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """See `compression`; checksums are verified by the decompressor."""
    inflater = bz2.BZ2Decompressor()
    fed = offset
    while not inflater.eof:
        view = source.view(fed, _IN_BYTES) if inflater.needs_input else memoryview(b"")
        if inflater.needs_input and not view:
            raise Damage("truncated", "the file ends inside a bzip2 stream", fed)
        fed += len(view)
        try:
            piece = inflater.decompress(view, _OUT_BYTES)
        except OSError as error:
            raise Damage("damaged", f"compressed data is damaged ({error})", fed) from error
        if piece:
            yield piece
    ends[offset] = fed - len(inflater.unused_data)


def first_bytes(source: Source, offset: int, count: int) -> bytes:
    """See `compression`."""
    return next(inflate(source, offset, {}), b"")[:count]


def proven_end(source: Source, offset: int) -> int | None:
    """See `compression`: only decompressing finds an end."""
    return None


def iter_whole(source: Source, offset: int) -> Iterator[WholeMember]:
    """None: these files are rare, and are read slowly."""
    return iter(())


def passes_over_bytes(source: Source, start: int, end: int) -> bool:
    """See `compression`: nothing is passed over."""
    return False


def has_checksums(source: Source, start: int, end: int) -> bool:
    """See `compression`: always (each block has one)."""
    return True


def why_not_written(source: Source) -> str:
    """See `compression`: nothing hinders."""
    return ""


def compress(source: Source, data: bytes) -> bytes:
    """See `compression`."""
    return bz2.compress(data)


def compress_pieces(source: Source, pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """See `compression`."""
    compressor = bz2.BZ2Compressor()
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()
