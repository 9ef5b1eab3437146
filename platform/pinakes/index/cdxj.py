"""CDXJ, CDX-11 and CDX-9: the lines in which replay tools look up captures.

    CDXJ    urlkey SP timestamp SP {"url": ..., "mime": ..., ...}
    CDX-11  urlkey timestamp url mime status digest redirect robots length offset filename
    CDX-9   urlkey timestamp url mime status digest redirect offset filename

A CDX file names its columns in its first line, by letters; they may come in any order.  Some write
that line without its first blank, or in lower case.
Files are sorted as bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pinakes.errors import MalformedRecord

from .urlkey import urlkey

CDX_11 = "N b a m s k r M S V g"
CDX_9 = "N b a m s k r V g"
_COLUMNS = {
    "N": "urlkey",
    "A": "urlkey",  # not turned into a SURT
    "b": "timestamp",
    "a": "url",
    "m": "mime",
    "s": "status",
    "k": "digest",
    "r": "redirect",
    "M": "robots",
    "S": "length",
    "V": "offset",
    "g": "filename",
}
_JSON_KEYS = ("url", "mime", "status", "digest", "length", "offset", "filename", "redirect")
_ALWAYS = frozenset({"urlkey", "timestamp"})
_NUMBERS = frozenset({"length", "offset"})
_JSON_NUMBERS = _NUMBERS | {"status"}
_REQUEST_KEYS = ("method", "requestBody")
_NUMBER = re.compile("-?[0-9]+")
_TO_ENCODE = re.compile("[\x00-\x20\x7f\ud800-\udfff]")
_NO_UTF8 = re.compile("[\udc80-\udcff]+")


class CdxLine(NamedTuple):
    """One capture of an index; None is unknown.

    A tuple: an index has one for each capture of a collection.  `timestamp` has 14 digits,
    or 17 with milliseconds.  `digest` has no label if it is SHA-1 in Base32.  `extra` has
    the other keys of a CDXJ line.
    """

    urlkey: str
    timestamp: str
    url: str | None = None
    mime: str | None = None
    status: str | None = None
    digest: str | None = None
    length: int | None = None
    offset: int | None = None
    filename: str | None = None
    redirect: str | None = None
    robots: str | None = None
    extra: Mapping[str, object] | None = None


def format_cdxj(line: CdxLine) -> str:
    """The line as text, without a line end; unknown fields are left out.

    Bytes of a URL that are not UTF-8, and so cannot stand in JSON, are percent-encoded.
    """
    fields: dict[str, object] = {
        key: str(value) for key in _JSON_KEYS if (value := getattr(line, key)) is not None
    }
    if line.url is not None and not line.url.isascii():
        fields["url"] = encode_no_utf8(line.url)
    fields.update(line.extra or {})
    return f"{line.urlkey} {line.timestamp} {json.dumps(fields)}"


def parse_cdxj(text: str, *, number: int | None = None) -> CdxLine:
    """Read a CDXJ line; unknown keys are kept in `extra`.  A null is as if it were not there.

    Raises:
        MalformedRecord: naming the line's number, where it is given; also where a value that is to
            be text is something else, or a number is none.
    """
    try:
        key, timestamp, body = text.rstrip("\r\n").split(" ", 2)
        fields = {name: value for name, value in json.loads(body).items() if value is not None}
        int(timestamp)
        known = {name: _json_value(name, fields.pop(name)) for name in _JSON_KEYS if name in fields}
        for name in _REQUEST_KEYS:
            _json_value(name, fields.get(name, ""))
        return CdxLine(key, timestamp, **known, extra=fields or None)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _malformed(text, number, "CDXJ") from error


def format_cdx(line: CdxLine, columns: str = CDX_11) -> str:
    """The line as text, without a line end; unknown values are `-`.

    Blanks and control characters in URLs and names are percent-encoded.
    """
    values = (getattr(line, _COLUMNS[letter]) for letter in columns.split())
    return " ".join("-" if value in (None, "") else _encode(str(value)) for value in values)


def format_cdx_header(columns: str = CDX_11) -> str:
    """The first line of a CDX file; it begins with the delimiter."""
    return f" CDX {columns}"


def cdx_columns(text: str) -> list[str] | None:
    """The words after `CDX` in a line that names columns; None of any other line."""
    name, *words = text.split() if text.lstrip()[:3].upper() == "CDX" else [""]
    is_key = bool(words) and words[0].isdecimal()  # and a time, or a place
    return None if name.upper() != "CDX" or is_key else words


def parse_cdx(texts: Iterable[str]) -> Iterator[CdxLine]:
    """Read the lines of a CDX file, lazily; without a first line, by their number of columns.

    Columns with unknown letters are ignored.

    Raises:
        MalformedRecord: naming the line's number.
    """
    letters: list[str] | None = None
    for number, text in enumerate(texts, 1):
        words = cdx_columns(text)
        if words is None:
            if text.strip():
                yield parse_cdx_line(text, letters, number=number)
        elif all(len(word) == 1 for word in words):
            letters = words
        else:
            raise _malformed(text, number, "CDX")


def parse_cdx_line(text: str, letters: Sequence[str] | None = None, *, number: int) -> CdxLine:
    """Read a line of columns, by their letters, else by their number; without a urlkey, it is made
    from the URL.

    Raises:
        MalformedRecord: naming the line's number.
    """
    parts = text.split()
    if letters is None:
        letters = (CDX_9 if len(parts) == len(CDX_9.split()) else CDX_11).split()
    try:
        fields = {
            _COLUMNS[letter]: _value(_COLUMNS[letter], part)
            for letter, part in zip(letters, parts, strict=True)
            if letter in _COLUMNS and (part != "-" or _COLUMNS[letter] in _ALWAYS)
        }
        if "urlkey" not in fields:
            fields["urlkey"] = urlkey(str(fields["url"]))
        return CdxLine(**fields)  # type: ignore[arg-type]
    except (LookupError, ValueError, TypeError) as error:
        raise _malformed(text, number, "CDX") from error


def _json_value(name: str, value: object) -> str | int:
    if type(value) is int and name in _JSON_NUMBERS:
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(name)
    return _value(name, value)


def _value(name: str, text: str) -> str | int:
    if name not in _NUMBERS:
        return text
    if not _NUMBER.fullmatch(text):  # int() would take digits of other scripts
        raise ValueError(text)
    return int(text)


def encode_no_utf8(text: str) -> str:
    """The text with its bytes that are not UTF-8 percent-encoded."""
    return _NO_UTF8.sub(_percent, text)


def _encode(text: str) -> str:
    return _TO_ENCODE.sub(_percent, text)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{b:02X}" for b in found[0].encode("utf-8", "surrogateescape"))


def _malformed(text: str, number: int | None, form: str) -> MalformedRecord:
    where = f"line {number}" if number is not None else "a line"
    return MalformedRecord(f"{where} is not a {form} line: {text[:200]!r}")
