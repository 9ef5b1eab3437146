"""The header of a record: its bytes as written, and its fields by name.

The bytes are kept, and a header is never written from its parsed form.  Parsing is lazy,
because most callers need only three fields of most records.
Source: ISO 28500:2017 §4 (syntax of `warc-header`, folded lines, any case).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .field_names import (
    CONTENT_LENGTH,
    CONTENT_TYPE_KEY,
    WARC_DATE_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_RECORD_ID_KEY,
    WARC_REFERS_TO_DATE_KEY,
    WARC_REFERS_TO_KEY,
    WARC_REFERS_TO_TARGET_URI_KEY,
    WARC_TARGET_URI_KEY,
    WARC_TYPE_KEY,
)

BLANK = " \t\r"
_LENGTH = f"\r\n{CONTENT_LENGTH}: ".encode()
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_FOLD = re.compile(r"\r?\n[ \t]+")


class HeaderLine(NamedTuple):
    """One field: its name and unfolded value, and its lines verbatim with their ends."""

    name: str
    value: str
    raw: bytes


class Header:
    """A record's header, from the version line to the blank line that closes it.

    `raw` is its bytes in the file.  Values are decoded from UTF-8; for other bytes,
    `value.encode("utf-8", "surrogateescape")` gives them back unchanged.
    """

    __slots__ = ("_index", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._index: dict[str, str] | None = None

    def __repr__(self) -> str:
        record_type = self.record_type or "no type"
        return shown(f"<Header {self.version} {record_type}, {len(self.fields())} fields>")

    def get(self, name: str) -> str | None:
        """The value of the first field of that name, in any case; None if there is none."""
        index = self._index
        if index is None:
            index = self._index = self._first_values()
        return index.get(name.lower())

    def field(self, lower_name: str) -> str | None:
        """`get` for a name in lower case (`field_names`, `_KEY`): for the inner loop."""
        index = self._index
        if index is None:
            index = self._index = self._first_values()
        return index.get(lower_name)

    def has_any(self, lower_names: frozenset[str]) -> bool:
        """Whether there is a field of one of these names, given in lower case."""
        index = self._index
        if index is None:
            index = self._index = self._first_values()
        return not lower_names.isdisjoint(index)

    def outline(self) -> tuple[str | None, str | None, str | None]:
        """Target URI and record id without brackets, and the date between them."""
        return (
            bare_uri(self.field(WARC_TARGET_URI_KEY)),
            self.field(WARC_DATE_KEY),
            strip_brackets(self.field(WARC_RECORD_ID_KEY)),
        )

    def refers_to(self) -> tuple[str | None, str | None, str | None]:
        """Of a revisit: URI and record id of the original without brackets, its date between."""
        return (
            strip_brackets(self.field(WARC_REFERS_TO_TARGET_URI_KEY)),
            self.field(WARC_REFERS_TO_DATE_KEY),
            strip_brackets(self.field(WARC_REFERS_TO_KEY)),
        )

    @property
    def record_type(self) -> str:
        """WARC-Type in lower case; "" where there is none."""
        return (self.field(WARC_TYPE_KEY) or "").lower()

    @property
    def payload_digest(self) -> str | None:
        """WARC-Payload-Digest as written."""
        return self.field(WARC_PAYLOAD_DIGEST_KEY)

    @property
    def declares_http(self) -> bool:
        """Whether Content-Type says that the block is an HTTP message."""
        return (self.field(CONTENT_TYPE_KEY) or "")[:16].lower() == "application/http"

    def get_all(self, name: str) -> list[str]:
        """Every field of that name, in order (`WARC-Concurrent-To` may repeat)."""
        name = name.lower()
        return [value for field, value in self.fields() if field.lower() == name]

    def fields(self) -> list[tuple[str, str]]:
        """(name, value) of every field, in order, folded lines joined by a space.

        A line without a colon is not a field; `pinakes check` reports it.
        """
        split = [line.partition(":") for line in self._unfolded().split("\n")[1:]]
        return [(name.strip(BLANK), value.strip(BLANK)) for name, colon, value in split if colon]

    def _unfolded(self) -> str:
        text = self.raw.decode("utf-8", "surrogateescape")
        return _FOLD.sub(" ", text) if "\n " in text or "\n\t" in text else text

    def _first_values(self) -> dict[str, str]:
        # `fields`, inlined: it runs for every record of every archive.
        index = {}
        for line in reversed(self._unfolded().split("\n")):
            name, colon, value = line.partition(":")
            if colon:
                index[name.strip(BLANK).lower()] = value.strip(BLANK)
        return index

    @property
    def version(self) -> str:
        """The version line, such as `WARC/1.1`."""
        return self.raw[: self.raw.find(b"\n")].strip().decode("utf-8", "replace")

    @property
    def line_end(self) -> bytes:
        """How lines of this header end: CRLF, or LF if the writer left out the CR."""
        first = self.raw.find(b"\n")
        return b"\r\n" if self.raw[first - 1 : first] == b"\r" else b"\n"

    def lines(self) -> list[HeaderLine]:
        """Every field with its bytes; with version line and blank line they add up to `raw`.

        A line that is not a field has the name "".
        """
        fields: list[list[bytes]] = []
        for raw in _LINE.findall(self.raw)[1:]:
            if raw[:1] in (b" ", b"\t") and fields:
                fields[-1].append(raw)
            elif raw not in (b"\n", b"\r\n"):
                fields.append([raw])
        return [_header_line(*field) for field in fields]


def _header_line(first: bytes, *folded: bytes) -> HeaderLine:
    name, colon, value = first.partition(b":")
    name, value = (name, value) if colon else (b"", first)
    if not folded:
        return HeaderLine(_text(name), _text(value), first)
    text = " ".join(filter(None, map(_text, (value, *folded)))).strip()
    return HeaderLine(_text(name), text, b"".join((first, *folded)))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape").strip(" \t\r\n")


def shown(text: str) -> str:
    """Text of a file for people: on one line, without control characters."""
    return text if text.isprintable() else repr(text)[1:-1]


def strip_brackets(uri: str | None) -> str | None:
    """A URI without the `<>` that WARC/1.0 puts around it; also without `‹›`, seen in files."""
    if uri is None:
        return None
    if uri[:1] == "<" and uri[-1] == ">":
        return uri[1:-1]
    uri = uri.strip()
    if uri[:1] in ("<", "‹"):
        return uri[1:-1] if uri[-1:] in (">", "›") else uri[1:]
    return uri


def bare_uri(uri: str | None) -> str | None:
    """A target URI without brackets, otherwise as written."""
    return strip_brackets(uri) if uri and uri[0] in "<‹ " else uri


def record_bytes(start: bytes) -> int | None:
    """The length of the record that begins so, closing line ends included, as it says.

    None where it does not say, or not in the usual way.
    """
    end = start.find(b"\n\r\n")
    at = start.find(_LENGTH, 0, end + 3)
    if end < 0 or at < 0:
        return None
    digits = start[at + len(_LENGTH) : start.index(b"\r", at + len(_LENGTH))]
    return end + 3 + int(digits) + 4 if digits.isdigit() and len(digits) < 19 else None
