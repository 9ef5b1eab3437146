"""Records that share a member: the member taken apart, some records replaced.

Whole-file compression and some crawlers put several records into one member.  To
replace one of them the member is inflated once and each record gets a member of its
own.  The checksum of its content proves that nothing between, behind or in the records was
passed over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO

from isal import isal_zlib

from pinakes.warc.compression.members import compression_at
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .stretches import holds_only

Pieces = Iterable[bytes | memoryview]
_IN_MEMORY_BYTES = 1 << 24
_PIECE_BYTES = 1 << 20
_CRC_FINDINGS = frozenset({"member"})


def cut_apart(
    source: Source, offset: int, length: int, replace: Callable[[Record], Pieces | None]
) -> IO[bytes]:
    """The records of the member at `offset`, each in a member of its own; rewound.

    `replace` gives a record's new bytes, closing line ends included, or None to keep it;
    it is called for each in order.  Beyond 16 MiB the result lies in a temporary file.

    Raises:
        Unwritable: `member-odd`, where the records do not add up to the member's content.
    """
    compression = compression_at(source, offset)
    assert compression is not None
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
            for part in compression.compress_pieces(source, replace(record) or _whole(record)):
                result.write(part)
        if not holds_only(source, offset, length, crc32=crc, size=size):
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
