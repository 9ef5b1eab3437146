"""Stretches of archive files: whether two hold the same, as written or inflated; and a member taken
apart that several records share.

Whole-file compression and some crawlers put several records into one member.  To replace one of
them the member is inflated once and each record gets a member of its own.  The checksum of its
content proves that nothing between, after or in the records was passed over.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, NamedTuple

from isal import isal_zlib

from pinakes.errors import MalformedRecord
from pinakes.rewrite.file_parts import equal_blocks, equal_streams
from pinakes.warc.compression.members import compression_at, compression_of
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import Unwritable, replaced_crc32, restore_header
from pinakes.warc.source import Source
from pinakes.warc.stream import MemberStream, PlainStream
from pinakes.warc.write import RECORD_END

_PIECE_BYTES = 1 << 20
_CLOSING_BYTES = 4

Pieces = Iterable[bytes | memoryview]
_IN_MEMORY_BYTES = 1 << 24
_CRC_FINDINGS = frozenset({"member"})


class FileStretch(NamedTuple):
    """An item of an archive file, and where the next one begins.

    Where that one shares its member, `end` is the member's.  `window` is of the item's
    file, and used by nothing else.
    """

    window: Source
    item: Item
    end: int


def equal_written(old: FileStretch, new: FileStretch) -> bool:
    """Whether the bytes of the files are equal, up to the next item; compressed as they are."""
    size = old.end - old.item.offset
    if size != new.end - new.item.offset:
        return False
    pairs = zip(
        old.window.pieces(old.item.offset, old.end, _PIECE_BYTES),
        new.window.pieces(new.item.offset, new.end, _PIECE_BYTES),
        strict=True,
    )
    # Of two views Python compares byte for byte in a loop, of two bytes with memcmp.
    return all(bytes(left) == bytes(right) for left, right in pairs)


def fills_member(stretch: FileStretch) -> bool:
    """Whether header, block and two line ends are all that the record's member holds.

    True of a record that shares its member: others are in it, too.  False where only inflating
    shows it.
    """
    record = stretch.item
    if not isinstance(record, Record) or not _is_compressed(stretch):
        return True
    if any(finding.code == "member" for finding in record.findings):
        return True
    compression = compression_at(stretch.window, record.offset)
    if compression is None or not compression.ENDS_WITH_CRC32:
        return False
    size = len(record.header.raw) + record.body.size + _CLOSING_BYTES
    trailer = stretch.window.view(record.offset + record.length - 4, 4)
    return int.from_bytes(trailer, "little") == size & 0xFFFFFFFF


def holds_only(source: Source, offset: int, length: int, *, crc32: int, size: int) -> bool:
    """Whether compressed members at that place hold only this many bytes, of this checksum.

    A revisit gives back its record and two line ends.  Further line ends are allowed after a
    record, so no finding reports them.
    """
    compression = compression_at(source, offset)
    if compression is None or compression.passes_over_bytes(source, offset, offset + length):
        return False
    trailer = bytes(source.view(offset + length - 8, 8))
    if compression.ENDS_WITH_CRC32 and trailer == crc32.to_bytes(4, "little") + (
        size & 0xFFFFFFFF
    ).to_bytes(4, "little"):
        return True
    # A record over several members, whose last one says nothing of the others; or in frames.
    crc = found = 0
    for piece in _inflated(MemberStream(source, offset), offset + length):
        crc, found = isal_zlib.crc32(piece, crc), found + len(piece)
    return (crc, found) == (crc32, size)


def equal_contents(old: FileStretch, new: FileStretch) -> bool:
    """Whether the stretches inflate to the same bytes; slower, for records with findings."""
    return equal_streams(_content(old), _content(new))


def equal_tails(old: FileStretch, new: FileStretch) -> bool:
    """Whether the same is between the record's end and the next item.

    In an uncompressed file that is the two closing line ends, in a compressed one
    nothing, or members without content.
    """
    return _tail(old) == _tail(new)


def _tail(stretch: FileStretch) -> bytes:
    item = stretch.item
    if not isinstance(item, Record):
        return b""
    start = item.offset + item.length
    tail = _digested(stretch.window, start, stretch.end)
    if _is_compressed(stretch) and not tail:
        # As if it were uncompressed: the line ends are in the member.
        return b"\r\n\r\n"
    return tail


def _digested(window: Source, start: int, end: int) -> bytes:
    if end - start <= _PIECE_BYTES:
        return bytes(window.view(start, end - start)) if start < end else b""
    state = hashlib.sha256()
    for piece in window.pieces(start, end):
        state.update(piece)
    return state.digest()


def _is_compressed(stretch: FileStretch) -> bool:
    return compression_at(stretch.window, stretch.item.offset) is not None


def _content(stretch: FileStretch) -> Iterator[bytes]:
    start = stretch.item.offset
    if not _is_compressed(stretch):
        stream = PlainStream(stretch.window, start)
        while stream.position < stretch.end:
            yield stream.take(stretch.end - stream.position)
        return
    members = MemberStream(stretch.window, start)
    yield from _inflated(members, stretch.end)
    if members.damage is not None:
        yield repr((members.damage.code, stretch.end - members.damage.offset)).encode()


def _inflated(members: MemberStream, end: int) -> Iterator[bytes]:
    """What the members that begin before `end` hold."""
    while members.peek(1) and members.place()[0] < end:
        yield members.take(_PIECE_BYTES)


def cut_apart(
    source: Source, offset: int, length: int, replace: Callable[[Record], Pieces | None]
) -> IO[bytes]:
    """The records of the member at `offset`, each in a member of its own; rewound.

    `replace` gives a record's new bytes, closing line ends included, or None to keep it;
    it is called for each in order.  Beyond 16 MiB the result is in a temporary file.

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
    """Whether the reader found anything wrong with it but that it shares a member."""
    if not isinstance(item, Record):
        return True
    return any(finding.code not in _CRC_FINDINGS for finding in item.findings)


def _whole(record: Record) -> Iterator[bytes | memoryview]:
    return chain((record.header.raw,), record.chunks(), (RECORD_END,))


def equal_inflated(
    old_stretch: FileStretch, old: Record, new_stretch: FileStretch, new: Record
) -> bool:
    """Whether two records of equal headers inflate to the same bytes."""
    if not equal_blocks(old, new):
        return False
    # Bytes may lie outside the block: where the reader found anything, or further line ends.
    odd = is_damaged(old) or is_damaged(new)
    whole = fills_member(old_stretch) and fills_member(new_stretch)
    return (whole and not odd) or equal_contents(old_stretch, new_stretch)


def check_http_head(full: Record, revisit: Record) -> Iterator[str]:
    """Where the body begins that the reference is to lead to; no proof on bytes can show it."""
    head = full.http.raw if full.http is not None else b""
    if b"".join(revisit.chunks()) != head:
        yield "http-head"


def check_replaced(stretch: FileStretch, full: Record, revisit: Record) -> Iterator[str]:
    """What a revisit does not give back of a full record, which is in `stretch`, alone or not."""
    crc = whole_crc32(full)
    try:
        if restore_header(revisit.header) != full.header.raw:
            yield "header"
        if replaced_crc32(revisit.header) != crc:
            yield "checksum"
    except MalformedRecord:
        yield "header"
    if is_damaged(revisit) or is_damaged(full):
        yield "altered"
    if not full.findings and compression_of(stretch.window, full.offset) is not None:
        size = len(full.header.raw) + full.body.size + len(RECORD_END)
        if not holds_only(stretch.window, full.offset, full.length, crc32=crc, size=size):
            yield "between"


def whole_crc32(record: Record) -> int:
    """The CRC-32 of header, block and the two line ends that close a record."""
    crc = isal_zlib.crc32(record.header.raw)
    for piece in record.chunks():
        crc = isal_zlib.crc32(piece, crc)
    return isal_zlib.crc32(RECORD_END, crc)
