"""Full records and the revisits of ours that stand for them: whether one is the other's, and new
revisits for the same record.

`pinakes.warc.rebuilding` makes the record again.
"""

from __future__ import annotations

from pinakes.dedupe.validate.file_pairs import whole_crc32
from pinakes.errors import DigestMismatch, MalformedRecord, at_place
from pinakes.warc.changed_revisit import OldRevisit, revisit_of_ours
from pinakes.warc.header import Header
from pinakes.warc.record import Record
from pinakes.warc.revisit import (
    build_revisit,
    original_of,
    replaced_crc32,
    restore_header,
)


def is_given_back(ours: OldRevisit, record: Record) -> bool:
    """Whether this is the record that a revisit of ours replaced."""
    header = Header(ours.header)
    try:
        is_header = record.header.raw == restore_header(header)
    except MalformedRecord:
        return False
    return is_header and whole_crc32(record) == replaced_crc32(header)


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
