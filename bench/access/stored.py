"""Stores of drawn captures, without archive files: rows as landing writes them."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from bench.landing import COLLECTION, batches_of
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.record_rows import row_key_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import (
    CurrentGeneration,
    FileFacts,
    FileStateCell,
    GenerationFacts,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.profile import ARCHIVE, ROWS
from pinakes.row_store.port import Put, RowStore
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

from .drawn import CRAWL, FILE_CAPTURES, RECORD_BYTES, DrawnCapture, captures

_ACT = "ingest-drawn"
_ACT_TIME_MS = 1
_PAYLOAD_BYTES = 700


def sidecar_row(capture: DrawnCapture) -> SidecarRow:
    """The row of a drawn capture, as if its record had been read."""
    date = f"{capture.time:%Y-%m-%dT%H:%M:%SZ}"
    return SidecarRow(
        ordinal=capture.ordinal,
        row_key=row_key_of(capture.url, date, capture.archive_file, capture.ordinal),
        type="response",
        record_id=f"urn:x-drawn:{capture.number}",
        target_uri=capture.url,
        date=date,
        status=200,
        method=None,
        media_type=capture.media_type,
        offset=capture.offset,
        length=RECORD_BYTES,
        inner_offset=0,
        content_length=_PAYLOAD_BYTES + 80,
        payload_size=_PAYLOAD_BYTES,
        sha1=hashlib.sha1(capture.content).digest(),
        sha256=hashlib.sha256(capture.content).digest(),
        dechunked_sha1=None,
        dechunked_sha256=None,
        declared=f"sha1:{capture.digest}",
        verified_over="stored",
        skip=None,
        findings=None,
        refers_uri=None,
        refers_date=None,
        refers_id=None,
        concurrent_to=None,
    )


def build(folder: Path, count: int) -> Path:
    """A store of so many drawn captures in `folder`, made unless it is there; its own folder.

    Its name has a digest of what landing would write today, so that one with older cells is
    not taken for one with today's.
    """
    store = folder / f"store-{count}-{_cells_digest()}"
    if store.is_dir():
        return store
    aside = Path(tempfile.mkdtemp(dir=folder, prefix="part-"))  # two may be made at once
    EmbeddedSchemaAdmin(aside / ROWS).apply(declared_schema())
    (aside / ARCHIVE).mkdir()
    with closing(EmbeddedRowStore(aside / ROWS)) as rows:
        fill(rows, count)
    if store.is_dir():
        shutil.rmtree(aside)
    else:
        aside.rename(store)
    return store


def fill(rows: RowStore, count: int) -> None:
    """Put so many drawn captures into a store."""
    facts = CrawlFacts(collection=COLLECTION)
    ensure_crawl(rows, CRAWL, facts, act=_ACT, act_time_ms=_ACT_TIME_MS)
    for name, of_it in groupby(captures(count), key=lambda one: one.archive_file):
        by_table: dict[str, list[Put]] = {}
        for table, puts in batches_of(map(sidecar_row, of_it), name):
            by_table.setdefault(table, []).extend(puts)
        for table, puts in by_table.items():  # a file at once: few transactions, sorted keys
            rows.mutate(table, puts)
        rows.mutate("files", _file_puts(name))


def _cells_digest() -> str:
    state = hashlib.sha256()
    for put in _sample(captures(100)):
        state.update(repr((put.row, sorted(put.cells.items()))).encode())
    return state.hexdigest()[:8]


def _sample(drawn: Iterable[DrawnCapture]) -> Iterator[Put]:
    for _, puts in batches_of(map(sidecar_row, drawn), f"{CRAWL}/x"):
        yield from puts


def _file_puts(name: str) -> list[Put]:
    """The row of a file that has landed, and is full."""
    size, sha256 = FILE_CAPTURES * RECORD_BYTES, hashlib.sha256(name.encode()).hexdigest()
    facts = FileFacts(
        size=size,
        sha256=sha256,
        collection=COLLECTION,
        format="warc",
        compression="gzip",
        act=_ACT,
        captures=FILE_CAPTURES,
    )
    generation = GenerationFacts(file=name, size=size, sha256=sha256, why="landed", act=_ACT)
    was = {
        FileFacts.COLUMN: encode_cell(facts),
        numbered_column(GenerationFacts, 1): encode_cell(generation),
    }
    present = {
        FileStateCell.COLUMN: encode_cell(FileStateCell(state=FileState.STORED.value, act=_ACT)),
        CurrentGeneration.COLUMN: encode_cell(CurrentGeneration(generation=1, act=_ACT)),
    }
    key = encode_file_key(name)
    return [Put(key, was, _ACT_TIME_MS), Put(key, present, None)]
