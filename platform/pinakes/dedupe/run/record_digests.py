"""Digests by which records of two generations of a file are the same."""

from __future__ import annotations

import hashlib

from pinakes.errors import MalformedRecord
from pinakes.warc.changed_revisit import CHANGED_FIELD, old_revisit
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.revisit import Unwritable, is_ours, restore_header
from pinakes.warc.source import Source

ALGORITHM = "sha256"


def is_revisit_of_ours(record: Record) -> bool:
    """Whether `dedupe` wrote it."""
    return record.type == "revisit" and is_ours(record.header)


def head_of(record: Record) -> bytes:
    """A digest of the header and HTTP head of a record, or of the one that a revisit of ours stands
    for; another one where bytes of the record are damaged."""
    digest = hashlib.sha256()
    if is_revisit_of_ours(record):
        digest.update(_restored(record))
        for piece in record.chunks():
            digest.update(piece)
    else:
        digest.update(record.header.raw)
        digest.update(record.http.raw if record.http is not None else b"")
    digest.update(b"".join(code.encode() for code in sorted(_harm_of(record))))
    return digest.digest()


def _restored(record: Record) -> bytes:
    try:
        return restore_header(record.header)
    except MalformedRecord:
        return record.header.raw


def _harm_of(record: Record) -> frozenset[str]:
    return frozenset(finding.code for finding in record.damage)


def body_of(record: Record) -> bytes:
    """The length and the digest of the stored body."""
    return record.payload_size.to_bytes(8, "big") + record.payload_hash(ALGORITHM)


def whole_of(record: Record) -> bytes:
    """Of a revisit a digest of all of it; nothing of any other record."""
    if record.type != "revisit":
        return b""
    digest = hashlib.sha256(record.header.raw)
    for piece in record.chunks():
        digest.update(piece)
    return digest.digest()


def changed_of(record: Record) -> bytes:
    """The same of the revisit that a purge has changed into this record, as a crawler's."""
    if record.header.get(CHANGED_FIELD) is None:
        return b""
    try:
        old = old_revisit(record)
    except (MalformedRecord, Unwritable):
        return b""
    return hashlib.sha256(old.header + old.block).digest()


def stretch_of(source: Source, stretch: DamagedStretch) -> bytes:
    """A digest of bytes in which there is no record."""
    digest = hashlib.sha256(b"no record")
    for piece in source.pieces(stretch.offset, stretch.end):
        digest.update(piece)
    return digest.digest()
