"""Zstandard frames by their raw bytes (RFC 8878 §3.1), for the proof that takes nothing of the
reader.

    frame       28 B5 2F FD | header | block | block | … | checksum, 4 bytes
    block       3 bytes: last 1 bit, type 2 bits, size 21 bits | content
    skippable   5x 2A 4D 18 | size, 4 bytes | anything; the first of a file is its dictionary, if 5D

A frame is taken block by block: what one gives is bounded, regardless of what it declares.
"""

from __future__ import annotations

from collections.abc import Iterator

from zstandard import (
    DICT_TYPE_FULLDICT,
    DICT_TYPE_RAWCONTENT,
    ZstdCompressionDict,
    ZstdDecompressor,
    ZstdError,
    frame_header_size,
    get_frame_parameters,
)

from pinakes.warc.source import Source

MAGIC = b"\x28\xb5\x2f\xfd"
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_FORMATTED = b"\x37\xa4\x30\xec"
_MOST_BYTES = 8 << 20
_HEADER_BYTES = 18
_HEAD_BYTES = 8
_BLOCK_BYTES = 1 << 17
_RLE, _RESERVED = 1, 3


class NoMember(Exception):
    """No member begins there that inflates whole."""


def is_skippable(start: bytes) -> bool:
    """Whether a skippable frame begins like this."""
    return start[1:4] == b"\x2a\x4d\x18" and start[:1] != b"" and start[0] >> 4 == 5


class Frames:
    """The frames of one file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        start = bytes(source.view(0, len(MAGIC)))
        self.is_of_frames = start == MAGIC or is_skippable(start)
        """Whether the file begins with one: in others, nothing is passed over."""
        self._dictionary_id = 0
        self._decompressor: ZstdDecompressor | None = None
        if start != _DICTIONARY_MAGIC:
            self._decompressor = ZstdDecompressor(max_window_size=_MOST_BYTES)
            return
        try:
            dictionary = self._dictionary()
            self._decompressor = ZstdDecompressor(dictionary, max_window_size=_MOST_BYTES)
            self._decompressor.decompressobj()
            self._dictionary_id = dictionary.dict_id()
        except (NoMember, ZstdError):
            self._decompressor = None

    def _dictionary(self) -> ZstdCompressionDict:
        size = int.from_bytes(self._source.view(4, 4), "little")
        content = bytes(self._source.view(_HEAD_BYTES, min(size, _MOST_BYTES + 1)))
        if content.startswith(MAGIC):
            found = b""
            for piece, _ in _inflate(
                self._source, _HEAD_BYTES, ZstdDecompressor(max_window_size=_MOST_BYTES), 0
            ):
                found += piece
                if len(found) > _MOST_BYTES:
                    raise NoMember
            content = found
        if not content or len(content) > _MOST_BYTES:
            raise NoMember
        is_formatted = content.startswith(_FORMATTED)
        kind = DICT_TYPE_FULLDICT if is_formatted else DICT_TYPE_RAWCONTENT
        return ZstdCompressionDict(content, dict_type=kind)

    def inflate(self, offset: int) -> Iterator[tuple[bytes, int]]:
        """Pieces of a frame's content, each with where the frame ends, if it ends there.

        Raises:
            NoMember: it cannot be read whole, or not by all readers.
        """
        if self._decompressor is None:
            raise NoMember
        return _inflate(self._source, offset, self._decompressor, self._dictionary_id)

    def end_of_skippable(self, offset: int) -> int | None:
        """Where a skippable frame of this file ends; None where none is whole."""
        head = bytes(self._source.view(offset, _HEAD_BYTES))
        end = offset + _HEAD_BYTES + int.from_bytes(head[4:], "little")
        is_one = self.is_of_frames and len(head) == _HEAD_BYTES and is_skippable(head)
        return end if is_one and end <= self._source.size else None

    def end_by_form(self, offset: int) -> tuple[int, bool]:
        """How far the blocks of a frame lead that cannot be read, and whether it ends there.

        It does if another follows, or nothing.  One byte of the four that it begins with may be
        another: it may yet be mended.
        """
        start = bytes(self._source.view(offset, _HEADER_BYTES))
        if sum(map(int.__eq__, start, MAGIC)) < len(MAGIC) - 1:
            return offset, False
        end = offset
        try:
            body, tail = _frame_header(MAGIC + start[len(MAGIC) :])
            for _, end in _blocks(self._source, offset + body):  # noqa: B007
                pass
        except (NoMember, ZstdError):
            return end, False
        end += tail
        follows = bytes(self._source.view(end, len(MAGIC)))
        return end, end == self._source.size or follows == MAGIC or is_skippable(follows)


def _frame_header(start: bytes, dictionary_id: int | None = None) -> tuple[int, int]:
    """Bytes of a frame's header and of its checksum."""
    said = get_frame_parameters(start)
    if dictionary_id is not None and (
        said.window_size > _MOST_BYTES or said.dict_id not in (0, dictionary_id)
    ):
        raise NoMember
    return frame_header_size(start), 4 if said.has_checksum else 0


def _blocks(source: Source, offset: int) -> Iterator[tuple[bool, int]]:
    """(whether it is the last, where it ends) of each block."""
    is_last = False
    while not is_last:
        bits = int.from_bytes(source.view(offset, 3), "little")
        kind, size = bits >> 1 & 3, bits >> 3
        is_last = bool(bits & 1)
        offset += 3 + (1 if kind == _RLE else size)
        if kind == _RESERVED or size > _BLOCK_BYTES or offset > source.size:
            raise NoMember
        yield is_last, offset


def _inflate(
    source: Source, offset: int, decompressor: ZstdDecompressor, dictionary_id: int
) -> Iterator[tuple[bytes, int]]:
    inflater = decompressor.decompressobj()
    try:
        body, tail = _frame_header(bytes(source.view(offset, _HEADER_BYTES)), dictionary_id)
        fed, at = offset, offset + body
        for is_last, end in _blocks(source, at):
            at = end + (tail if is_last else 0)
            yield inflater.decompress(bytes(source.view(fed, at - fed))), at
            fed = at
    except ZstdError as error:
        raise NoMember from error
    if not inflater.eof:
        raise NoMember
