"""The manifest of one archive file, as bytes, in pieces; for the verb and the job.

With `--records`, one line for every record of every type:

    FILE ORDINAL TYPE RECORD-ID SHA256

The digest is over the inflated record from its version line to the last byte of its
block, without the two line ends that close it (ISO 28500:2017 §4): two files with equal
lines hold the same records, however they are compressed.
Names are encoded as in `index.manifest`; `-` is a missing record id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from itertools import islice
from typing import NamedTuple

from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine, format_line
from pinakes.index.not_whole import iter_naming
from pinakes.index.scan import iter_manifest
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

from .manifest import encode_name


class RecordLine(NamedTuple):
    """One record.  A tuple: there is one for each record of a collection."""

    file: str
    ordinal: int
    type: str
    record_id: str | None
    sha256: str


# Lines are formatted in batches: one at a time, between two bodies that are inflated and hashed,
# the formatter is out of the processor's cache each time, and takes twice as long.
_LINES_A_PIECE = 256
Line = ManifestLine | RecordLine
ALGORITHMS = ("sha1", "sha256", "sha512", "md5")


class ManifestForm(NamedTuple):
    """The form of a manifest; a tuple, since it is sent to other processes."""

    algorithm: str
    plain: bool
    records: bool
    as_json: bool
    trust_declared: bool
    keep_empty: bool
    now: datetime


def iter_manifest_pieces(
    opened: AbstractContextManager[Source],
    name: str,
    form: ManifestForm,
    advance: Callable[[int], None] = lambda count: None,
) -> Iterator[bytes | PinakesError]:
    """The lines of one file, some hundred at a time, and its faults as they are found.

    `opened` opens the file when it is entered, and `name` is its name in the lines;
    `advance` is called with the number of bytes read.  If a file changes while it is read,
    lines have already been yielded; the refusal comes after them.
    """
    faults: list[MalformedRecord] = []
    format_one = _formatter(form)
    try:
        with opened as source:
            lines = _iter_lines(source, name, form, faults.append)
            reported = 0
            while piece := list(islice(lines, _LINES_A_PIECE)):
                yield "".join([f"{text}\n" for text in map(format_one, piece)]).encode("utf-8")
                yield from _taken(faults)
                advance(source.position - reported)
                reported = source.position
            advance(source.size - reported)
            source.check_unchanged()
    except InputRefused as refusal:
        yield refusal
    yield from _taken(faults)


def _taken(faults: list[MalformedRecord]) -> Iterator[PinakesError]:
    yield from faults
    faults.clear()


def _iter_lines(
    source: Source, name: str, form: ManifestForm, on_fault: Callable[[MalformedRecord], None]
) -> Iterator[Line]:
    def on_damage(stretch: DamagedStretch) -> None:
        what = f"{stretch.reason}: {stretch.end - stretch.offset} bytes left out"
        kind = f"bytes left out: {stretch.reason}"
        on_fault(MalformedRecord(what, file=name, offset=stretch.offset, kind=kind))

    if form.records:
        items = iter_naming(iter_records(source, digests=()), name, on_fault)
        return iter_record_lines(_intact(items, on_damage), file=name)
    items = iter_records(source, digests=(form.algorithm,), skip_gets=True)
    lines = iter_manifest(
        iter_naming(items, name, on_fault),
        file=name,
        algorithm=form.algorithm,
        now=form.now,
        trust_declared=form.trust_declared,
        on_damage=on_damage,
    )
    if form.plain:
        # Tools that read the plain form know neither these fields nor revisits.
        lines = (line for line in lines if line.skip is None and line.type is None)
    return lines if form.keep_empty else (line for line in lines if line.size)


def _intact(items: Iterable[Item], on_damage: Callable[[DamagedStretch], None]) -> Iterator[Item]:
    for item in items:
        if isinstance(item, DamagedStretch):
            on_damage(item)
        else:
            yield item


def _formatter(form: ManifestForm) -> Callable[..., str]:
    if form.as_json:
        return _as_json
    if form.records:
        return format_record_line
    return partial(format_line, plain=True) if form.plain else format_line


def _as_json(line: Line) -> str:
    return json.dumps({key: value for key, value in line._asdict().items() if value is not None})


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
