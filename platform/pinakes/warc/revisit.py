"""Revisit records: built from a full record and its original, and restored.

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

`Pinakes-Replaced` makes the step reversible: only the body of the original is needed
besides (`replaced_field`; docs/restore.md has the commands for a shell).

Works on physical lines and bytes: this is the inner loop of `refs`, and parsing every
header would cost more than the rest of a revisit.

Sources: ISO 28500:2017 §6.7 (revisit), §5.13 (truncated); IIPC recommendation on
recording arbitrary duplicates, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pinakes.errors import MalformedRecord

from .digest import SIZES_BYTES, Digest, format_digest, hasher, parse_digest
from .field_names import (
    CONTENT_LENGTH_KEY,
    CONTENT_LENGTH_RAW,
    WARC_BLOCK_DIGEST_KEY,
    WARC_BLOCK_DIGEST_RAW,
    WARC_DATE_KEY,
    WARC_PAYLOAD_DIGEST,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_PAYLOAD_DIGEST_RAW,
    WARC_PROFILE,
    WARC_PROFILE_KEY,
    WARC_RECORD_ID_KEY,
    WARC_REFERS_TO,
    WARC_REFERS_TO_DATE,
    WARC_REFERS_TO_DATE_KEY,
    WARC_REFERS_TO_KEY,
    WARC_REFERS_TO_TARGET_URI,
    WARC_REFERS_TO_TARGET_URI_KEY,
    WARC_TARGET_URI_KEY,
    WARC_TRUNCATED,
    WARC_TRUNCATED_KEY,
    WARC_TYPE_KEY,
    WARC_TYPE_RAW,
)
from .header import Header
from .replaced_field import REPLACED_FIELD, ReplacedLines, format_replaced, parse_replaced
from .shapes import ShapedHeader

IDENTICAL_PAYLOAD_1_0 = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
IDENTICAL_PAYLOAD_1_1 = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
# Fields that are changed or identify the record; repeated, it is unclear which one counts.
_ONCE = frozenset(
    name.encode()
    for name in (
        WARC_TYPE_KEY,
        CONTENT_LENGTH_KEY,
        WARC_BLOCK_DIGEST_KEY,
        WARC_PAYLOAD_DIGEST_KEY,
        WARC_TARGET_URI_KEY,
        WARC_DATE_KEY,
        WARC_RECORD_ID_KEY,
    )
)
# A full record has none of these; one that does is not replaced.
_OF_REVISITS = frozenset(
    name.encode()
    for name in (
        WARC_PROFILE_KEY,
        WARC_TRUNCATED_KEY,
        WARC_REFERS_TO_KEY,
        WARC_REFERS_TO_TARGET_URI_KEY,
        WARC_REFERS_TO_DATE_KEY,
        REPLACED_FIELD.lower(),
    )
)
_NAMES = _ONCE | _OF_REVISITS
# The digests of zero bytes, in every spelling.
_OF_NOTHING = frozenset(
    text.rpartition(":")[2].upper()
    for name in SIZES_BYTES
    for digest in (Digest(name, hasher(name)().digest()),)
    for text in (str(digest), digest.hex)
)


class Unwritable(Exception):
    """The record cannot be written as a revisit that can be restored: it stays full.

    `reason` is the key under which such records are counted.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OriginalReference(NamedTuple):
    """A revisit's reference to its original, verbatim from the header of the original."""

    target_uri: str
    date: str
    record_id: str | None
    payload_digest: str


def original_of(header: Header, stored_digest: Callable[[], Digest]) -> OriginalReference:
    """The reference to the record with this header.

    `stored_digest` returns the SHA-1 of its stored body.  It is called only if the record
    declares no payload digest: indexers then compute that digest.

    Raises:
        Unwritable: `original-unaddressable`, if it has no URI or date, or declares the
            digest of zero bytes, by which replay tools recognise an empty body.
    """
    uri, date, record_id = header.outline()
    if not uri or not date:
        raise Unwritable("original-unaddressable")
    declared = header.field(WARC_PAYLOAD_DIGEST_KEY)
    if declared and declared.rpartition(":")[2].strip(" =").upper() in _OF_NOTHING:
        raise Unwritable("original-unaddressable")
    digest = declared or str(stored_digest())
    if not f"{uri}{date}{record_id}{digest}".isprintable() or " " in digest:
        raise Unwritable("original-unaddressable")
    return OriginalReference(uri, date, record_id or None, digest)


def build_revisit(
    header: Header, http_head: bytes, original: OriginalReference, *, run: str, crc32: int
) -> bytes:
    """The header and block of the revisit that replaces the record with this header.

    `crc32` is of the whole old record.  The two line ends that close a record are not
    included.

    Raises:
        Unwritable: if a line to be changed occurs twice or has an unusual form, or if the
            old header cannot be restored from the new one byte for byte.
    """
    raw = header.raw
    lines = header_lines(raw)
    index = (
        _index_names(header.shape.names)
        if isinstance(header, ShapedHeader)
        else _index_fields(lines)
    )
    kind, length = index.get(WARC_TYPE_RAW), index.get(CONTENT_LENGTH_RAW)
    if kind is None or length is None:
        raise Unwritable("header-odd")
    values = {kind: b"revisit", length: b"%d" % len(http_head)}
    block_digest = index.get(WARC_BLOCK_DIGEST_RAW)
    if block_digest is not None:
        declared = lines[block_digest].partition(b":")[2]
        values[block_digest] = digest_of_block(declared, http_head)
    added = _added_lines(original, lines[0])
    payload_digest = index.get(WARC_PAYLOAD_DIGEST_RAW)
    if payload_digest is not None:
        values[payload_digest] = encoded(original.payload_digest)
    else:
        added.insert(0, encoded(f"{WARC_PAYLOAD_DIGEST}: {original.payload_digest}"))
    old_lines = {}
    for at in sorted(values):
        line = lines[at]
        written, _, old = line.partition(b":")
        if old.strip() != values[at]:
            old_lines[at] = line
            lines[at] = written.strip() + b": " + values[at]
    field = format_replaced(ReplacedLines(run, crc32, len(added) + 1, old_lines))
    new = b"\r\n".join((*lines, *added, field, b"", b""))
    if _restore_lines(new, field[len(REPLACED_FIELD) + 2 :].decode("ascii")) != raw:
        raise Unwritable("not-reversible")
    return new + http_head


def _added_lines(original: OriginalReference, version: bytes) -> list[bytes]:
    profile = IDENTICAL_PAYLOAD_1_1 if version == b"WARC/1.1" else IDENTICAL_PAYLOAD_1_0
    record_id = f"{WARC_REFERS_TO}: <{original.record_id}>\n" if original.record_id else ""
    # Encoded at once; the values contain no line end (`original_of` checks that).
    return encoded(
        f"{WARC_PROFILE}: {profile}\n{WARC_TRUNCATED}: length\n{record_id}"
        f"{WARC_REFERS_TO_TARGET_URI}: {original.target_uri}\n"
        f"{WARC_REFERS_TO_DATE}: {original.date}"
    ).split(b"\n")


def encoded(text: str) -> bytes:
    """The bytes of a value as read from a header."""
    return text.encode("utf-8", "surrogateescape")


def header_lines(raw: bytes) -> list[bytes]:
    """The physical lines of a header: with the version line, without the blank line.

    Raises Unwritable where they do not all end with CRLF.
    """
    lines = raw.split(b"\r\n")
    if lines[-2:] != [b"", b""] or raw.count(b"\n") != len(lines) - 1:
        raise Unwritable("line-end")
    return lines[:-2]


def _index_fields(lines: list[bytes]) -> dict[bytes, int]:
    """The line number of each field in `_NAMES`; Raises Unwritable for one of a revisit."""
    index = index_fields(lines, _NAMES)
    if not _OF_REVISITS.isdisjoint(index):
        raise Unwritable("header-odd")
    return index


def index_fields(lines: list[bytes], names: Container[bytes]) -> dict[bytes, int]:
    """The line number of each of these fields, whose names are in lower case.

    Raises Unwritable where one is repeated or folded.
    """
    index: dict[bytes, int] = {}
    matters = False
    for at in range(1, len(lines)):
        line = lines[at]
        if line[:1] in (b" ", b"\t"):
            if matters:
                raise Unwritable("header-odd")
            continue
        name, colon, _ = line.partition(b":")
        name = name.strip().lower()
        matters = bool(colon) and name in names
        if matters:
            if name in index:
                raise Unwritable("header-odd")
            index[name] = at
    return index


@lru_cache(maxsize=64)
def _index_names(names: tuple[bytes, ...]) -> dict[bytes, int]:
    """`_index_fields` for a header of that shape: each of its lines is a field."""
    return _index_fields([b"", *(name + b":" for name in names)])


def digest_of_block(declared: bytes, block: bytes) -> bytes:
    """The digest of a block, by the declared algorithm; SHA-1 if that is unknown."""
    algorithm = "sha1"
    if declared.strip()[:5].lower() != b"sha1:":
        parsed = parse_digest(declared.decode("utf-8", "replace"))
        algorithm = parsed.algorithm if parsed else "sha1"
    return format_digest(algorithm, hasher(algorithm)(block).digest()).encode("ascii")


def is_ours(header: Header) -> bool:
    """Whether this is a revisit written by Pinakes, which can be restored."""
    return header.get(REPLACED_FIELD) is not None


def replaced_crc32(header: Header) -> int:
    """The CRC-32 of the whole record before it was replaced.

    Raises:
        MalformedRecord: as `restore_header`.
    """
    return parse_replaced(header.get(REPLACED_FIELD) or "").crc32


def restore_header(header: Header) -> bytes:
    """The header that was given to `build_revisit`, blank line included.

    Raises:
        MalformedRecord: if the field has another version, or does not fit the header.
    """
    return _restore_lines(header.raw, header.get(REPLACED_FIELD) or "")


def _restore_lines(raw: bytes, field: str) -> bytes:
    replaced = parse_replaced(field)
    lines = raw.split(b"\r\n")
    kept = len(lines) - 2 - replaced.added
    if kept < 1 or max(replaced.lines, default=0) >= kept:
        raise MalformedRecord(f"{REPLACED_FIELD} names lines that do not exist")
    for at, line in replaced.lines.items():
        lines[at] = line
    return b"\r\n".join((*lines[:kept], b"", b""))


def restored_pieces(
    header: Header, http_head: bytes, body: Iterable[bytes | memoryview]
) -> Iterator[bytes | memoryview]:
    """The full record's bytes, without the two line ends that close it, in pieces."""
    yield restore_header(header)
    yield http_head
    yield from body
