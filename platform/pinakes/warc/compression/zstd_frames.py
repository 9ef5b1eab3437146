"""Zstandard frames (RFC 8878), one or several a record; see `compression`.

Skippable frames are members without content: the file's dictionary, and what other programs put
between records, which is passed over.  Source: IIPC warc-zstd 1.0 §4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from tempfile import SpooledTemporaryFile

from zstandard import ZstdError

from pinakes.warc.source import IN_MEMORY_BYTES, Source

from .port import Damage, WholeMember
from .zstd_dictionary import FileDictionary, decompressor_of, dictionary_of
from .zstd_format import (
    FRAME_MAGIC,
    FRAME_START,
    FrameHeader,
    end_by_form,
    end_of_skippable,
    frame_header,
    inflate_blocks,
    iter_blocks,
    why_refused,
)
from .zstd_writer import FrameWriter

NAME = "zstd"
UNIT = "Zstandard frame"
FORM_SHOWS_END = True
ENDS_WITH_CRC32 = False
START = FRAME_START
_FIRST_BLOCKS = 8
_LEVEL = 9  # docs/adr/0030-compression.md
_PIECE_BYTES = 1 << 20


def inflate(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """See `compression`."""
    return filter(None, _inflate(source, offset, ends))


def first_bytes(source: Source, offset: int, count: int) -> bytes:
    """See `compression`."""
    first = b""
    for piece in islice(_inflate(source, offset, {}), _FIRST_BLOCKS):
        first += piece
        if len(first) >= count:
            break
    return first[:count]


def proven_end(source: Source, offset: int) -> int | None:
    """See `compression`: by the blocks of the frame."""
    if bytes(source.view(offset, len(FRAME_MAGIC))) != FRAME_MAGIC:
        is_zstd = dictionary_of(source).is_zstd
        return end_of_skippable(source, offset) if is_zstd else None
    try:
        header = frame_header(source, offset)
    except Damage:
        return None
    return end_by_form(source, header, header.body)


def iter_whole(source: Source, offset: int) -> Iterator[WholeMember]:
    """See `compression`: frames that declare their size, skippable ones passed over."""
    file = dictionary_of(source)
    if file.why_not:
        return
    decompressor = decompressor_of(source)
    while offset < source.size:
        if bytes(source.view(offset, len(FRAME_MAGIC))) != FRAME_MAGIC:
            end = end_of_skippable(source, offset) if file.is_zstd else None
        else:
            end = _end_in_memory(source, offset, file)
            if end is not None:
                try:
                    data = decompressor.decompress(source.view(offset, end - offset))
                except ZstdError:
                    return
                yield WholeMember(offset, end - offset, data)
        if end is None:
            return
        offset = end


def passes_over_bytes(source: Source, start: int, end: int) -> bool:
    """See `compression`: skippable frames; also where a frame's form does not show its end."""
    at: int | None = start
    while at is not None and at < end:
        if bytes(source.view(at, len(FRAME_MAGIC))) != FRAME_MAGIC:
            return True
        at = proven_end(source, at)
    return at is None


def has_checksums(source: Source, start: int, end: int) -> bool:
    """See `compression`: by the header of each frame, which may have none."""
    at: int | None = start
    while at is not None and at < end:
        if bytes(source.view(at, len(FRAME_MAGIC))) == FRAME_MAGIC:
            try:
                if not frame_header(source, at).has_checksum:
                    return False
            except Damage:
                return False
        at = proven_end(source, at)
    return at is not None


def why_not_written(source: Source) -> str:
    """See `compression`: each frame has to name the dictionary of its file."""
    file = dictionary_of(source)
    if file.dictionary and not file.dictionary_id:
        return "the Zstandard dictionary of this file has no id that a frame could name"
    return file.why_not


def compress(source: Source, data: bytes) -> bytes:
    """See `compression`: a frame, with the dictionary of the file where it has one."""
    return source.once(_new_writer).frame(data)


def compress_pieces(source: Source, pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """See `compression`; a frame begins with its size, so a large content is put on disk first."""
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as content:
        for piece in pieces:
            content.write(piece)
        size = content.tell()
        content.seek(0)
        read = iter(partial(content.read, _PIECE_BYTES), b"")
        yield from source.once(_new_writer).frame_pieces(size, read)


def _new_writer(source: Source) -> FrameWriter:
    return FrameWriter(_LEVEL, dictionary_of(source).dictionary)


def _end_in_memory(source: Source, offset: int, file: FileDictionary) -> int | None:
    """The end of a frame that can be decompressed at once, no matter what it claims; else None."""
    most_bytes = 0
    try:
        header = frame_header(source, offset)
        size = header.content_size
        if not size or size > IN_MEMORY_BYTES or _why_not(header, file):
            return None
        end = header.body
        for block in iter_blocks(source, header.body):
            end, most_bytes = block.end, most_bytes + block.most_bytes
            if end - offset > IN_MEMORY_BYTES:
                return None
    except Damage:
        return None
    end += 4 if header.has_checksum else 0
    return end if size <= most_bytes and end <= source.size else None


def _inflate(source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
    """Pieces, which may be empty."""
    file = dictionary_of(source)
    if bytes(source.view(offset, len(FRAME_MAGIC))) != FRAME_MAGIC:
        ends[offset] = _end_of_skipped(source, offset, file)
        return
    header = frame_header(source, offset)
    why = file.why_not or _why_not(header, file)
    if why:
        end = end_by_form(source, header, header.body)
        raise Damage("damaged", why, offset, end, is_end_proven=end is not None)
    yield from inflate_blocks(source, header, file.decompressor(), ends)


def _end_of_skipped(source: Source, offset: int, file: FileDictionary) -> int:
    end = end_of_skippable(source, offset)
    if not file.is_zstd:
        # As anywhere in such a file: it may be what is left of something else.
        raise Damage("damaged", "a skippable frame in a file that is not Zstandard", offset)
    if not offset and file.why_not:
        raise Damage("damaged", file.why_not, offset, end, is_end_proven=end is not None)
    if end is None:
        raise Damage("damaged", "a skippable frame that no frame follows", offset)
    return end


def _why_not(header: FrameHeader, file: FileDictionary) -> str:
    """Why this frame cannot be read in this file; nothing if it can."""
    if header.dictionary_id in {0, file.dictionary_id}:
        return why_refused(header)
    other = f"that of the file is {file.dictionary_id}" if file.dictionary else "the file has none"
    if file.dictionary and not file.dictionary_id:
        other = "that of the file has no id"
    return f"compressed with the Zstandard dictionary {header.dictionary_id}, but {other}"
