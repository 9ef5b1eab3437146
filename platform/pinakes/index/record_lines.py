"""The `--records` manifest: one line for every record of every type.

    FILE ORDINAL TYPE RECORD-ID SHA256

The digest is over the inflated record from its version line to the last byte of its
block, without the two line ends that close it (ISO 28500:2017 §4): two files with equal
lines hold the same records, however they are compressed.
Names are encoded as in `index.manifest`; `-` is a missing record id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pinakes.warc.reader import Item
from pinakes.warc.record import Record

from .manifest import encode_name


class RecordLine(NamedTuple):
    """One record.  A tuple: there is one for each record of a collection."""

    file: str
    ordinal: int
    type: str
    record_id: str | None
    sha256: str


def iter_record_lines(items: Iterable[Item], *, file: str) -> Iterator[RecordLine]:
    """Yield a line for each record of one file, in order; damaged stretches have none."""
    for record in items:
        if isinstance(record, Record):
            state = hashlib.sha256(record.header.raw)
            for piece in record.chunks():
                state.update(piece)
            yield RecordLine(file, record.ordinal, record.type, record.record_id, state.hexdigest())


def format_record_line(line: RecordLine) -> str:
    """The line as text, without a line end."""
    return (
        f"{encode_name(line.file)} {line.ordinal} {encode_name(line.type)} "
        f"{encode_name(line.record_id or '')} {line.sha256}"
    )
