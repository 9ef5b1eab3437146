"""The way back: the readable bytes of an ARC file, from its converted WARC file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from pinakes.errors import DigestMismatch, MalformedRecord
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

from . import arc_fields
from .arc_bytes import readable_pieces

_WARCINFO_LIMIT_BYTES = 1 << 16


def rebuild_arc(warc: Source) -> Iterator[bytes | memoryview]:
    """The readable bytes of the ARC file, in order and lazily.

    Raises:
        MalformedRecord: if the file is damaged, or was not written by `pinakes convert`.
    """
    records = _records(warc)
    _declared(next(records, None), warc)
    for record in records:
        line = record.header.get(arc_fields.HEADER)
        if line is None and record.header.get(arc_fields.STRETCH) is None:
            raise _not_ours(warc, record.offset)
        if line is not None:
            yield arc_fields.decode_bytes(line)
        yield from record.chunks()
        yield arc_fields.decode_bytes(record.header.get(arc_fields.AFTER) or "")


def verify_conversion(arc: Source, warc: Source) -> int:
    """Compare an ARC file with the ARC rebuilt from its WARC file; return the bytes compared.

    Raises:
        DigestMismatch: at the first byte that differs, counted in readable bytes.
        MalformedRecord: as `rebuild_arc`.
    """
    original = (memoryview(piece.data) for piece in readable_pieces(arc))
    ahead = memoryview(b"")
    compared = 0
    for rebuilt in rebuild_arc(warc):
        left = memoryview(rebuilt)
        while left:
            ahead = ahead or next(original, memoryview(b""))
            count = min(len(left), len(ahead))
            if not count or left[:count] != ahead[:count]:
                pairs = enumerate(zip(left, ahead, strict=False))
                raise _differs(warc, compared + next((n for n, (a, b) in pairs if a != b), 0))
            left, ahead = left[count:], ahead[count:]
            compared += count
    if ahead or next(original, None) is not None:
        raise _differs(warc, compared)
    return compared


def verify_alone(warc: Source) -> int:
    """The same without the ARC file, by the checksum in the warcinfo record.

    Raises:
        DigestMismatch: if the checksum differs.
        MalformedRecord: as `rebuild_arc`.
    """
    declared = _declared(next(_records(warc), None), warc)
    digest = hashlib.sha256()
    size = 0
    for piece in rebuild_arc(warc):
        digest.update(piece)
        size += len(piece)
    if digest.hexdigest() != declared:
        raise DigestMismatch("does not give back the ARC file that it names", file=warc.name)
    return size


def _records(warc: Source) -> Iterator[Record]:
    for item in iter_records(warc):
        if isinstance(item, DamagedStretch):
            raise MalformedRecord(item.reason, file=warc.name, offset=item.offset)
        for finding in item.findings:
            raise MalformedRecord(finding.message, file=warc.name, offset=finding.offset)
        yield item


def _declared(record: Record | None, warc: Source) -> str:
    """The checksum of the readable bytes, from the warcinfo record."""
    if record is None or record.type != "warcinfo" or record.block_size > _WARCINFO_LIMIT_BYTES:
        raise _not_ours(warc, 0)
    for line in b"".join(record.chunks()).decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(": ")
        if name == "pinakes-arc-readable-sha256":
            return value
    raise _not_ours(warc, record.offset)


def _not_ours(warc: Source, offset: int) -> MalformedRecord:
    return MalformedRecord("not a record of `pinakes convert`", file=warc.name, offset=offset)


def _differs(warc: Source, place: int) -> DigestMismatch:
    return DigestMismatch(
        f"gives back another ARC file: the first difference is at byte {place} of its content",
        file=warc.name,
    )
