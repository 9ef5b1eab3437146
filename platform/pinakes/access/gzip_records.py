"""Records for clients that read gzip only, such as pywb: as one gzip member each.

The content of a record is the same; what a client learnt of its length is not.
"""

from __future__ import annotations

import tempfile
from typing import BinaryIO, cast

from pinakes.warc.compression.members import compression_of
from pinakes.warc.slices import iter_slice
from pinakes.warc.source import IN_MEMORY_BYTES, Source
from pinakes.warc.write import gzip_member

LEVEL = 1
"""An answer is sent once, and not kept."""

_READ_BY_ALL = (None, "gzip")


def has_foreign_members(source: Source, offset: int) -> bool:
    """Whether a stored file, or what is at this place of it, is compressed, and not as gzip."""
    return any(compression_of(source, at) not in _READ_BY_ALL for at in (0, offset))


def gzip_record(source: Source, start: int, end: int) -> tuple[BinaryIO, int]:
    """The record at `[start, end)` of a stored file as a gzip member: a temporary file, its size.

    In memory up to 4 MiB.

    Raises:
        MalformedRecord: these bytes are not one record, or damaged.
    """
    spooled = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115 (the caller closes it)
    try:
        for piece in gzip_member(iter_slice(source, start, end - start), level=LEVEL):
            spooled.write(piece)
        return cast("BinaryIO", spooled), spooled.tell()
    except BaseException:
        spooled.close()
        raise
