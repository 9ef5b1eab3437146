"""Index lines, as bytes: what a row of `captures` says in the words of a CDXJ line.

    row key    org,example)/page 20240229123456789 7OCLLO7O
               `----urlkey-----' `-----time------' `-mark-'
    m:capture  {"v":2,"url":...,"mime":...,"length":...,"offset":...,"filename":...,"type":...
                      `--------------------- the line's fields ----------------------'

The fields of a line are kept as they are stored, JSON between the braces, and are read only where
a filter or another format asks for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from pinakes.hbase_schema.capture_cells import CaptureFacts, ExternalLine
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.index.cdxj import encode_no_utf8
from pinakes.row_store.port import Row

EXTERNAL = b'"url":'
WITHDRAWN = b'"act":'
PLACE = b',"offset":"'
SHARED = b',"inner_offset":'
"""Of a record that is not the first of its gzip member, within `SHARED_WITHIN` bytes after the
name of its file: no offset leads to it alone, and who takes the member gets another record."""
SHARED_WITHIN = 400
VALUES = (CaptureFacts.COLUMN, ExternalLine.COLUMN, Withdrawal.COLUMN)
"""What a line is made of.  Of a capture that was withdrawn, the last of these is read alone."""

UNREADABLE = b"0" * 14
ZERO = ord("0")

# JSON text, between its quotes.
_TEXT = rb'"((?:[^"\\]|\\.)*)"'
_KNOWN = re.compile(
    rb'"url":' + _TEXT + rb'(?:,"mime":' + _TEXT + rb')?(?:,"status":' + _TEXT + rb")?"
    rb'(?:,"digest":' + _TEXT + rb')?(?:,"length":' + _TEXT + rb')?(?:,"offset":' + _TEXT + rb")?"
    rb'(?:,"filename":' + _TEXT + rb")?(?:,(.*))?\Z",
    re.DOTALL,
)
NAMES = ("url", "mime", "status", "digest", "length", "offset", "filename")
_ALIASES = {
    "original": "url",
    "u": "url",
    "mimetype": "mime",
    "m": "mime",
    "statuscode": "status",
    "s": "length",  # pywb's, too
    "d": "digest",
    "o": "offset",
    "l": "length",
    "f": "filename",
    "t": "timestamp",
    "k": "urlkey",
    "redirecturl": "redirect",
    "robotflags": "robots",
}


class Line(NamedTuple):
    """One line.  `fields` are those of CDXJ, JSON without its braces; `key` is the row's key."""

    urlkey: bytes
    timestamp: bytes
    fields: bytes
    key: bytes

    def cdxj(self) -> bytes:
        """The line in CDXJ, with its line end."""
        return b"%b %b {%b}\n" % (self.urlkey, self.timestamp, self.fields)

    def in_unicode(self) -> Line:
        """The same line as every client can read it: see `in_unicode`."""
        return self.with_fields(in_unicode(self.fields))

    def values(self) -> dict[str, str]:
        """The line's values by name; what is unknown is left out."""
        match = _KNOWN.match(self.fields)
        if match is None:
            found = {
                name: _written(value) for name, value in json.loads(b"{%b}" % self.fields).items()
            }
        else:
            found = {
                name: text_of(raw)
                for name, raw in zip(NAMES, match.groups(), strict=False)
                if raw is not None
            }
            if match[8] is not None:
                more = json.loads(b"{%b}" % match[8])
                found.update((name, _written(value)) for name, value in more.items())
        return {
            "urlkey": self.urlkey.decode("ascii"),
            "timestamp": self.timestamp.decode("ascii"),
        } | found

    def value(self, name: str) -> str | None:
        """One value; None if it is unknown."""
        if name == "urlkey":
            return self.urlkey.decode("ascii")
        if name == "timestamp":
            return self.timestamp.decode("ascii")
        lead = b'"%b":"' % name.encode("utf-8", "replace")
        fields = self.fields
        if fields.startswith(lead):
            start = len(lead)
        else:
            # A quote within a value is escaped, so this is where a key begins.
            start = fields.find(b"," + lead) + 1
            if not start:
                return self.values().get(name) if b'"%b":' % lead[1:-3] in fields else None
            start += len(lead)
        end = fields.index(b'"', start)
        while fields[end - 1] == 0x5C and _is_escaped(fields, end):
            end = fields.index(b'"', end + 1)
        return text_of(fields[start:end])

    def with_fields(self, fields: bytes) -> Line:
        """The same line with other fields."""
        return Line(self.urlkey, self.timestamp, fields, self.key)


def canonical_name(name: str) -> str:
    """The name of a field as CDXJ has it: `original` is `url`, `statuscode` `status`."""
    return _ALIASES.get(name, name)


def values_of(rows: Iterable[Row]) -> dict[bytes, bytes]:
    """The stored values by row key, as a scan of `VALUES` gives them."""
    return {row.key: row.cells[max(row.cells)].value for row in rows}


def old_name(value: bytes) -> bytes:
    """The file name in a `m:capture` of another version, as JSON text without its quotes."""
    return encoded_text(decode_cell(CaptureFacts, value).archive_file)


def encoded(values: dict[str, str]) -> bytes:
    """Values as JSON without braces: in UTF-8, or in ASCII if a byte of them is not UTF-8."""
    try:
        return json.dumps(values, separators=(",", ":"), ensure_ascii=False).encode()[1:-1]
    except UnicodeEncodeError:
        return json.dumps(values, separators=(",", ":")).encode("ascii")[1:-1]


def encoded_text(text: str) -> bytes:
    """A text as JSON text without its quotes, as cells have it."""
    return encoded({"": text})[4:-1]


def has_raw_bytes(text: bytes) -> bool:
    """Whether JSON may have bytes that are not UTF-8, as lone surrogates: no Unicode."""
    return b"\\" in text and b"\\udc" in text  # the first is much faster, and nearly always decides


def in_unicode(fields: bytes) -> bytes:
    """JSON without braces, with such bytes percent-encoded as in URLs; but names of files stay as
    they are, since the files are found by them."""
    if not has_raw_bytes(fields):
        return fields
    found = json.loads(b"{%b}" % fields)
    for name, value in found.items():
        if isinstance(value, str) and not name.endswith("filename"):
            found[name] = encode_no_utf8(value)
    return encoded(found)


def text_of(raw: bytes) -> str:
    """The text of JSON text without its quotes."""
    return str(json.loads(b'"%b"' % raw)) if b"\\" in raw else raw.decode()


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _is_escaped(fields: bytes, quote: int) -> bool:
    slashes = len(fields[:quote]) - len(fields[:quote].rstrip(b"\\"))
    return slashes % 2 == 1
