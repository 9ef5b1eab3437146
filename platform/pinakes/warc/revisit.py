"""Revisit records: built from a full record and its original, and turned back.

    full record                             revisit
    WARC/1.0                                WARC/1.0
    WARC-Type: response              ~>     WARC-Type: revisit
    ... every other line verbatim ...       ... every other line verbatim ...
    WARC-Block-Digest: sha1:A        ~>     WARC-Block-Digest: sha1:B
    Content-Length: 5120             ~>     Content-Length: 212
                                      +     WARC-Profile, WARC-Truncated,
                                      +     WARC-Refers-To, -Target-URI, -Date
                                      +     Pinakes-Replaced: the lines replaced
    HTTP head, body                  ~>     HTTP head

`Pinakes-Replaced` makes the step reversible with the original's body and nothing
else (docs/restore.md has the recipe in shell):

    Pinakes-Replaced: version=1; run=RUN; crc32=HEX; added=N; I=LINE; I=LINE; ...

`added` counts the lines at the header's end that were added, this one included; `I`
is the number of a replaced line (the version line is 0) and `LINE` its old bytes
with their line end, percent-encoded.  `crc32` is the checksum of the whole record as
it was, closing line ends included: what a restored record is proven by.

Sources: ISO 28500:2017 §6.7 (revisit), §5.15 (truncated); IIPC recommendation on
recording arbitrary duplicates, 2013.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pinakes.errors import MalformedRecord

from .digest import Digest, hasher, parse_digest
from .header import Header, HeaderLine, strip_brackets

REPLACED_FIELD = "Pinakes-Replaced"
IDENTICAL_PAYLOAD_1_0 = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
IDENTICAL_PAYLOAD_1_1 = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_ONCE = (
    "warc-type",
    "content-length",
    "warc-block-digest",
    "warc-payload-digest",
    "warc-target-uri",
    "warc-date",
    "warc-record-id",
)
_REFERENCE = ("warc-profile", "warc-truncated", REPLACED_FIELD.lower())
_SAFE = frozenset(b"!\"#$&'()*+,-./0123456789:<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                  b"abcdefghijklmnopqrstuvwxyz{|}~")  # fmt: skip
_ENCODED = [chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in range(256)]
_PART = re.compile(r"(\w+)=(\S*?)(?:; |\Z)")


class Unwritable(Exception):
    """This record cannot be written as a revisit that restores: it stays full.

    `reason` is a word for the count of records left full.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Original(NamedTuple):
    """What a revisit says of its original, verbatim from the original's own header."""

    target_uri: str
    date: str
    record_id: str | None
    payload_digest: str


def original_of(header: Header, stored_digest: Callable[[], Digest]) -> Original:
    """The reference to the record with this header.

    `stored_digest` gives the SHA-1 of its stored body, and is called only where the
    record declares no payload digest: indexers then compute that one.

    Raises:
        Unwritable: `original-unaddressable`, where it has no URI or date.
    """
    uri = strip_brackets(header.get("WARC-Target-URI"))
    date = header.get("WARC-Date")
    if not uri or not date:
        raise Unwritable("original-unaddressable")
    record_id = strip_brackets(header.get("WARC-Record-ID"))
    digest = header.get("WARC-Payload-Digest") or str(stored_digest())
    if not f"{uri}{date}{record_id}{digest}".isprintable():
        raise Unwritable("original-unaddressable")
    return Original(uri, date, record_id, digest)


def build_revisit(
    header: Header, http_head: bytes, original: Original, *, run: str, crc32: int
) -> bytes:
    """The header and block of the revisit that replaces the record with this header.

    `crc32` is of the whole old record.  The two line ends that close a record are not
    included.

    Raises:
        Unwritable: where a line to be changed occurs twice, or does not fit the form, or
            the old header does not come back from the new one byte for byte.
    """
    if header.line_end != b"\r\n":
        raise Unwritable("line-end")
    lines = header.lines()
    index = _index_lines(lines)
    changes: dict[int, bytes] = {}

    def change(name: str, value: str) -> bool:
        at = index.get(name.lower())
        if at is None:
            return False
        if lines[at].value != value:
            changes[at] = f"{lines[at].name}: {value}\r\n".encode("utf-8", "surrogateescape")
        return True

    if not (change("WARC-Type", "revisit") and change("Content-Length", str(len(http_head)))):
        raise Unwritable("header-odd")
    added = []
    if "warc-block-digest" in index:
        declared = parse_digest(lines[index["warc-block-digest"]].value)
        algorithm = declared.algorithm if declared else "sha1"
        digest = Digest(algorithm, hasher(algorithm)(http_head).digest())
        change("WARC-Block-Digest", str(digest))
    if not change("WARC-Payload-Digest", original.payload_digest):
        added.append(("WARC-Payload-Digest", original.payload_digest))
    profile = IDENTICAL_PAYLOAD_1_1 if header.version == "WARC/1.1" else IDENTICAL_PAYLOAD_1_0
    added.append(("WARC-Profile", profile))
    added.append(("WARC-Truncated", "length"))
    if original.record_id:
        added.append(("WARC-Refers-To", f"<{original.record_id}>"))
    added.append(("WARC-Refers-To-Target-URI", original.target_uri))
    added.append(("WARC-Refers-To-Date", original.date))
    added.append((REPLACED_FIELD, _format_replaced(lines, changes, run, crc32, len(added) + 1)))
    parts = [header.raw[: header.raw.index(b"\n") + 1]]
    parts += [changes.get(at, line.raw) for at, line in enumerate(lines)]
    parts += [f"{name}: {value}\r\n".encode("utf-8", "surrogateescape") for name, value in added]
    parts.append(b"\r\n")
    revisit_header = b"".join(parts)
    if restore_header(Header(revisit_header)) != header.raw:
        raise Unwritable("not-reversible")
    return revisit_header + http_head


def _index_lines(lines: list[HeaderLine]) -> dict[str, int]:
    index: dict[str, int] = {}
    for at, line in enumerate(lines):
        name = line.name.lower()
        if name in _REFERENCE or name.startswith("warc-refers-to"):
            raise Unwritable("header-odd")
        if name in index and name in _ONCE:
            raise Unwritable("header-odd")
        index.setdefault(name, at)
        if not line.raw.endswith(b"\r\n"):
            raise Unwritable("line-end")
    return index


def _format_replaced(
    lines: list[HeaderLine], changes: dict[int, bytes], run: str, crc32: int, added: int
) -> str:
    parts = [f"version=1; run={run}; crc32={crc32:08x}; added={added}"]
    for at in sorted(changes):
        raw = "".join(map(_ENCODED.__getitem__, lines[at].raw))
        parts.append(f"{at + 1}={raw}")
    return "; ".join(parts)


def is_ours(header: Header) -> bool:
    """Whether this record carries what is needed to restore it."""
    return header.get(REPLACED_FIELD) is not None


def _replaced(header: Header) -> tuple[dict[str, str], list[tuple[str, str]]]:
    parts = _PART.findall(header.get(REPLACED_FIELD) or "")
    named = dict(parts)
    if named.get("version") != "1" or not named.get("added", "").isdigit():
        raise MalformedRecord(f"{REPLACED_FIELD} is not in a form this version can read")
    return named, parts


def replaced_crc32(header: Header) -> int:
    """The CRC-32 of the record as it was before it was replaced.

    Raises:
        MalformedRecord: as `restore_header`.
    """
    return int(_replaced(header)[0].get("crc32") or "0", 16)


def restore_header(header: Header) -> bytes:
    """The header, blank line included, that `build_revisit` was given.

    Raises:
        MalformedRecord: where the field is not of the version written here, or lies.
    """
    named, parts = _replaced(header)
    lines = [line.raw for line in header.lines()]
    del lines[len(lines) - int(named["added"]) :]
    for key, encoded in parts:
        if key.isdigit():
            if not 1 <= int(key) <= len(lines):
                raise MalformedRecord(f"{REPLACED_FIELD} names line {key}, and there is none")
            lines[int(key) - 1] = unquote_to_bytes(encoded)
    return b"".join((header.raw[: header.raw.index(b"\n") + 1], *lines, b"\r\n"))


def restored_pieces(
    header: Header, http_head: bytes, body: Iterable[bytes | memoryview]
) -> Iterator[bytes | memoryview]:
    """The full record's bytes, two closing line ends included, in pieces."""
    yield restore_header(header)
    yield http_head
    yield from body
    yield b"\r\n\r\n"
