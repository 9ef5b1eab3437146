"""Stored members of a ZIP file, read where they lie; its directory is not believed.

`zipfile` reads the directory.  What is at a member is compared with it: other tools go by the
one or the other.  Source: APPNOTE.TXT 6.3.10 §4.3.7 (local file header), §4.3.9 (data
descriptor), §4.3.16 (end of central directory).
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from typing import IO, BinaryIO

from pinakes.counts import count_of
from pinakes.errors import InputRefused
from pinakes.warc.source import watched_fileno

# Flags, method, compressed size, size, lengths of name and extra field.
_LOCAL_HEADER = struct.Struct("<6xHH8xLLHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_DESCRIPTOR_MAGIC = b"PK\x07\x08"
_END_MAGIC = b"PK\x05\x06"
_END_BYTES = 22
_LONGEST_END = _END_BYTES + (1 << 16)
_SIZES_BEHIND = 1 << 3
_IN_ZIP64 = 0xFFFFFFFF


def refuse_stray_bytes(file: BinaryIO, directory: zipfile.ZipFile, name: str) -> None:
    """Raise InputRefused where bytes are in no member, or in two.

    The first would be passed over in silence, the second is a lie of the directory.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_END))
    tail = file.read(_LONGEST_END)
    at = tail.rfind(_END_MAGIC)
    comment_bytes = int.from_bytes(tail[at + 20 : at + 22], "little")
    if len(tail) - at - _END_BYTES != comment_bytes:
        raise InputRefused("the ZIP file does not end where it says", file=name)
    reached = 0
    for info in sorted(directory.infolist(), key=lambda info: info.header_offset):
        if info.header_offset < reached:
            raise InputRefused(f"members overlap: {info.filename!r}", file=name)
        if not reached and info.header_offset:
            before = f"{count_of(info.header_offset, 'byte')} before the first member"
            raise InputRefused(f"not only a ZIP file: {before}", file=name)
        reached = info.header_offset + _LOCAL_HEADER.size + info.compress_size


def whole_name(info: zipfile.ZipInfo) -> str:
    """A member's name with its NUL, if it has one, at which `zipfile` cuts names."""
    if "\0" in info.orig_filename:
        return info.orig_filename
    # Newer Pythons take the name in a Unicode Path field (0x7075).
    is_other = info.filename != info.orig_filename
    is_cut = is_other and f"{info.filename}\0".encode() in info.extra
    return f"{info.filename}\0" if is_cut else info.filename


def start_of(file: BinaryIO, directory: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored member begin.

    Raises:
        BadZipFile: the directory says otherwise than what is there.
    """
    directory.open(info).close()  # compares the names
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or header[:4] != _LOCAL_MAGIC:
        raise zipfile.BadZipFile("no local header where the directory says")
    flags, method, packed, size, *lengths = _LOCAL_HEADER.unpack(header)
    start = info.header_offset + _LOCAL_HEADER.size + sum(lengths)
    ends_in_file = start + info.file_size <= file.seek(0, os.SEEK_END)
    if info.compress_size != info.file_size or not ends_in_file:
        raise zipfile.BadZipFile("the member is longer than the file")
    if flags & _SIZES_BEHIND:
        agrees = _describes(file, start + info.file_size, info)
    else:
        sizes = ((packed, info.compress_size), (size, info.file_size))
        agrees = all(here in (said, _IN_ZIP64) for here, said in sizes)
    if method != info.compress_type or not agrees:
        raise zipfile.BadZipFile("the directory says otherwise than the local header")
    return int(start)


def _describes(file: BinaryIO, at: int, info: zipfile.ZipInfo) -> bool:
    """Whether the data descriptor of the member is there."""
    file.seek(at)
    found = file.read(24).removeprefix(_DESCRIPTOR_MAGIC)
    sizes = info.compress_size, info.file_size
    return any(
        found.startswith(struct.pack(form, info.CRC, *sizes))
        for form in ("<3L", "<LQQ")
        if form == "<LQQ" or max(sizes) < _IN_ZIP64
    )


class PartialFile(io.RawIOBase):
    """Some of the bytes of a file, as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int, *, package: BinaryIO) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._package = package
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0, /) -> int:
        base = (0, self._at, self._size)[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self._size - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        self._file.seek(self._start + self._at)
        data = self._file.read(wanted)
        self._at += len(data)
        return data

    def watched_fileno(self) -> int:
        """That of the package; no `fileno`, by which other bytes would be read."""
        return watched_fileno(self._package)
