"""The hash manifest: one line per capture, space-separated.

    FILE OFFSET LENGTH URI DATE ALGORITHM:DIGEST [EXTENSION [COPY [ORIGINAL-URI ORIGINAL-DATE]]]
    [key=value ...]

The columns are WARCsum's and WARCrefs' ("hash manifest"); the `key=value` fields are
ours.  A column that is unknown but must be there, since a later one is, reads `-`.
Spaces, control characters, `%` and bytes that are no UTF-8 are percent-encoded in
names and URIs, reversibly.  Lengths are bytes of the compressed member, or, in an
uncompressed file, up to the end of the block.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pinakes.errors import MalformedRecord

_TO_ENCODE = re.compile("[\x00-\x20%\x7f-\xa0\u2028\u2029\ud800-\udfff]")


class ManifestLine(NamedTuple):
    """One capture.  `None` is unknown.

    A tuple and no dataclass: a chain builds several of these per record, and a frozen
    dataclass of this many fields takes four times as long to build.

    `type` is None for a response.  `inner_offset` tells records of one gzip member
    apart.  The `original_` fields are set by `process` where `copy_number` is above 1.
    """

    file: str
    offset: int
    length: int
    target_uri: str
    date: str
    digest: str
    hash_extension: int | None = None
    copy_number: int | None = None
    original_uri: str | None = None
    original_date: str | None = None
    size: int | None = None
    status: int | None = None
    skip: str | None = None
    type: str | None = None
    ctype: str | None = None
    inner_offset: int = 0
    record_id: str | None = None
    refers_uri: str | None = None
    refers_date: str | None = None
    refers_id: str | None = None
    original_file: str | None = None
    original_offset: int | None = None
    original_length: int | None = None
    original_inner_offset: int = 0


# Key in the text, field, whether it is a number.
_KEYS = (
    ("size", "size", True),
    ("status", "status", True),
    ("skip", "skip", False),
    ("type", "type", False),
    ("ctype", "ctype", False),
    ("inner", "inner_offset", True),
    ("id", "record_id", False),
    ("refers_uri", "refers_uri", False),
    ("refers_date", "refers_date", False),
    ("refers_id", "refers_id", False),
    ("original_file", "original_file", False),
    ("original_offset", "original_offset", True),
    ("original_length", "original_length", True),
    ("original_inner", "original_inner_offset", True),
)
_FIELDS = {key: (field, number) for key, field, number in _KEYS}
_PLAIN_COLUMNS = 10


def encode_name(text: str) -> str:
    """Percent-encode what would break a line; `-` alone stands for the empty text."""
    if _TO_ENCODE.search(text) is None:
        return text if text not in ("", "-") else "-" if not text else "%2D"
    return _TO_ENCODE.sub(
        lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8", "surrogateescape")), text
    )


def decode_name(text: str) -> str:
    """Undo `encode_name`."""
    if text == "-":
        return ""
    if "%" not in text:
        return text
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape")


def format_line(line: ManifestLine, *, plain: bool = False) -> str:
    """The line as text, without a line end; `plain` leaves our own fields out."""
    text = (
        f"{encode_name(line.file)} {line.offset} {line.length} "
        f"{encode_name(line.target_uri)} {encode_name(line.date)} {encode_name(line.digest)}"
    )
    if line.hash_extension is not None or line.copy_number is not None:
        text += f" {'-' if line.hash_extension is None else line.hash_extension}"
    if line.copy_number is not None:
        text += f" {line.copy_number}"
        if line.original_uri is not None:
            text += f" {encode_name(line.original_uri)} {encode_name(line.original_date or '')}"
    if plain:
        return text
    for key, field, number in _KEYS:
        value = getattr(line, field)
        if value is None or (number and not value and field.endswith("inner_offset")):
            continue
        text += f" {key}={value if number else encode_name(value)}"
    return text


def parse_line(text: str, *, number: int | None = None) -> ManifestLine:
    """Read a line of ours, or one of the 6, 8 or 10 columns of other tools.

    Unknown keys are passed over: a later version may write more.

    Raises:
        MalformedRecord: naming the line's number, where it is given.
    """
    parts = text.split()
    # Extension and copy are numbers; the original's URI and date stand behind a copy.
    end = min(len(parts), 6)
    while end < min(len(parts), 8) and (parts[end].isdigit() or parts[end] == "-"):
        end += 1
    if end == 8 and len(parts) >= _PLAIN_COLUMNS and parts[7] not in ("0", "1", "-"):
        end = _PLAIN_COLUMNS
    try:
        return _build(parts[:end], parts[end:])
    except (ValueError, IndexError) as error:
        where = f"line {number}" if number is not None else "a line"
        raise MalformedRecord(f"{where} is no manifest line: {text[:200]!r}") from error


def _build(columns: list[str], fields: list[str]) -> ManifestLine:
    file, offset, length, uri, date, digest = columns[:6]
    named: dict[str, object] = {}
    for text in fields:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(text)
        if key not in _FIELDS:
            continue
        field, number = _FIELDS[key]
        named[field] = int(value) if number else decode_name(value)
    rest = [None if text == "-" else text for text in columns[6:]]
    extension, copy, original_uri, original_date = (*rest, None, None, None, None)[:4]
    return ManifestLine(
        decode_name(file),
        int(offset),
        int(length),
        decode_name(uri),
        decode_name(date),
        decode_name(digest),
        None if extension is None else int(extension),
        None if copy is None else int(copy),
        None if original_uri is None else decode_name(original_uri),
        None if original_date is None else decode_name(original_date),
        **named,  # type: ignore[arg-type]
    )
