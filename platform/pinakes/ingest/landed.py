"""The result of landing a file, and the rows that are written in one pass over it.

Records are read once; the bytes read are copied below (`copying`).  Cells are written in batches
while the sidecar is written, and everything is counted on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import BinaryIO

from pinakes.catalog.file_rows import Held
from pinakes.catalog.record_rows import capture_cells, digest_rows
from pinakes.catalog.requests import iter_rows
from pinakes.catalog.sidecar import SidecarOf, SidecarRow, write_sidecar
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import (
    FileErrors,
    FileFacts,
    GenerationFacts,
    ReferencesKept,
)
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.compression.members import compression_of
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .row_sink import RowSink

KEPT_ERRORS = 100
# What `FileFacts` can say.
COMPRESSIONS = ("gzip", "zstd")


@dataclass(slots=True)
class Landed:
    """The result of landing one file."""

    archive_file: str
    size: int = 0
    sha256: str = ""
    was_there: bool = False
    captures: int = 0
    records: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    damaged: int = 0
    lines: list[str] = field(default_factory=list)
    format: str = "none"
    compression: str = "none"

    def note(self, offset: int, code: str, message: str) -> None:
        self.errors[code] += 1
        if len(self.lines) < KEPT_ERRORS:
            self.lines.append(f"{offset}: {code}: {message}")


def write_rows(
    sink: RowSink,
    source: Source,
    sidecar: BinaryIO,
    *,
    held: Held,
    collection: str,
    result: Landed,
    sha256: Callable[[], str],
) -> None:
    """Put the cells of every record into the sink, write the sidecar, and count in `result`.

    `sha256` reads the file to its end, and gives that of all its bytes.  Memory: a batch of rows.
    """
    landed = datetime.fromtimestamp(held.claim.act_time_ms / 1000, timezone.utc)
    items = iter_records(source, digests=("sha1", "sha256"))
    rows = iter_rows(counted(items, result), archive_file=held.archive_file, landed=landed)
    write_sidecar(
        sidecar,
        _put_captures(sink, rows, held, collection, result),
        lambda: SidecarOf(held.archive_file, 1, sha256()),
    )
    compression = compression_of(source)
    result.compression = compression if compression in COMPRESSIONS else "none"


def _put_captures(
    sink: RowSink,
    rows: Iterable[SidecarRow],
    held: Held,
    collection: str,
    result: Landed,
) -> Iterator[SidecarRow]:
    """Yield the rows, and put their cells in batches."""
    act_time, name = held.claim.act_time_ms, held.archive_file
    captures: list[Put] = []
    digests: list[Put] = []
    for row in rows:
        if row.row_key is not None:
            result.captures += 1
            captures.append(Put(row.row_key, capture_cells(row, name), act_time))
            for key, cells in digest_rows(row, name, collection):
                digests.append(Put(key, cells, act_time))
            if len(captures) >= sink.batch_rows:
                sink.put("captures", captures)
                sink.put("digests", digests)
                captures, digests = [], []
        yield row
    sink.put("captures", captures)
    sink.put("digests", digests)


def counted(items: Iterator[Item], result: Landed) -> Iterator[Record]:
    """Yield the records; note findings, and stretches that are not records, in `result`."""
    for item in items:
        if not isinstance(item, Record):
            result.damaged += 1
            result.note(item.offset, "no-record", f"to {item.end}: {item.reason}")
            continue
        if result.format == "none":
            result.format = "arc" if item.version.startswith("ARC") else "warc"
        result.records[item.type or "unknown"] += 1
        for finding in item.findings:
            result.note(finding.offset, finding.code, finding.message)
        yield item


def write_facts(
    store: RowStore, place: str, *, held: Held, collection: str, result: Landed
) -> None:
    """Write the file's own row: facts, origin, first generation, errors."""
    act = held.claim.act
    facts = FileFacts(
        size=result.size,
        sha256=result.sha256,
        collection=collection,
        format=result.format,
        compression=result.compression,
        act=act,
        source=place,
        captures=result.captures,
        damaged=result.damaged,
        records=dict(result.records),
        errors=dict(result.errors),
    )
    generation = GenerationFacts(
        file=held.archive_file,
        size=result.size,
        sha256=result.sha256,
        why="landed",
        act=act,
        dropped="",
    )
    cells = {
        FileFacts.COLUMN: encode_cell(facts),
        numbered_column(GenerationFacts, 1): encode_cell(generation),
    }
    if result.records["revisit"]:
        cells[ReferencesKept.COLUMN] = encode_cell(ReferencesKept(landing=act))
    errors = errors_of(result)
    if errors is not None:
        cells[FileErrors.COLUMN] = encode_cell(errors)
    key = encode_file_key(held.archive_file)
    store.mutate("files", [Put(key, cells, held.claim.act_time_ms)])


def errors_of(result: Landed) -> FileErrors | None:
    """The first errors of a file; None where it has none."""
    if not result.lines:
        return None
    more = sum(result.errors.values()) - len(result.lines)
    return FileErrors(lines=tuple(result.lines), more=more)
