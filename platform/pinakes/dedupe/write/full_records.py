"""The full record that a revisit of ours stands for: from the revisit, and a record with the body.

Whoever landed the revisit: what it says is proven by the length and the checksum that it carries.
Where they do not fit, nothing of its field is believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from isal import isal_zlib

from pinakes.dedupe.validate.file_pairs import whole_crc32
from pinakes.errors import DigestMismatch, MalformedRecord, at_place
from pinakes.warc.changed_revisit import OldRevisit, revisit_of_ours
from pinakes.warc.field_names import CONTENT_LENGTH_KEY
from pinakes.warc.header import Header
from pinakes.warc.record import Record
from pinakes.warc.revisit import (
    Unwritable,
    build_revisit,
    original_of,
    replaced_crc32,
    restore_header,
    restored_pieces,
)
from pinakes.warc.write import RECORD_END

_FULL = ("response", "resource")


def full_record_pieces(ours: OldRevisit, body: Record) -> Iterator[bytes | memoryview]:
    """The full record's bytes, without the two line ends that close it, in pieces."""
    return restored_pieces(Header(ours.header), ours.block, body.payload())


def gives_back(ours: OldRevisit, body: Record) -> bool:
    """Whether the record that this revisit replaced is made again with the body of this one.

    Reads the body, unless the length already says no.

    Raises:
        MalformedRecord: the revisit does not say what it replaced.
    """
    revisit = Header(ours.header)
    full = Header(restore_header(revisit))
    if full.record_type not in _FULL or full.outline() != revisit.outline():
        return False  # `build_revisit` never changes what a record is called
    if full.field(CONTENT_LENGTH_KEY) != str(len(ours.block) + body.payload_size):
        return False
    crc = 0
    for piece in full_record_pieces(ours, body):
        crc = isal_zlib.crc32(piece, crc)
    return isal_zlib.crc32(RECORD_END, crc) == replaced_crc32(revisit)


def is_given_back(ours: OldRevisit, record: Record) -> bool:
    """Whether this is the record that a revisit of ours replaced."""
    header = Header(ours.header)
    try:
        is_header = record.header.raw == restore_header(header)
    except MalformedRecord:
        return False
    return is_header and whole_crc32(record) == replaced_crc32(header)


def proven_ours(revisit: Record, body: Record) -> OldRevisit | None:
    """The revisit of ours that this record is, proven with the body of what it refers to.

    None of a crawler's, and where the field of ours does not fit: it may be forged.
    """
    try:
        ours = revisit_of_ours(revisit)
        return ours if ours is not None and gives_back(ours, body) else None
    except (MalformedRecord, Unwritable):
        return None


def repointed_revisit(ours: OldRevisit, original: Record, *, run: str) -> bytes:
    """The header and block of a revisit of ours with a reference to this original.

    Raises:
        Unwritable: nothing can refer to that record.
    """
    header = Header(ours.header)
    return build_revisit(
        Header(restore_header(header)),
        ours.block,
        original_of(original.header, original.payload_digest),
        run=run,
        crc32=replaced_crc32(header),
    )


def stands_for_the_same(ours: OldRevisit, new: Record) -> bool:
    """Whether a record is a revisit of ours that gives back what this one does."""
    again = revisit_of_ours(new)
    if again is None or again.block != ours.block:
        return False
    old, now = Header(ours.header), Header(again.header)
    return (restore_header(old), replaced_crc32(old)) == (restore_header(now), replaced_crc32(now))


def other_body(file: str, offset: int, revisit_file: str, revisit_offset: int) -> DigestMismatch:
    """The error where the new original of a revisit has another body."""
    return DigestMismatch(
        f"the new original ({at_place(file, offset)}) has another body",
        file=revisit_file,
        offset=revisit_offset,
        kind="the new original has another body",
    )
