"""ARC record headers: one line of fields, read as if it were a WARC header.

    version 1:  URL IP date media-type length
    version 2:  URL IP date media-type status checksum location offset file length

URLs with spaces and dates of 8 to 18 digits occur; the line is therefore matched
from its right end.  Source: Burner and Kahle, "Arc File Format", 1996.
"""

from __future__ import annotations

import re

from .header import Header

# Its path, and no bytes of a gzip member that follows damage.
_FILEDESC = re.compile(rb"filedesc:[^\s\x00-\x1f][^\x00-\x08\x0e-\x1f]*\Z")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_STATUS = re.compile(rb"(?:\d{3}|-)\Z")
_NAMES = {
    "uri": "WARC-Target-URI",
    "ip": "WARC-IP-Address",
    "date": "WARC-Date",
    "mime": "Content-Type",
    "length": "Content-Length",
    "checksum": "ARC-Checksum",
}
# What follows the media type in version 2, the length included.
_REST_OF_V2 = 6
LINE_LIMIT_BYTES = 1 << 16


class ArcHeader(Header):
    """The header line of an ARC record; `get` answers to the WARC names of its fields."""

    __slots__ = ("_values", "_version")

    def __init__(self, raw: bytes, values: dict[str, bytes], version: str) -> None:
        super().__init__(raw)
        self._values = values
        self._version = version

    def fields(self) -> list[tuple[str, str]]:
        return [
            (name, self._values[key].decode("utf-8", "surrogateescape"))
            for key, name in _NAMES.items()
            if self._values.get(key)
        ]

    def _first_values(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.fields()}

    @property
    def version(self) -> str:
        return self._version


def match_arc_header(data: bytes) -> ArcHeader | None:
    """The ARC header line that `data` begins with; None where it begins with none.

    By splitting, since a pattern with that many blanks in it takes a day for a long line.
    """
    end = data.find(b"\n") + 1
    if not end or not _SCHEME.match(data):
        return None
    raw = data[:end]
    line = raw[:-1].removesuffix(b"\r")
    if b"\r" in line:
        return None
    words = line.rstrip(b" \t").split(b" ")
    if _is_number(words[-1], 1):
        for version, rest in (("ARC/2.0", _REST_OF_V2), ("ARC/1.0", 1)):
            values = _values(words, rest)
            if values is not None:
                return ArcHeader(raw, values, version)
    if _FILEDESC.match(line):
        return ArcHeader(raw, {"uri": line.split(None, 1)[0]}, "ARC/1.0")
    return None


def _values(words: list[bytes], rest: int) -> dict[str, bytes] | None:
    """URI, IP, date, media type, and `rest` words; the date is the last that can be one."""
    tail = words[-rest:]
    if rest == _REST_OF_V2 and not _is_rest_of_v2(tail):
        return None
    for at in range(len(words) - rest - 2, 1, -1):
        if _is_number(words[at], 8):
            return {
                "uri": b" ".join(words[: at - 1]),
                "ip": words[at - 1],
                "date": words[at],
                "mime": b" ".join(words[at + 1 : -rest]),
                "length": words[-1],
                "checksum": tail[1] if rest == _REST_OF_V2 else b"",
            }
    return None


def _is_rest_of_v2(words: list[bytes]) -> bool:
    if len(words) < _REST_OF_V2 or not all(words):
        return False
    status, _, _, offset, _, _ = words
    return _STATUS.match(status) is not None and (offset == b"-" or offset.isdigit())


def _is_number(word: bytes, least: int) -> bool:
    return word.isdigit() and least <= len(word) <= 18
