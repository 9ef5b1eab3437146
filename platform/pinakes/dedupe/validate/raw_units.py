"""What an archive file is made of, by its raw bytes: members, plain records, and what is neither.

Members are those of gzip, and Zstandard frames (`raw_frames`).

For the proof on raw bytes (`raw_proof`), which takes nothing of this from the reader.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast
from urllib.parse import unquote_to_bytes

from isal import igzip_lib, isal_zlib

from pinakes.warc.source import Source

from . import raw_frames
from .raw_frames import Frames, NoMember, is_skippable

# isal's stubs declare its exception class as an instance.
_InflateError = cast("type[Exception]", igzip_lib.IsalError)
CLOSING = b"\r\n\r\n"
VERSION = b"WARC/"
COMPRESSIONS = frozenset({"gzip", "zstd"})
"""Those whose members are taken apart here: records in others cannot be proven."""
_MAGIC = b"\x1f\x8b\x08"
_MAGICS = (_MAGIC, raw_frames.MAGIC)
# isal takes reserved flags, which zlib refuses (RFC 1952 §2.3.1.2).
_FLAGS_MOST = b"\x1f"
# What a member begins with that has neither time nor name (RFC 1952 §2.3).
_HEADER_USUAL = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_HEADER_LEAST = len(_HEADER_USUAL)
_UNIT_START = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd|(?<=\n)WARC/\d")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_REPLACED = re.compile(
    rb"Pinakes-Replaced: version=1; run=[^;]*; crc32=([0-9a-f]{8}); added=([1-9]\d{0,5})"
    rb"((?:; [1-9]\d{0,5}=[^; ]*)*)"
)
_REVISIT = re.compile(rb"\r\nwarc-type:[ \t]*revisit[ \t]*\r\n", re.IGNORECASE)
FED_BYTES = 1 << 14
PIECE_BYTES = 1 << 16
HEADER_BYTES = 1 << 18
OVERLAP_BYTES = 16
_KEPT_BYTES = 8 << 20
# What may be read in vain in addition to the file's own size: beyond it, the rest is one unit.
_IN_VAIN_BYTES = 1 << 26

Inflate = Callable[[Source, int], Iterator[tuple[bytes, int]]]


class Unit(NamedTuple):
    """A member, a plain record, or what is neither: then it is not sound.

    A skippable Zstandard frame is sound, and no member: its bytes are its own.
    """

    end: int
    is_member: bool = False
    is_sound: bool = True
    pieces: list[bytes] | None = None
    """What a member holds that is not too large to keep."""


class Units:
    """What a file is made of, from any of its units on.

    A member is one only if it inflates whole, by its checksum; a plain record, if two line ends
    close it where it says that it ends.  What is before the next of them is a unit, too.
    """

    def __init__(self, source: Source, inflate: Inflate) -> None:
        self.source = source
        self._inflate_gzip = inflate
        self._frames = Frames(source)
        self._in_vain = self._no_header_to = 0

    def at(self, offset: int) -> Unit:
        """The unit that begins there."""
        found = self._whole(offset) or self._damaged_member(offset)
        if found is not None:
            return found
        for start in self._starts(offset + 1):
            if self._in_vain > _IN_VAIN_BYTES + self.source.size:
                break
            if self._whole(start) is not None:
                return Unit(start, is_sound=False)
        return Unit(self.source.size, is_sound=False)

    def content(self, offset: int, unit: Unit) -> Iterator[bytes]:
        """What it holds, in pieces."""
        if unit.pieces is not None:
            return iter(unit.pieces)
        if unit.is_member:
            return (piece for piece, _ in self._inflate(offset))
        return map(bytes, self.source.pieces(offset, unit.end, PIECE_BYTES))

    def _whole(self, offset: int) -> Unit | None:
        start = bytes(self.source.view(offset, len(VERSION)))
        if start.startswith(_MAGICS):
            return self._member(offset)
        if start == VERSION:
            return self._record(offset)
        end = self._frames.end_of_skippable(offset) if is_skippable(start) else None
        return None if end is None else Unit(end)

    def _inflate(self, offset: int) -> Iterator[tuple[bytes, int]]:
        if bytes(self.source.view(offset, len(raw_frames.MAGIC))) == raw_frames.MAGIC:
            return self._frames.inflate(offset)
        return self._inflate_gzip(self.source, offset)

    def _member(self, offset: int) -> Unit | None:
        end, size = offset, 0
        pieces: list[bytes] = []
        try:
            for piece, end in self._inflate(offset):  # noqa: B007
                size += len(piece)
                if piece and size <= _KEPT_BYTES:
                    pieces.append(piece)
        except NoMember:
            self._in_vain += FED_BYTES + end - offset
            return None
        kept = pieces if size <= _KEPT_BYTES else None
        return Unit(end, is_member=True, pieces=kept)

    def _damaged_member(self, offset: int) -> Unit | None:
        """A member but for its first bytes: what looks like members in it is content of it."""
        end, is_frame = self._frames.end_by_form(offset)
        if is_frame:
            return Unit(end, is_sound=False)
        self._in_vain += end - offset
        start = bytes(self.source.view(offset, _HEADER_LEAST))
        if sum(map(int.__eq__, start, _HEADER_USUAL)) < _HEADER_LEAST // 2:
            return None
        end, crc, size = offset, 0, 0
        try:
            for piece, end in _inflate_data(self.source, offset + _HEADER_LEAST):  # noqa: B007
                crc, size = isal_zlib.crc32(piece, crc), size + len(piece)
            trailer = crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
            if bytes(self.source.view(end, len(trailer))) == trailer:
                return Unit(end + len(trailer), is_sound=False)
        except NoMember:
            pass
        self._in_vain += FED_BYTES + end - offset
        return None

    def _record(self, offset: int) -> Unit | None:
        header = self._header(offset)
        end = offset + len(header) + content_length(header)
        if header and bytes(self.source.view(end, len(CLOSING))) == CLOSING:
            return Unit(end + len(CLOSING))
        return None

    def _header(self, offset: int) -> bytes:
        if offset + HEADER_BYTES // 2 <= self._no_header_to:
            return b""
        header = header_in(bytes(self.source.view(offset, FED_BYTES)))
        if header is None:
            text = bytes(self.source.view(offset, HEADER_BYTES))
            header = header_in(text)
            if header is None:
                self._no_header_to = offset + len(text)
        return header or b""

    def _starts(self, offset: int) -> Iterator[int]:
        """Where a unit may begin."""
        while offset < self.source.size:
            # From one byte before: a version line begins a line.
            base = offset - 1
            view = bytes(self.source.view(base, PIECE_BYTES))
            if base + len(view) == self.source.size:
                offset = self.source.size
            else:
                offset = base + len(view) - OVERLAP_BYTES
            for match in _UNIT_START.finditer(view, 1):
                if base + match.start() < offset:
                    yield base + match.start()


def header_in(text: bytes) -> bytes | None:
    """Up to and with the blank line, nothing where a member is in it; None: it goes on."""
    end = text.find(CLOSING)
    if end < 0:
        return None
    found = text[: end + len(CLOSING)]
    return b"" if _MAGIC in found or raw_frames.MAGIC in found else found


def content_length(header: bytes) -> int:
    """What a record's header says of its block, in bytes; 0 where it says nothing."""
    found = _LENGTH.search(header)
    return int(found[1]) if found else 0


def replaced_header(header: bytes) -> tuple[bytes, int] | None:
    """The header that a revisit of ours replaced, and that record's checksum; None of any other.

    What docs/restore.md says, in another language.
    """
    lines = header[: -len(CLOSING)].split(b"\r\n")
    field = _REPLACED.fullmatch(lines[-1])
    if field is None or not _REVISIT.search(header):
        return None
    crc32, added, replaced = field.groups()
    kept = lines[: -int(added)]
    parts = [part.partition(b"=") for part in replaced.split(b"; ")[1:]]
    numbers = [int(number) for number, _, _ in parts]
    if len({1, *numbers}) <= len(numbers) or max(numbers, default=0) > len(kept):
        return None
    for number, (_, _, line) in zip(numbers, parts, strict=True):
        kept[number - 1] = unquote_to_bytes(line)
    return b"\r\n".join(kept) + CLOSING, int(crc32, 16)


def inflate(source: Source, offset: int) -> Iterator[tuple[bytes, int]]:
    """Pieces of a member's content, each with where the member ends, if it ends there."""
    if bytes(source.view(offset + 3, 1)) > _FLAGS_MOST:
        raise NoMember
    yield from _inflate_data(source, offset, igzip_lib.DECOMP_GZIP)


def _inflate_data(
    source: Source, offset: int, form: int = igzip_lib.DECOMP_DEFLATE
) -> Iterator[tuple[bytes, int]]:
    """The same of what a member's header and trailer are around."""
    inflater = igzip_lib.IgzipDecompressor(form)
    try:
        while not inflater.eof:
            view = source.view(offset, FED_BYTES) if inflater.needs_input else b""
            if not view and inflater.needs_input:
                raise NoMember
            offset += len(view)
            piece = inflater.decompress(view, PIECE_BYTES)
            yield piece, offset - len(inflater.unused_data)
    except _InflateError as error:
        raise NoMember from error


def inflate_strictly(source: Source, offset: int) -> Iterator[tuple[bytes, int]]:
    """The same by zlib, which refuses incomplete codes that isal takes (RFC 1951 §3.2.7)."""
    inflater = zlib.decompressobj(31)
    try:
        while not inflater.eof:
            fed = inflater.unconsumed_tail
            if not fed:
                fed = bytes(source.view(offset, FED_BYTES))
                offset += len(fed)
            if not fed:
                raise NoMember
            piece = inflater.decompress(fed, PIECE_BYTES)
            yield piece, offset - len(inflater.unused_data)
    except zlib.error as error:
        raise NoMember from error
