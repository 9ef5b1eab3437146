"""The field in which a revisit written by Pinakes keeps the lines that it replaced.

    Pinakes-Replaced: version=1; run=RUN; crc32=HEX; added=N; L=LINE; L=LINE; ...

It is the last line of the header.  `added` is the number of lines added at the end of
the header, this one included.  `L` is the number of a header line (the version line is 1),
and `LINE` the line that was there, without its line end.  It is percent-encoded: blank,
`%`, `;` and backslash never stand for themselves, so that awk or sed can parse it.  `crc32`
is the checksum of the whole original record, closing line ends included: it verifies a
restored record.

Header lines are physical lines here; a folded field is several lines.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pinakes.errors import MalformedRecord

REPLACED_FIELD = "Pinakes-Replaced"
_PREFIX = f"{REPLACED_FIELD}: ".encode()
_BARE = frozenset(b"!\"#$&'()*+,-./0123456789:<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
                  b"abcdefghijklmnopqrstuvwxyz{|}~")  # fmt: skip
_BARE_BYTES = bytes(_BARE)
_ENCODED = [bytes((byte,)) if byte in _BARE else b"%%%02X" % byte for byte in range(256)]
_UNREADABLE = f"{REPLACED_FIELD} is not in a form this version can read"
_HEX_DIGITS = frozenset("0123456789abcdef")


class ReplacedLines(NamedTuple):
    """The values of the field: lines added, the record's old checksum, old lines by index.

    Index 0 is the version line.
    """

    run: str
    crc32: int
    added: int
    lines: dict[int, bytes]


def format_replaced(replaced: ReplacedLines) -> bytes:
    """The field's line, without a line end."""
    run, crc32, added, lines = replaced
    first = f"version=1; run={run}; crc32={crc32:08x}; added={added}"
    parts = [_PREFIX + first.encode("ascii")]
    parts += [b"%d=%b" % (at + 1, encode_line(raw)) for at, raw in lines.items()]
    return b"; ".join(parts)


def is_bare(raw: bytes) -> bool:
    """Whether these bytes need no encoding."""
    return not raw.translate(None, _BARE_BYTES)


def encode_line(raw: bytes) -> bytes:
    """Bytes as they stand in the field."""
    odd = raw.translate(None, _BARE_BYTES)
    # Nearly every line has one blank and nothing else to encode.
    if odd.strip(b" "):
        return b"".join(map(_ENCODED.__getitem__, raw))
    return raw.replace(b" ", b"%20")


def decode_line(text: str) -> bytes:
    """What such text stands for."""
    raw = text.encode("utf-8", "surrogateescape")
    if raw.count(b"%") != raw.count(b"%20"):
        return unquote_to_bytes(raw)
    return raw.replace(b"%20", b" ")


def parse_replaced(value: str) -> ReplacedLines:
    """Parse the value of the field.

    Raises:
        MalformedRecord: if it has another version, or is not consistent.
    """
    named: dict[str, str] = {}
    lines: dict[int, bytes] = {}
    for part in value.split("; "):
        key, equals, text = part.partition("=")
        number = _number(key) if key.isdigit() else None
        if number is not None:
            if number < 2 or number - 1 in lines:
                raise MalformedRecord(_UNREADABLE)
            lines[number - 1] = decode_line(text)
        elif not equals or named.setdefault(key, text) is not text:
            raise MalformedRecord(_UNREADABLE)
    added, crc32 = _number(named.get("added", "")), named.get("crc32", "")
    if named.get("version") != "1" or not added or not 0 < len(crc32) <= 8:
        raise MalformedRecord(_UNREADABLE)
    if not _HEX_DIGITS.issuperset(crc32):
        raise MalformedRecord(_UNREADABLE)
    return ReplacedLines(named.get("run", ""), int(crc32, 16), added, lines)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None
