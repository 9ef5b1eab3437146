"""Revisits that a crawler wrote, changed because what they referred to goes: and changed back.

    revisit by a crawler       made full                  or re-pointed
    WARC-Type: revisit         WARC-Type: response        (as it was)
    WARC-Profile: …            ─                          (as it was)
    WARC-Refers-To-…: …        ─                          WARC-Refers-To-…: the new original's
    Content-Length: 212        Content-Length: 5120       (as it was)
    HTTP head                  HTTP head, body            (as it was)
                             + Pinakes-Revisit: the lines that were there

    Pinakes-Revisit: version=1; act=ACT; crc32=HEX; added=N; L=LINE; …; -L=LINE; …; block=BLOCK

The last line of the header, encoded as `replaced_field` does.  `L=` is a line of the old header
that another one stands for, `-L=` one that nothing stands for, at their old numbers; `added` are
lines at the end, this one included.  `block` is the old block where the new one does not begin
with it: its head was that of an answer of other form, as 304.  `crc32` is of the whole old record.
What was changed twice says what it was first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from isal import isal_zlib

from pinakes.errors import MalformedRecord

from .digest import format_digest, hasher, parse_digest
from .field_names import (
    CONTENT_LENGTH,
    CONTENT_LENGTH_KEY,
    CONTENT_TYPE,
    WARC_BLOCK_DIGEST,
    WARC_BLOCK_DIGEST_KEY,
    WARC_PAYLOAD_DIGEST,
    WARC_PROFILE,
    WARC_REFERS_TO,
    WARC_REFERS_TO_DATE,
    WARC_REFERS_TO_TARGET_URI,
    WARC_SEGMENT_NUMBER_KEY,
    WARC_TRUNCATED,
    WARC_TRUNCATED_KEY,
    WARC_TYPE,
)
from .header import Header
from .record import Record
from .replaced_field import decode_line, encode_line
from .revisit import OriginalReference, Unwritable, encoded, header_lines, index_fields, is_ours

CHANGED_FIELD = "Pinakes-Revisit"
_REFERS_TO = (WARC_REFERS_TO, WARC_REFERS_TO_TARGET_URI, WARC_REFERS_TO_DATE)
_HEAD_ENDS = (b"\r\n\r\n", b"\n\n", b"\n\r\n")
_LARGEST_BLOCK_BYTES = 1 << 16
Pieces = Iterable[bytes | memoryview]


class OldRevisit(NamedTuple):
    """A revisit as it landed: one by a crawler, or one of ours."""

    header: bytes
    block: bytes
    crc32: int

    @classmethod
    def of(cls, header: bytes, block: bytes) -> OldRevisit:
        """With the checksum of the whole record, closing line ends included."""
        return cls(header, block, isal_zlib.crc32(header + block + b"\r\n\r\n"))


def old_revisit(record: Record) -> OldRevisit:
    """The revisit that a crawler wrote and that this record stands for: itself, if nothing else.

    Memory: its block.

    Raises:
        MalformedRecord: the field does not fit the record, or the block is too long.
        Unwritable: the header has other line ends.
    """
    value = record.header.get(CHANGED_FIELD)
    if value is None:
        return OldRevisit.of(record.header.raw, _start_of(record, record.block_size))
    named, replaced, removed = _parse(value)
    lines = header_lines(record.header.raw)
    lines = lines[: len(lines) - int(named["added"])]
    for at in sorted(removed):
        lines.insert(at, removed[at])
    for at, line in replaced.items():
        if at >= len(lines):
            raise MalformedRecord(f"{CHANGED_FIELD} names lines that do not exist")
        lines[at] = line
    header = b"\r\n".join((*lines, b"", b""))
    size = Header(header).field(CONTENT_LENGTH_KEY) or ""
    if not size.isdigit():
        raise MalformedRecord(f"{CHANGED_FIELD} gives back no Content-Length")
    block = named.get("block")
    old = OldRevisit.of(
        header, _start_of(record, int(size)) if block is None else decode_line(block)
    )
    if old.crc32 != int(named["crc32"], 16):
        raise MalformedRecord(f"{CHANGED_FIELD} gives back another record")
    return old


def revisit_of_ours(record: Record) -> OldRevisit | None:
    """The revisit of ours that this record is, or was before it was changed like a crawler's.

    None of any other record.  What its field says is not proven yet: `gives_back`.

    Memory: its block.  Raises as `old_revisit`.
    """
    if record.header.get(CHANGED_FIELD) is not None:
        old = old_revisit(record)
        return old if is_ours(Header(old.header)) else None
    if record.type != "revisit" or not is_ours(record.header):
        return None
    return OldRevisit.of(record.header.raw, b"".join(map(bytes, record.chunks())))


def _start_of(record: Record, size: int) -> bytes:
    if size > _LARGEST_BLOCK_BYTES:
        raise MalformedRecord("the block of a revisit is larger than 64 KiB")
    start = b""
    for piece in record.chunks():
        start += bytes(piece[: size - len(start)])
        if len(start) >= size:
            break
    return start


def repoint_revisit(record: Record, original: OriginalReference, *, act: str) -> bytes:
    """The header and block of the revisit with a reference to another original.

    Raises:
        MalformedRecord, Unwritable: it is left as it is.
    """
    old = old_revisit(record)
    values = {
        WARC_REFERS_TO: f"<{original.record_id}>" if original.record_id else None,
        WARC_REFERS_TO_TARGET_URI: original.target_uri,
        WARC_REFERS_TO_DATE: original.date,
        WARC_PAYLOAD_DIGEST: original.payload_digest,
    }
    return _changed(old, values, act, block=None) + old.block


def filled_revisit(record: Record, original: Record, *, act: str) -> Iterator[bytes | memoryview]:
    """The full record of a revisit whose body is that of this original, without closing line ends.

    With the revisit's own HTTP head where that describes the same form of body; else with the
    original's, as replay tools answer a 304.  Lazy, but for the header: the body is read twice
    where a digest of the block is declared.

    Raises:
        MalformedRecord, Unwritable: it is left as it is.
    """
    if original.header.field(WARC_SEGMENT_NUMBER_KEY) is not None:
        raise Unwritable("original-segmented")
    old = old_revisit(record)
    keeps_head = _describes(record, original)
    head = old.block if keeps_head else None

    def block() -> Iterator[bytes | memoryview]:
        if head is None:
            yield from original.chunks()
        else:
            yield head
            yield from original.payload()

    header = Header(old.header)
    size = original.block_size if head is None else len(head) + original.payload_size
    values: dict[str, str | None] = dict.fromkeys((WARC_PROFILE, *_REFERS_TO))
    values |= {WARC_TYPE: original.type, CONTENT_LENGTH: str(size)}
    # The body is as whole as its original's, regardless of what the revisit said of its own block.
    cut_off = original.header.field(WARC_TRUNCATED_KEY)
    own = (header.field(WARC_TRUNCATED_KEY) or "").strip().lower()
    if cut_off is not None or own == "length":
        values[WARC_TRUNCATED] = cut_off
    if header.field(WARC_BLOCK_DIGEST_KEY) is not None:
        values[WARC_BLOCK_DIGEST] = _digest(header.field(WARC_BLOCK_DIGEST_KEY) or "", block)
    if header.payload_digest is None:
        values[WARC_PAYLOAD_DIGEST] = original.header.payload_digest or str(
            original.payload_digest()
        )
    if head is None:
        values[CONTENT_TYPE] = original.header.get(CONTENT_TYPE)
    yield _changed(old, values, act, block=None if keeps_head or not old.block else old.block)
    yield from block()


def _describes(revisit: Record, original: Record) -> bool:
    """Whether the head of a revisit describes a body such as its original's."""
    own, other = revisit.http, original.http
    if own is None or other is None or len(own.raw) != revisit.block_size:
        return False
    if not own.raw.endswith(_HEAD_ENDS):
        return False  # a body after it would be read as more of it
    return (
        own.status == other.status
        and own.says_chunked == other.says_chunked
        and own.get("Content-Encoding") == other.get("Content-Encoding")
        and own.content_length in (None, other.content_length, original.payload_size)
    )


def _digest(declared: str, block: Callable[[], Pieces]) -> str:
    """The digest of the new block, by the algorithm of that of the old one."""
    parsed = parse_digest(declared)
    algorithm = parsed.algorithm if parsed is not None else "sha1"
    state = hasher(algorithm)()
    for piece in block():
        state.update(piece)
    return format_digest(algorithm, state.digest())


def _changed(
    old: OldRevisit, values: Mapping[str, str | None], act: str, *, block: bytes | None
) -> bytes:
    """The header with these values, None for none; what it was is kept in it."""
    lines = header_lines(old.header)
    index = index_fields(lines, {*map(_in_lower_case, values), _in_lower_case(CHANGED_FIELD)})
    if _in_lower_case(CHANGED_FIELD) in index:
        raise Unwritable("header-odd")
    replaced, removed, added = {}, {}, []
    for name, value in values.items():
        at = index.get(_in_lower_case(name))
        if at is None:
            if value is not None:
                added.append(encoded(f"{name}: {value}"))
            continue
        line = lines[at] if value is None else lines[at].partition(b":")[0] + encoded(f": {value}")
        if value is None:
            removed[at] = line
        elif line != lines[at]:
            replaced[at] = lines[at]
            lines[at] = line
    kept = [line for at, line in enumerate(lines) if at not in removed]
    first = f"version=1; act={act}; crc32={old.crc32:08x}; added={len(added) + 1}"
    parts = [f"{CHANGED_FIELD}: {first}".encode("ascii")]
    parts += [b"%d=%b" % (at + 1, encode_line(raw)) for at, raw in sorted(replaced.items())]
    parts += [b"-%d=%b" % (at + 1, encode_line(raw)) for at, raw in sorted(removed.items())]
    if block is not None:
        parts.append(b"block=" + encode_line(block))
    return b"\r\n".join((*kept, *added, b"; ".join(parts), b"", b""))


def _in_lower_case(name: str) -> bytes:
    return name.lower().encode("ascii")


def _parse(value: str) -> tuple[dict[str, str], dict[int, bytes], dict[int, bytes]]:
    """Named values, replaced and removed lines by index: 0 is the version line."""
    named: dict[str, str] = {}
    lines: dict[bool, dict[int, bytes]] = {False: {}, True: {}}
    for part in value.split("; "):
        key, equals, text = part.partition("=")
        number = key.removeprefix("-")
        if not equals:
            raise MalformedRecord(f"{CHANGED_FIELD} is not in a form this version can read")
        if number.isascii() and number.isdigit() and 1 < int(number) < 10**6:
            lines[key != number][int(number) - 1] = decode_line(text)
        else:
            named[key] = text
    if named.get("version") != "1" or not _are_numbers(named):
        raise MalformedRecord(f"{CHANGED_FIELD} is not in a form this version can read")
    return named, lines[False], lines[True]


def _are_numbers(named: Mapping[str, str]) -> bool:
    try:
        int(named.get("crc32", ""), 16)
    except ValueError:
        return False
    return named.get("added", "").isdigit() and 0 < int(named["added"]) < 100
