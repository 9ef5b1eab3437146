"""ARC record headers: one line of fields, presented as a WARC header.

    version 1:  URL IP date media-type length
    version 2:  URL IP date media-type status checksum location offset file length

URLs may contain spaces, and dates have 8 to 18 digits; so the line is matched from its
right end.  Writers also wrote the date before the IP address, text after the date, `None` or
`-` for an address, and lengths that are no number.
Source: Burner and Kahle, "Arc File Format", 1996.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .field_names import CONTENT_LENGTH, CONTENT_TYPE, WARC_DATE, WARC_IP_ADDRESS, WARC_TARGET_URI
from .header import Header

# Its path, and no bytes of a gzip member that follows damage.
_FILEDESC = re.compile(rb"filedesc:[^\s\x00-\x1f][^\x00-\x08\x0e-\x1f]*\Z")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_ADDRESS = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}\Z")
# What stands where the address is not known, or is one of IPv6.
_ADDRESS_OR_NONE = re.compile(
    _ADDRESS.pattern + rb"|(?:-|none|null|unknown|[0-9a-f]*:[0-9a-f:.]*(?:%\S*)?)\Z", re.IGNORECASE
)
_DATE_AND_TEXT = re.compile(rb"(\d{14})\D\S*\Z")
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

    @property
    def has_address(self) -> bool:
        """Whether an IP address is there, or a word for none."""
        return _ADDRESS_OR_NONE.match(self._values.get("ip", b"")) is not None


def match_arc_header(data: bytes, *, is_expected: bool = False) -> ArcHeader | None:
    """The ARC header line that `data` begins with; None if it begins with none.

    Where a record is expected, and in the first line of a file, less is enough: an IP address
    among as many fields, with any word as the date; or an address and a date where the media
    type is missing or the length is no number; or a date alone.  The URL may contain a CR.
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
    for place in _PLACES if is_expected else _PLACES[:_SURE_PLACES]:
        for version, rest in (("ARC/2.0", _REST_OF_V2), ("ARC/1.0", 1)):
            values = _values(words, rest, place)
            if values is not None:
                return ArcHeader(raw, values, version)
    if is_first:
        return ArcHeader(raw, {"uri": line.split(None, 1)[0]}, "ARC/1.0")
    return None


class _Fields(NamedTuple):
    """The fields before the `rest` of a line; `uri_words` is how many words the URI has."""

    uri_words: int
    ip: bytes
    date: bytes
    mime: bytes


_Place = Callable[[list[bytes], int], _Fields | None]


def _values(words: list[bytes], rest: int, place: _Place) -> dict[str, bytes] | None:
    """URI, IP, date, media type, and `rest` words; `place` finds the first four."""
    tail = words[-rest:]
    if rest == _REST_OF_V2 and not _is_rest_of_v2(tail):
        return None
    if place is not _with_any_length and not _is_number(words[-1], 1):
        return None
    fields = place(words, rest)
    if fields is None:
        return None
    return {
        "uri": b" ".join(words[: fields.uri_words]),
        "ip": fields.ip,
        "date": fields.date,
        "mime": fields.mime,
        "length": words[-1] if b"/" not in words[-1] else b"",
        "checksum": tail[1] if rest == _REST_OF_V2 else b"",
    }


def _date_before_address(words: list[bytes], rest: int) -> _Fields | None:
    """The last IP address before the media type with a date before it, and none after it."""
    for at in range(len(words) - rest - 2, 1, -1):
        if _is_number(words[at], 12):
            return None
        is_date_first = _is_number(words[at - 1], 8) and not _ADDRESS.match(words[at - 2])
        if is_date_first and _ADDRESS.match(words[at]):
            return _Fields(at - 1, words[at], words[at - 1], b" ".join(words[at + 1 : -rest]))
    return None


def _date_and_text(words: list[bytes], rest: int) -> _Fields | None:
    """A date of 14 digits with text after it, after an address or a word for none; and no date
    of digits after it.
    """
    for at in range(len(words) - rest - 2, 1, -1):
        if _is_number(words[at], 12):
            return None
        date = _DATE_AND_TEXT.match(words[at])
        if date and _ADDRESS_OR_NONE.match(words[at - 1]):
            return _at(words, rest, at, date[1])
    return None


def _date_of_digits(words: list[bytes], rest: int) -> _Fields | None:
    """The last word that can be a date."""
    dates = (at for at in range(len(words) - rest - 2, 1, -1) if _is_number(words[at], 8))
    at = next(dates, None)
    return None if at is None else _at(words, rest, at, words[at])


def _word_beside_address(words: list[bytes], rest: int) -> _Fields | None:
    """A date of any form if the media type is one word; the date or the word before it must
    be an IP address.
    """
    at = len(words) - rest - 2
    if at < 2 or not any(map(_ADDRESS.match, words[at - 1 : at + 1])):
        return None
    if _is_number(words[at + 1], 12):
        return _Fields(at - 1, words[at - 1], words[at + 1], words[at])
    return _at(words, rest, at, words[at])


def _without_type(words: list[bytes], rest: int) -> _Fields | None:
    """An address, or a word for none, and a date; no media type."""
    at = len(words) - rest - 1
    is_one = at > 1 and _is_number(words[at], 12) and _ADDRESS_OR_NONE.match(words[at - 1])
    return _at(words, rest, at, words[at]) if is_one else None


def _without_address(words: list[bytes], rest: int) -> _Fields | None:
    """A date after the first word, and a media type."""
    is_one = len(words) - rest > 2 and _is_number(words[1], 12)
    return _Fields(1, b"", words[1], b" ".join(words[2:-rest])) if is_one else None


def _with_any_length(words: list[bytes], rest: int) -> _Fields | None:
    """A date of digits after an address, before a length that is missing or no number."""
    if b"/" in words[-1]:
        if rest > 1:
            return None
        words = [*words, b""]
    for at in range(len(words) - rest - 1, 1, -1):
        if _is_number(words[at], 12) and _ADDRESS_OR_NONE.match(words[at - 1]):
            return _at(words, rest, at, words[at])
    return None


_PLACES: tuple[_Place, ...] = (
    _date_before_address,
    _date_and_text,
    _date_of_digits,
    _word_beside_address,
    _without_type,
    _without_address,
    _with_any_length,
)
# Those that suffice where no record is expected.
_SURE_PLACES = 3


def _at(words: list[bytes], rest: int, at: int, date: bytes) -> _Fields:
    return _Fields(at - 1, words[at - 1], date, b" ".join(words[at + 1 : -rest]))


def _is_rest_of_v2(words: list[bytes]) -> bool:
    if len(words) < _REST_OF_V2 or not all(words):
        return False
    status, _, _, offset, _, _ = words
    return _STATUS.match(status) is not None and (offset == b"-" or offset.isdigit())


def _is_number(word: bytes, least: int) -> bool:
    return word.isdigit() and least <= len(word) <= 18
