"""Records that share a gzip member: the member taken apart, some records replaced.

Whole-file compression and some crawlers put several records into one member.  To
replace one of them the member is inflated once and each record gets a member of its
own.  Its checksum proves that nothing between, behind or in the records was passed over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO

from isal import isal_zlib

from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source

Pieces = Iterable[bytes | memoryview]
RECORD_END = b"\r\n\r\n"
_IN_MEMORY_BYTES = 1 << 24
_PIECE_BYTES = 1 << 20
_SMALL_BYTES = 1 << 14
_CRC_FINDINGS = frozenset({"member"})


def compress_member(data: bytes) -> bytes:
    """One gzip member: no name, no time, so that the same input gives the same bytes."""
    # At this size level 1 of isal is as small as zlib's level 6, and six times as fast.
    return isal_zlib.compress(data, 1 if len(data) <= _SMALL_BYTES else 3, 31)


def compress_pieces(pieces: Pieces) -> Iterator[bytes]:
    """One gzip member, without name or time; memory of one piece."""
    # Level 3 of isal: 312 MB/s, some 14% larger than zlib's level 6.
    compressor = isal_zlib.compressobj(3, isal_zlib.DEFLATED, 31)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()


def cut_apart(
    source: Source, offset: int, length: int, replace: Callable[[Record], Pieces | None]
) -> IO[bytes]:
    """The records of the member at `offset`, each in a member of its own; rewound.

    `replace` gives a record's new bytes, closing line ends included, or None to keep it;
    it is called for each in order.  Beyond 16 MiB the result lies in a temporary file.

    Raises:
        Unwritable: `member-odd`, where the records do not add up to the member's content.
    """
    with ExitStack() as stack:
        result = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))
        crc = size = 0
        for record in iter_records(source, start=offset, digests=()):
            if record.offset != offset:
                break
            if not isinstance(record, Record) or is_damaged(record):
                raise Unwritable("member-odd")
            for piece in _whole(record):
                crc = isal_zlib.crc32(piece, crc)
                size += len(piece)
            for part in compress_pieces(replace(record) or _whole(record)):
                result.write(part)
        trailer = crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
        if bytes(source.view(offset + length - 8, 8)) != trailer:
            raise Unwritable("member-odd")
        result.seek(0)
        stack.pop_all()
        return result


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """A file from where it stands to its end, which closes it."""
    with file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def is_damaged(item: Item) -> bool:
    """Whether the reader found anything amiss with it but that it shares a member."""
    if not isinstance(item, Record):
        return True
    return any(finding.code not in _CRC_FINDINGS for finding in item.findings)


def _whole(record: Record) -> Iterator[bytes | memoryview]:
    return chain((record.header.raw,), record.chunks(), (RECORD_END,))
