"""The hash manifest: one line per capture, space-separated.

    FILE OFFSET LENGTH URI DATE ALGORITHM:DIGEST [EXTENSION [COPY [ORIGINAL-URI ORIGINAL-DATE]]]
    [key=value ...]

The columns are those of WARCsum and WARCrefs ("hash manifest"); the `key=value` fields
are added by Pinakes (docs/manifest.md).  An unknown column is `-` if a later one is known.
Spaces, control characters, `%` and bytes that are not UTF-8 are percent-encoded in names
and URIs, reversibly.  Lengths are bytes of the compressed
member, or, in an uncompressed file, up to the end of the block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from sys import intern
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from pinakes.errors import MalformedRecord

from .seconds import second_of

_TO_ENCODE = re.compile("[\x00-\x20%\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_NAMELESS = frozenset({"", "-"})
_BLANK = re.compile("[ \t]+")


class ManifestLine(NamedTuple):
    """One capture.  `None` is unknown.

    A tuple and not a dataclass: the dedupe chain builds several of these per record, sorts
    and spills them, and a frozen dataclass of so many fields takes four times as long to
    build.

    `type` is None for a response; `digest` is `-` where a revisit declares none.
    `inner_offset` distinguishes records of one gzip member.  The `original_` fields are set
    by `process` where `copy_number` is above 1; `full` says why a copy stays a full record
    all the same.  `also` holds further digests that the payload answers to (de-chunked,
    declared), joined by commas, the declared one last.  `marks` carries what only the whole
    manifest can show (see `dedupe.decide.flags`) into its parts.
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
    full: str | None = None
    also: str | None = None
    marks: str | None = None

    @property
    def is_duplicate(self) -> bool:
        """Whether it was decided that the record is to become a revisit."""
        return self.copy_number is not None and self.copy_number > 1


# Key in the text, field, whether it is a number; in the order they are written.
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
    ("full", "full", False),
    ("also", "also", False),
    ("marks", "marks", False),
)
_PLACES = {key: (ManifestLine._fields.index(field), number) for key, field, number in _KEYS}
_UNSET = (0, 0, 0, "", "", "", *ManifestLine._field_defaults.values())
# Keys that most lines do not have, fetched together.
_RARE = tuple(item for item in _KEYS if item[0] not in ("size", "status", "id"))
_rare_values: Callable[[ManifestLine], tuple[object, ...]] = attrgetter(
    *(field for _, field, _ in _RARE)
)
_RARE_UNSET = tuple(ManifestLine._field_defaults[field] for _, field, _ in _RARE)
# Faster than the constructor of the class, which handles keywords.
_make: Callable[[Iterable[object]], ManifestLine] = ManifestLine._make


# The text before, between and after the values of a common line.
_DECISION, _MIDDLE, _REST = _UNSET[6:10], _UNSET[12:16], _UNSET[17:25]


def _is_plain_text(text: str) -> bool:
    """True if certainly nothing needs encoding; half the cost of the pattern."""
    return text.isascii() and text.isprintable() and " " not in text and "%" not in text


def encode_name(text: str) -> str:
    """Percent-encode characters that would break a line; `-` alone is the empty text."""
    if len(text) > 1 and _is_plain_text(text):
        return text
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
    return unquote_to_bytes(text.encode("utf-8", "surrogateescape")).decode(
        "utf-8", "surrogateescape"
    )


def format_line(line: ManifestLine, *, plain: bool = False) -> str:
    """The line as text, without a line end; `plain` omits the `key=value` fields."""
    return _format_common(line, plain) or _format_any(line, plain)


def _format_common(line: ManifestLine, plain: bool) -> str | None:
    """The line of an intact response, as most are; None if the line has other fields."""
    if line[6:10] != _DECISION or line[12:16] != _MIDDLE or line[17:25] != _REST:
        return None
    file, offset, length, uri, date, digest = line[:6]
    size, status, record_id, also = line.size, line.status, line.record_id, line.also
    if size is None or status is None or record_id is None or line.marks is not None:
        return None
    names = (file, uri, date, digest, record_id, digest if also is None else also)
    if not _is_plain_text("".join(names)) or not _NAMELESS.isdisjoint(names):
        return None
    text = f"{file} {offset} {length} {uri} {date} {digest}"
    if plain:
        return text
    text += f" size={size} status={status} id={record_id}"
    return text if also is None else f"{text} also={also}"


def _format_any(line: ManifestLine, plain: bool) -> str:
    file, offset, length, uri, date, digest, extension, copy, original_uri, original_date = line[
        :10
    ]
    names = f"{file}{uri}{date}{digest}"
    if (
        (_is_plain_text(names) or _TO_ENCODE.search(names) is None)
        and _NAMELESS.isdisjoint((file, uri, date))
        and digest
    ):
        text = f"{file} {offset} {length} {uri} {date} {digest}"
    else:
        # A missing digest is `-` in the value, too.
        text = f"{encode_name(file)} {offset} {length} {encode_name(uri)} {encode_name(date)} "
        text += "-" if digest == "-" else encode_name(digest)
    if extension is not None or copy is not None:
        text += f" {'-' if extension is None else extension}"
        if copy is not None:
            text += f" {copy}"
            if original_uri is not None:
                text += f" {encode_name(original_uri)} {encode_name(original_date or '')}"
    if plain:
        return text
    if line.size is not None:
        text += f" size={line.size}"
    if line.status is not None:
        text += f" status={line.status}"
    if line.record_id is not None:
        text += f" id={encode_name(line.record_id)}"
    rare = _rare_values(line)
    return text if rare == _RARE_UNSET else text + _format_rare(rare)


def _format_rare(values: tuple[object, ...]) -> str:
    text = ""
    for (key, _, number), value, unset in zip(_RARE, values, _RARE_UNSET, strict=True):
        if value is not None and value != unset:
            text += f" {key}={value if number else encode_name(str(value))}"
    return text


def parse_line(text: str, *, number: int | None = None) -> ManifestLine:
    """Parse a line written by Pinakes, or one with the 6 to 10 columns of other tools.

    Unknown keys are ignored: a later version may write more.

    Raises:
        MalformedRecord: naming the line's number, where it is given.
    """
    text = text.rstrip("\r\n")
    parts = text.split(" ")
    if "" in parts or "\t" in text:
        parts = _BLANK.split(text.strip(" \t"))
    try:
        return _build(parts)
    except (ValueError, IndexError) as error:
        where = f"line {number}" if number is not None else "a line"
        raise MalformedRecord(
            f"{where} is not a manifest line: {text[:200]!r}", kind="not a manifest line"
        ) from error


def _build(parts: list[str]) -> ManifestLine:
    values: list[object] = list(_UNSET)
    file, offset, length, uri, date, digest = parts[:6]
    if "%" in file or "%" in uri or "-" in (file, uri, date):
        file, uri = decode_name(file), decode_name(uri)
    values[:6] = (
        # One string for all lines of a file: less memory, faster sorting.
        intern(file),
        _count(offset),
        _count(length),
        uri,
        decode_name(date) if "%" in date or date == "-" else date,
        decode_name(digest) if "%" in digest else digest,
    )
    end = _read_columns(parts, values) if len(parts) > 6 else 6
    for part in parts[end:]:
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(part)
        place = _PLACES.get(key)
        if place is not None:
            at, is_number = place
            values[at] = _count(value) if is_number else decode_name(value)
    return _make(values)


def _read_columns(parts: list[str], values: list[object]) -> int:
    """Read columns 7 to 10, as many as there are; return the index after them."""
    end = 6
    for at in (6, 7):
        if end < len(parts) and (parts[end] == "-" or parts[end].isdecimal()):
            values[at] = None if parts[end] == "-" else _count(parts[end])
            end += 1
    copy = values[7]
    if end < 8 or not isinstance(copy, int):
        return end
    # WARCsum writes `- -` after the copy number of an original, too.
    if parts[8:10] == ["-", "-"]:
        return 10
    if copy > 1 and len(parts) >= 10:
        values[8], values[9] = decode_name(parts[8]), decode_name(parts[9])
        return 10
    return end


def _count(text: str) -> int:
    # int() would accept "-1", "1_000" and digits of other scripts.
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def parse_lines(texts: Iterable[str]) -> Iterator[ManifestLine]:
    """Parse a manifest, lazily; blank lines are ignored.

    Raises:
        MalformedRecord: naming the line's number.
    """
    for number, text in enumerate(texts, 1):
        if not text.isspace():
            yield parse_line(text, number=number)


def estimate_line_bytes(line: ManifestLine) -> int:
    """The approximate memory of a line, for sorts that spill."""
    rest = 0 if line.refers_uri is None else len(line.refers_uri)
    return 750 + len(line.target_uri) + rest


def estimate_entry_bytes(entry: tuple[Any, ...]) -> int:
    """The same of a tuple of some fields whose last one is a line."""
    return 200 + estimate_line_bytes(entry[-1])


def place_of(line: ManifestLine) -> tuple[str, int, int]:
    """The place of the record: file, offset, offset in the member.  Identifies one record."""
    return line.file, line.offset, line.inner_offset


def content_order(line: ManifestLine) -> tuple[str, int, str, str, int, int]:
    """Digest, extension, second, file, offset, offset in the member: for processing."""
    second = second_of(line.date) or ""
    return (line.digest, line.hash_extension or 0, second, *place_of(line))
