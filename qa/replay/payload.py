"""The body of a capture as it is sent to a browser: without transfer-coding, else as stored.

A body may not be chunked although its header says so: some writers remove the chunks and keep
the header field.  So such a body is read once before, which also gives its length.  If it breaks
off within its chunks it is sent as far as it goes; if its first chunk is invalid, as stored.

Some writers count the line ends behind a record as part of its block: if all bytes beyond the
Content-Length are line ends, they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.warc.field_names import WARC_TRUNCATED_KEY
from pinakes.warc.http.message import Dechunker
from pinakes.warc.record import Record

_PIECE_BYTES = 1 << 16
_SIZE_LINE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_LINE_BYTES = 1 << 12
_LINE_ENDS = (b"\n", b"\r\n", b"\n\n", b"\r\n\r\n")


class Payload:
    """The body of a record; its size is known before the first byte is sent."""

    def __init__(self, record: Record, *, said_chunked: bool, said_size: int | None = None) -> None:
        self._record = record
        self.size = record.payload_size
        cut_off = record.header.field(WARC_TRUNCATED_KEY)
        self.problem = None if cut_off is None else f"truncated by the crawl: {cut_off}"
        self._chunked = False
        if said_chunked:
            self._measure_chunked()
        elif (
            said_size is not None
            and 0 < self.size - said_size <= len(_LINE_ENDS[-1])
            and b"".join(self.pieces(said_size, self.size)) in _LINE_ENDS
        ):
            self.size = said_size

    def _measure_chunked(self) -> None:
        dechunker = Dechunker()
        size = sum(len(part) for p in self._record.payload() for part in dechunker.feed(p))
        if not dechunker.finished:
            if not size or not self._begins_with_a_chunk():
                return
            self.problem = self.problem or "the body ends within a chunk"
        self._chunked, self.size = True, size

    def _begins_with_a_chunk(self) -> bool:
        """Whether CR LF ends the first chunk's size and, if it is there, its data: RFC 9112 §7.1.

        The dechunker accepts LF alone, as some servers write, and so any line of digits.
        """
        line = _SIZE_LINE.match(self.first(_LINE_BYTES))
        if line is None:
            return False
        end = line.end() + int(line[1], 16)
        return end + 2 > self.size or b"".join(self.pieces(end, end + 2)) == b"\r\n"

    def pieces(self, start: int, end: int) -> Iterator[memoryview]:
        """The bytes `[start, end)`, in pieces of at most 64 KiB."""
        position, left = start, end - start
        if self._chunked:
            dechunker = Dechunker()
            stored: Iterator[bytes | memoryview] = (
                part for p in self._record.payload() for part in dechunker.feed(p)
            )
            position = 0
        else:
            stored = self._record.chunks(self._record.payload_offset + start)
        for piece in stored:
            if not left:
                return
            part = memoryview(piece)[max(0, start - position) :][:left]
            position += len(piece)
            left -= len(part)
            for at in range(0, len(part), _PIECE_BYTES):
                yield part[at : at + _PIECE_BYTES]

    def first(self, count: int) -> bytes:
        """The first `count` bytes at most."""
        return b"".join(self.pieces(0, min(count, self.size)))
