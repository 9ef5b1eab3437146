"""Some of the records read again with warcio: what all our readers get wrong alike, it may not.

Which ones is a matter of file name and ordinal alone, so that a second validation reads
the same records.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

from warcio.archiveiterator import ArchiveIterator

from pinakes.warc.compression.members import compression_of
from pinakes.warc.field_names import WARC_RECORD_ID
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_PIECE_BYTES = 1 << 16
_PER_CENT = 100


class WarcioReader:
    """Reads one record in `one_in` again; a context manager that keeps one file open."""

    def __init__(self, *, one_in: int = _PER_CENT, through_source: bool = False) -> None:
        """`through_source`: files have no path, and their bytes come as our reader's do."""
        self._through_source = through_source
        self._one_in = one_in
        self._name = ""
        self._file: BinaryIO | None = None

    def __enter__(self) -> WarcioReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def chosen(self, name: str, ordinal: int) -> bool:
        """Whether this record is one of those that are read again."""
        key = f":{Path(name).name}:{ordinal}"
        return zlib.crc32(key.encode("utf-8", "surrogateescape")) % self._one_in == 0

    def differs(self, record: Record, source: Source) -> bool | None:
        """Whether warcio sees another record here; None where the record was not chosen.

        One with findings, or that shares its member, is none of those that can be, nor one in
        a Zstandard frame, which warcio does not read.
        """
        if record.findings or not self.chosen(source.name, record.ordinal):
            return None
        if compression_of(source, record.offset) == "zstd":
            return None
        by_source = self._through_source or not os.path.isfile(source.name)
        file = _file_of(source) if by_source else self._open(source.name)
        file.seek(record.offset)
        try:
            return _seen(file) != _expected(record)
        except Exception:  # noqa: BLE001  any exception: it could not read the record
            return True

    def _open(self, name: str) -> BinaryIO:
        if self._file is None or self._name != name:
            if self._file is not None:
                self._file.close()
            self._file = Path(name).open("rb")  # noqa: SIM115 (closed with this reader)
            self._name = name
        return self._file


def _file_of(source: Source) -> BinaryIO:
    return cast("BinaryIO", _SourceFile(source.again()))


class _SourceFile(io.RawIOBase):
    """A source as a file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = (0, self._at, self._source.size)[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer) as room, room.cast("B") as wanted:
            piece = self._source.view(self._at, min(len(wanted), _PIECE_BYTES))
            wanted[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def _expected(record: Record) -> tuple[str, str | None, str]:
    state = hashlib.sha256()
    for piece in record.chunks():
        state.update(piece)
    return record.type, record.record_id, state.hexdigest()


def _seen(file: BinaryIO) -> tuple[str, str | None, str]:
    record = next(iter(ArchiveIterator(file, no_record_parse=True)))
    state = hashlib.sha256()
    while piece := record.raw_stream.read(_PIECE_BYTES):
        state.update(piece)
    record_id = record.rec_headers.get_header(WARC_RECORD_ID)
    return (record.rec_type or "").lower(), record_id and record_id.strip("<> "), state.hexdigest()
