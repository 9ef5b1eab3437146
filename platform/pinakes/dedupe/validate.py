"""`validate`: nothing was lost, nothing altered, every reference resolves.

Walks an archive file as it was and as it is, side by side, paired by ordinal.  What
was not rewritten is equal in its inflated bytes; what was, gives back its header and
HTTP head byte for byte, and its reference leads to an earlier full record whose
stored body has the same SHA-256.  Restoring is the same walk the other way round.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from isal import isal_zlib

from pinakes.errors import MalformedRecord
from pinakes.warc.digest import Digest
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, MemoryBody, Record
from pinakes.warc.revisit import is_ours, replaced_crc32, restore_header
from pinakes.warc.source import Source

from .resolution import Resolution

DISCREPANCIES = {
    "missing": "a record of before is not there after",
    "surplus": "a record is there after that was not before",
    "altered": "a record that was not rewritten has other bytes",
    "header": "the revisit does not give back the header it replaced",
    "http-head": "the revisit's HTTP head is not the old record's",
    "checksum": "the revisit carries another checksum than the old record has",
    "damage": "a stretch that is no record has other bytes",
}
_ALGORITHM = "sha256"


class Discrepancy(NamedTuple):
    """One thing that is not as it was; `code` is one of `DISCREPANCIES` or `OUTCOMES`."""

    code: str
    file: str
    ordinal: int
    offset: int
    message: str


@dataclass(slots=True)
class Comparison:
    """What the walk over a pair of files (or many) found."""

    records: int = 0
    rewritten: int = 0
    restored: int = 0
    types: Counter[str] = field(default_factory=Counter)
    discrepancies: list[Discrepancy] = field(default_factory=list)


def compare_files(before: Source, after: Source, resolution: Resolution, found: Comparison) -> None:
    """Compare two archive files; references and full records go to `resolution`.

    Memory: one record of each.  Cost: both files are read once.
    """
    number = resolution.add_file(after.name)
    pairs = zip_longest(
        iter_records(before, digests=(_ALGORITHM,)), iter_records(after, digests=(_ALGORITHM,))
    )
    for ordinal, (old, new) in enumerate(pairs):

        def report(code: str, ordinal: int = ordinal, at: int = getattr(new, "offset", 0)) -> None:
            found.discrepancies.append(
                Discrepancy(code, after.name, ordinal, at, DISCREPANCIES[code])
            )

        if old is None or new is None:
            report("surplus" if old is None else "missing")
        elif isinstance(old, DamagedStretch) or isinstance(new, DamagedStretch):
            if not _equal_stretches(before, old, after, new):
                report("damage")
        else:
            found.records += 1
            found.types[new.type] += 1
            for code in _compare_records(old, new, number, resolution, found):
                report(code)


def _compare_records(
    old: Record, new: Record, number: int, resolution: Resolution, found: Comparison
) -> Iterator[str]:
    if old.header.raw == new.header.raw:
        if not equal_blocks(old, new):
            yield "altered"
        if new.type in ("response", "resource"):
            resolution.add_full(number, new, _body(new), stays=True)
        elif new.type == "revisit":
            resolution.add_reference(number, new, None)
    elif new.type == "revisit" and is_ours(new.header):
        found.rewritten += 1
        body = _body(old)
        resolution.add_full(number, old, body, stays=False)
        resolution.add_reference(number, new, body)
        yield from _check_replaced(old, new)
    elif old.type == "revisit" and is_ours(old.header):
        found.restored += 1
        resolution.add_full(number, new, _body(new), stays=True)
        yield from _check_replaced(new, old)
    else:
        yield "altered"


def _body(record: Record) -> str:
    return record.payload_digest(_ALGORITHM).hex


def _check_replaced(full: Record, revisit: Record) -> Iterator[str]:
    try:
        if restore_header(revisit.header) != full.header.raw:
            yield "header"
        if replaced_crc32(revisit.header) != whole_crc32(full):
            yield "checksum"
    except MalformedRecord:
        yield "header"
    head = full.http.raw if full.http is not None else b""
    if b"".join(revisit.chunks()) != head:
        yield "http-head"


def whole_crc32(record: Record) -> int:
    """The CRC-32 of header, block and the two line ends that close a record."""
    crc = isal_zlib.crc32(record.header.raw)
    for piece in record.chunks():
        crc = isal_zlib.crc32(piece, crc)
    return isal_zlib.crc32(b"\r\n\r\n", crc)


def equal_blocks(old: Record, new: Record) -> bool:
    """Whether two blocks are equal, byte for byte."""
    if old.body.size != new.body.size:
        return False
    if isinstance(old.body, MemoryBody) and isinstance(new.body, MemoryBody):
        # Of two views Python compares byte for byte in a loop, of two bytes with memcmp.
        return bytes(next(old.chunks(), b"")) == bytes(next(new.chunks(), b""))
    return _sha256(old.chunks()) == _sha256(new.chunks())


def _equal_stretches(
    before: Source,
    old: Record | DamagedStretch,
    after: Source,
    new: Record | DamagedStretch,
) -> bool:
    if not (isinstance(old, DamagedStretch) and isinstance(new, DamagedStretch)):
        return False
    return _sha256(before.pieces(old.offset, old.end)) == _sha256(after.pieces(new.offset, new.end))


def _sha256(pieces: Iterator[bytes | memoryview]) -> Digest:
    state = hashlib.sha256()
    for piece in pieces:
        state.update(piece)
    return Digest(_ALGORITHM, state.digest())
