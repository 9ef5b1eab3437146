"""The head of an HTTP message in a record's block, and chunked transfer-coding.

The head ends with the first blank line; lines end with CRLF or LF.  Content-codings are
not decoded: the payload is the entity body (ISO 28500:2017 §6.3.2).
Source: RFC 9112 §2 (message), §7.1 (chunks).
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from pinakes.warc.header import Header, shown

HEAD_LIMIT_BYTES = 1 << 20
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?:[ \t\r\n]|\Z)", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\Z")
_FOLD = (b" ", b"\t")
_CONTENT_TYPE = b"content-type"
_STATUS_200 = frozenset({b"HTTP/1.1 200 ", b"HTTP/1.0 200 "})
_BLANK_LINE = re.compile(rb"\n\r?\n")
# Each line that says, or may say, where the body ends; group 1 is a plainly written length.
_FRAMING = re.compile(
    rb"\n(?:content-length: (\d{1,18})(?=\r\n[^ \t])"
    rb"|[ \t\r]*(?:content-length|transfer-encoding))",
    re.IGNORECASE,
)
_CHUNK_LINE_LIMIT_BYTES = 4096
_SHOWN_BYTES = 100


@lru_cache(maxsize=1024)
def bare_media_type(value: str | None) -> str | None:
    """A Content-Type without its parameters, lower case; None for an empty one."""
    text = (value or "").strip(" \t\r")
    return text.split(";", 1)[0].strip().lower() if text else None


class HttpHead:
    """Status or request line and header of an HTTP message, blank line included."""

    __slots__ = ("_header", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._header: Header | None = None

    def __repr__(self) -> str:
        first = self.raw[:_SHOWN_BYTES].partition(b"\n")[0].strip().decode("utf-8", "replace")
        return shown(f"<HttpHead {', '.join(filter(None, (first, self.media_type)))}>")

    @property
    def status(self) -> int | None:
        """The status code; None if the first line is not a status line."""
        match = _STATUS.match(self.raw)
        return int(match[1]) if match else None

    @property
    def method(self) -> str:
        """The first word of a request line."""
        return self.raw[:64].split(b" ", 1)[0].decode("latin-1")

    def get(self, name: str) -> str | None:
        """The first field of that name, in any case."""
        return self._fields().get(name)

    def get_all(self, name: str) -> list[str]:
        """Every field of that name, in any case, in order."""
        return self._fields().get_all(name)

    def _fields(self) -> Header:
        if self._header is None:
            self._header = Header(self.raw)
        return self._header

    @property
    def content_length(self) -> int | None:
        """The value of Content-Length; None if it is missing or not a number."""
        raw = self.raw
        at = raw.lower().find(b"content-length")
        if at < 0:
            return None
        end = raw.find(b"\n", at)
        # If the name stands from the start of a line to its colon, and the next line does not
        # continue it, this is the first field of that name, and no parse is needed.
        if end > 0 and raw[at - 1 : at + 15 : 15] == b"\n:" and raw[end + 1 : end + 2] not in _FOLD:
            text = raw[at + 15 : end].strip(b" \t\r")
        else:
            text = (self.get("content-length") or "").encode("utf-8", "surrogateescape")
        return int(text) if text.isdigit() and len(text) < 19 else None

    def is_plainly_whole(self, size: int) -> bool:
        """Whether the status is 200 and the header fits a body of `size` that is not chunked.

        True is certain.  False may be wrong: it is found without a parse.
        """
        raw = self.raw
        if raw[:13] not in _STATUS_200:
            return False
        promised: list[bytes] = _FRAMING.findall(raw)
        return not promised or (
            len(promised) == 1 and promised[0] != b"" and int(promised[0]) <= size
        )

    @property
    def says_chunked(self) -> bool:
        """Whether Transfer-Encoding names chunked; the stored body may still not be chunked."""
        if b"chunked" not in self.raw.lower():
            return False
        return any("chunked" in value.lower() for value in self.get_all("transfer-encoding"))

    @property
    def media_type(self) -> str | None:
        """Content-Type without its parameters, lower case."""
        raw = self.raw
        low = raw.lower()
        at = low.find(_CONTENT_TYPE)
        if at < 0:
            return None
        end = raw.find(b"\n", at)
        after = at + len(_CONTENT_TYPE)
        # If the name occurs once, as a whole field on one line, no parse is needed.
        if (
            end > 0
            and raw[at - 1 : after + 1 : after - at + 1] == b"\n:"
            and raw[end + 1 : end + 2] not in _FOLD
            and low.find(_CONTENT_TYPE, after) < 0
        ):
            return bare_media_type(raw[after + 1 : end].decode("utf-8", "surrogateescape"))
        return bare_media_type(self.get("content-type"))


def head_end(block: bytes, start: int = 0, end: int = sys.maxsize) -> int:
    """Where the body begins: after the first blank line before `end`; -1 if there is none."""
    blank_line = _BLANK_LINE.search(block, start, end)
    return -1 if blank_line is None else blank_line.end()


class Dechunker:
    """Removes the chunked coding from a body fed piece by piece; bounded memory.

    `failed` is set at the first byte that does not fit the coding, `finished` after the
    last chunk (size 0), its trailers and the empty line; bytes after that are left out.
    `begun` is set where the body begins with a chunk's size.
    """

    __slots__ = ("_line", "_remaining", "_state", "begun", "failed", "finished")

    def __init__(self) -> None:
        self._line = b""
        self._remaining = 0
        self._state = "size"
        self.begun = False
        self.failed = False
        self.finished = False

    def feed(self, piece: bytes | memoryview) -> list[bytes | memoryview]:
        """The body bytes in this piece, without chunk sizes and trailers."""
        result: list[bytes | memoryview] = []
        view = memoryview(piece)
        position = 0
        while position < len(view) and not (self.failed or self.finished):
            if self._state == "body":
                part = view[position : position + self._remaining]
                result.append(part)
                position += len(part)
                self._remaining -= len(part)
                if not self._remaining:
                    self._state = "body-end"
            else:
                position = self._take_line(view, position)
        return result

    def _take_line(self, view: memoryview, position: int) -> int:
        window = bytes(view[position : position + _CHUNK_LINE_LIMIT_BYTES])
        end = window.find(b"\n")
        if end < 0:
            self._line += window
            self.failed = len(self._line) > _CHUNK_LINE_LIMIT_BYTES
            return position + len(window)
        line, self._line = self._line + window[:end], b""
        if len(line) > _CHUNK_LINE_LIMIT_BYTES:
            self.failed = True
        else:
            self._end_line(line.removesuffix(b"\r"))
        return position + end + 1

    def _end_line(self, line: bytes) -> None:
        if self._state == "size":
            match = _CHUNK_SIZE.match(line)
            if match is None:
                self.failed = True
                return
            self.begun = True
            self._remaining = int(match[1], 16)
            self._state = "body" if self._remaining else "trailer"
        elif self._state == "body-end":
            self.failed = bool(line)
            self._state = "size"
        elif not line:
            self.finished = True
