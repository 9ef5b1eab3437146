"""ARC record headers: one line of fields, presented as a WARC header.

    version 1:  URL IP date media-type length
    version 2:  URL IP date media-type status checksum location offset file length

URLs may contain spaces, and dates have 8 to 18 digits; so the line is matched from its
right end.  Source: Burner and Kahle, "Arc File Format", 1996.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .field_names import CONTENT_LENGTH, CONTENT_TYPE, WARC_DATE, WARC_IP_ADDRESS, WARC_TARGET_URI
from .header import Header

# Its path, and no bytes of a gzip member that follows damage.
_FILEDESC = re.compile(rb"filedesc:[^\s\x00-\x1f][^\x00-\x08\x0e-\x1f]*\Z")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_ADDRESS = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}\Z")
_STATUS = re.compile(rb"(?:\d{3}|-)\Z")
_NAMES = {
    "uri": WARC_TARGET_URI,
    "ip": WARC_IP_ADDRESS,
    "date": WARC_DATE,
    "mime": CONTENT_TYPE,
    "length": CONTENT_LENGTH,
    "checksum": "ARC-Checksum",
}
# What follows the media type in version 2, the length included.
_REST_OF_V2 = 6
LINE_LIMIT_BYTES = 1 << 16


class ArcHeader(Header):
    """The header line of an ARC record; `get` takes the WARC names of its fields."""

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


def match_arc_header(data: bytes, *, is_expected: bool = False) -> ArcHeader | None:
    """The ARC header line that `data` begins with; None if it begins with none.

    Where a record is expected, and in the first line of a file, the number of fields and an
    IP address among them are enough: the date may then be any word, and the URL contain a CR.
    """
    # Splits, since a pattern with so many blanks would take hours on a very long line.
    end = data.find(b"\n") + 1
    if not end or not _SCHEME.match(data):
        return None
    raw = data[:end]
    line = raw[:-1].removesuffix(b"\r")
    is_first = _FILEDESC.match(line) is not None
    is_expected = is_expected or is_first
    if b"\r" in line and not is_expected:
        return None
    words = line.rstrip(b" \t").split(b" ")
    if _is_number(words[-1], 1):
        places = (_date_place, _place_beside_address)[: 1 + is_expected]
        for place in places:
            for version, rest in (("ARC/2.0", _REST_OF_V2), ("ARC/1.0", 1)):
                values = _values(words, rest, place)
                if values is not None:
                    return ArcHeader(raw, values, version)
    if is_first:
        return ArcHeader(raw, {"uri": line.split(None, 1)[0]}, "ARC/1.0")
    return None


def _values(
    words: list[bytes], rest: int, place: Callable[[list[bytes], int], int | None]
) -> dict[str, bytes] | None:
    """URI, IP, date, media type, and `rest` words; `place` finds the word that is the date."""
    tail = words[-rest:]
    if rest == _REST_OF_V2 and not _is_rest_of_v2(tail):
        return None
    at = place(words, rest)
    if at is None:
        return None
    return {
        "uri": b" ".join(words[: at - 1]),
        "ip": words[at - 1],
        "date": words[at],
        "mime": b" ".join(words[at + 1 : -rest]),
        "length": words[-1],
        "checksum": tail[1] if rest == _REST_OF_V2 else b"",
    }


def _date_place(words: list[bytes], rest: int) -> int | None:
    """The last word that can be a date."""
    dates = (at for at in range(len(words) - rest - 2, 1, -1) if _is_number(words[at], 8))
    return next(dates, None)


def _place_beside_address(words: list[bytes], rest: int) -> int | None:
    """The place of the date if the media type is one word; the date or the word before it must
    be an IP address.
    """
    at = len(words) - rest - 2
    return at if at > 1 and any(map(_ADDRESS.match, words[at - 1 : at + 1])) else None


def _is_rest_of_v2(words: list[bytes]) -> bool:
    if len(words) < _REST_OF_V2 or not all(words):
        return False
    status, _, _, offset, _, _ = words
    return _STATUS.match(status) is not None and (offset == b"-" or offset.isdigit())


def _is_number(word: bytes, least: int) -> bool:
    return word.isdigit() and least <= len(word) <= 18
