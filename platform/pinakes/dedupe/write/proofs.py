"""What is proven: of a record, that its body is there; of a rewritten file, that it gives back the
old one.

A record is read from its first byte to its last.  `read_head` believes what the trailer of a gzip
member states.  Here the bytes are asked: each member is inflated whole, and by an inflater that
refuses what zlib refuses; see docs/adr/0005-proof.md.

A rewritten file is asked before anybody may read it.  DigestMismatch: no.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deflate import DeflateError, gzip_decompress

from pinakes.dedupe.validate.file_pairs import FilesComparison, compare_files
from pinakes.dedupe.validate.raw_frames import MAGIC as ZSTD_MAGIC
from pinakes.dedupe.validate.raw_frames import Frames, NoMember
from pinakes.dedupe.validate.raw_proof import RawProof, compare_raw
from pinakes.dedupe.validate.raw_units import COMPRESSIONS, inflate_strictly
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.warc.compression.gzip_members import GZIP_MAGIC
from pinakes.warc.compression.members import compression_at, why_not_written
from pinakes.warc.compression.port import Compression
from pinakes.warc.header import Header
from pinakes.warc.heads import RecordHead, head_in, head_of, read_head
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.shapes import ShapeBook
from pinakes.warc.source import Source

_ALGORITHM = "sha256"
_IN_MEMORY_BYTES = 8 << 20
_TRAILER_BYTES = 8
# That a header has a checksum of its own (RFC 1952 §2.3.1), which libdeflate does not look at.
_HAS_HEADER_CRC = 2
_CLOSING_BYTES = 4


class WholeRecord(NamedTuple):
    """What was read of a record; `rest_crc32` as `RecordHead` has it.

    `shared_to` is where the members that hold it end, if they hold other records, too, or of
    which it takes several: whether these inflate whole is still to be asked (`inflates`).
    """

    header: Header
    body_size: int
    rest_crc32: int
    body_sha256: str
    shared_to: int | None = None


def read_whole(
    source: Source,
    offset: int,
    length: int,
    *,
    inner_offset: int = 0,
    shapes: ShapeBook | None = None,
) -> WholeRecord:
    """Read the response or resource at that place, and hash its body; arguments as `read_head`.

    Memory: members of up to 8 MiB, twice.  Cost: one inflating; two where a record is larger, is
    no HTTP message, or shares its member.

    Raises:
        MalformedRecord: if no intact record of these types is there.
    """
    data = b"" if inner_offset else _small_member(source, offset, length)
    head = head_in(data, length, shapes=shapes) if data else None
    if head is not None:
        end = len(data) - _CLOSING_BYTES
        body = memoryview(data)[end - head.body_size : end]
        sha256 = hashlib.sha256(body).hexdigest()
        return WholeRecord(head.header, head.body_size, head.rest_crc32, sha256)
    head = read_head(source, offset, length, inner_offset=inner_offset, shapes=shapes)
    is_member = bytes(source.view(offset, 4)).startswith((GZIP_MAGIC, ZSTD_MAGIC))
    if is_member and head.alone:
        sha256 = _hash_member(source, offset, head)
        return WholeRecord(head.header, head.body_size, head.rest_crc32, sha256)
    return _read_shared(source, offset, inner_offset, is_member=is_member)


def inflates(source: Source, offset: int, end: int) -> bool:
    """Whether the members from `offset` to `end` inflate whole, each by its checksum."""
    try:
        for _ in _inflated_to(source, offset, end):
            """Only whether they all come."""
    except NoMember:
        return False
    return True


def _small_member(source: Source, offset: int, length: int) -> bytes:
    """What a member holds; nothing where it is large, or read in another way for safety."""
    if not _TRAILER_BYTES < length <= min(_IN_MEMORY_BYTES, source.size - offset):
        return b""
    written = source.view(offset, length)
    if written[:4] == ZSTD_MAGIC:
        return _small_frame(source, offset, length)
    size = int.from_bytes(written[-4:], "little")
    usual = written[:3] == GZIP_MAGIC and not written[3] & _HAS_HEADER_CRC
    if not usual or size > _IN_MEMORY_BYTES:
        return b""
    try:
        # Refuses what zlib refuses, and isal takes: reserved flags, incomplete codes.
        data = bytes(gzip_decompress(bytes(written), size))
    except DeflateError:
        return b""
    return data if len(data) == size else b""


def _small_frame(source: Source, offset: int, length: int) -> bytes:
    data, end = b"", offset
    try:
        for piece, end in _inflated(source, offset):  # noqa: B007
            data += piece
            if len(data) > _IN_MEMORY_BYTES:
                return b""
    except NoMember:
        return b""
    return data if end == offset + length else b""


def _hash_member(source: Source, offset: int, head: RecordHead) -> str:
    """SHA-256 of the body of a record that is alone in its members."""
    state, at = hashlib.sha256(), 0
    stop = head.size - _CLOSING_BYTES
    start = stop - head.body_size
    try:
        for piece in _inflated_to(source, offset, offset + head.length):
            state.update(memoryview(piece)[max(start - at, 0) : max(stop - at, 0)])
            at += len(piece)
    except NoMember:
        raise damaged(source, offset) from None
    if at < head.size:
        raise damaged(source, offset)
    return state.hexdigest()


def _read_shared(source: Source, offset: int, inner_offset: int, *, is_member: bool) -> WholeRecord:
    record = read_record(source, offset, inner_offset=inner_offset, digests=(_ALGORITHM,))
    if not isinstance(record, Record):
        raise damaged(source, offset)
    head = head_of(record)
    return WholeRecord(
        head.header,
        head.body_size,
        head.rest_crc32,
        record.payload_digest(_ALGORITHM).hex,
        offset + head.length if is_member else None,
    )


def damaged(source: Source, offset: int) -> MalformedRecord:
    """The problem that the member at that place does not inflate whole."""
    return MalformedRecord(
        "its compressed bytes are damaged, or not those that the manifest is of",
        file=source.name,
        offset=offset,
    )


def _inflated_to(source: Source, offset: int, end: int) -> Iterator[bytes]:
    """Pieces of the members that fill this stretch; or NoMember."""
    reached = offset
    while reached < end:
        members = _inflated(source, reached)
        for piece, reached in members:  # noqa: B007
            yield piece
    if reached != end:
        raise NoMember


def _inflated(source: Source, offset: int) -> Iterator[tuple[bytes, int]]:
    """Pieces of a member or frame, each with where it ends, if it ends there; or NoMember."""
    if source.view(offset, 4) == ZSTD_MAGIC:
        return source.once(Frames).inflate(offset)
    return inflate_strictly(source, offset)


def why_left(source: Source, compression: Compression | None) -> str:
    """Why a record that is compressed so, or not, stays as it is; nothing where it need not."""
    if compression is not None and compression.NAME not in COMPRESSIONS:
        return f"in {compression.NAME}"
    return why_not_written(source, compression)


def require_provable(source: Source, offset: int) -> None:
    """Raise InputRefused where the record at `offset` stays as it is."""
    why = why_left(source, compression_at(source, offset))
    if why:
        raise InputRefused(f"not rewritten: {why}", file=source.name, offset=offset)


def require_given_back(before: Source, after: Source) -> None:
    """The new file gives the old one back, byte for byte."""
    _require_bytes(before, compare_raw(before, after))


def require_revisits(before: Source, after: Source, bodies: Sequence[str]) -> None:
    """The same; each body left out has the SHA-256 of its original's: `bodies`, in order.

    And after damage, every record is still read.
    """
    proof = compare_raw(before, after, bodies)
    _require_bytes(before, proof)
    if proof.behind_damage:
        require_records(before, after)


def require_records(before: Source, after: Source, bodies: Sequence[str] | None = None) -> None:
    """The new file gives the old one back, byte for byte and record by record.

    `bodies` as `require_revisits`; None where nothing is left out.
    """
    found = FilesComparison()
    compare_files(before, after, None, found, bodies=bodies)
    if found.discrepancies:
        first = found.discrepancies[0]
        raise DigestMismatch(
            f"the new file is not what it should be ({first.code}: {first.message}); "
            "nothing was changed",
            file=before.name,
            offset=first.offset,
        )


def _require_bytes(before: Source, proof: RawProof) -> None:
    if proof.difference is not None:
        raise DigestMismatch(
            f"the new file would not give this one back ({proof.difference.what}); "
            "nothing was changed",
            file=before.name,
            offset=proof.difference.before,
        )
