"""The full record that a revisit of ours stands for: from the revisit, and a record with the body.

What the revisit says is proven by the length and the checksum that it carries, whichever process
landed it.  Where they do not fit, nothing of its field is believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from isal import isal_zlib

from pinakes.errors import MalformedRecord

from .changed_revisit import OldRevisit, revisit_of_ours
from .field_names import CONTENT_LENGTH_KEY
from .header import Header
from .record import Record
from .revisit import Unwritable, replaced_crc32, restore_header, restored_pieces
from .write import RECORD_END

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


def proven_ours(revisit: Record, body: Record) -> OldRevisit | None:
    """The revisit of ours that this record is, proven with the body of what it refers to.

    None of a crawler's, and where the field of ours does not fit: it may be forged.
    """
    try:
        ours = revisit_of_ours(revisit)
        return ours if ours is not None and gives_back(ours, body) else None
    except (MalformedRecord, Unwritable):
        return None
