"""What a repair has replaced, as it is kept in the quarantine of the archive store.

.quarantine/ID/rows.jsonl     the rows that it changes: their cells before and after
.quarantine/ID/record.json    what it changes, when, why; written before anything is changed
.quarantine/ID/0, 1, …        the files that it replaced or deleted
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import BinaryIO, NamedTuple

from pinakes.archive_store.port import QUARANTINE, ArchiveStore
from pinakes.archive_store.text_lines import iter_text_lines
from pinakes.errors import InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import Pin
from pinakes.hbase_schema.cells import decode_cell
from pinakes.row_store.port import RowStore, StoredCell

_RECORD, _ROWS = "record.json", "rows.jsonl"
_VERSION = 1
Cells = Mapping[bytes, StoredCell]


class RowChange(NamedTuple):
    """The cells of a row that a repair changes; a column that is missing has, or gets, no cell.

    The time of a cell of `after` is the one that is wished for: where a delete would hide it, it
    is written later.
    """

    table: str
    key: bytes
    before: Cells
    after: Cells


class FileChange(NamedTuple):
    """A file that a repair replaces or deletes, and where it is kept.

    `before` and `after` are SHA-256s; None for no file, and for what was written aside.
    """

    name: str
    kept: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRepair:
    """The record of one repair.

    `file` is what the finding names.  `archive_file` is the one whose rows or sidecar are changed,
    if any, with its landing and generation at that time.  `undoes` is the repair that this one put
    back.
    """

    id: str
    time: str
    code: str
    file: str
    why: str
    archive_file: str | None
    landing: str | None
    generation: int
    rows: int
    rows_sha256: str
    files: tuple[FileChange, ...]
    undoes: str | None = None


def folder_of(repair: str) -> str:
    """The folder of a repair in the archive store."""
    return f"{QUARANTINE}/{repair}"


def record_name(repair: str) -> str:
    """The file with the record of a repair."""
    return f"{folder_of(repair)}/{_RECORD}"


def rows_name(repair: str) -> str:
    """The file with the rows that a repair changes."""
    return f"{folder_of(repair)}/{_ROWS}"


def encode_repair(repair: KeptRepair) -> bytes:
    """The record as JSON."""
    return json.dumps({"v": _VERSION, **asdict(repair)}, indent=1).encode("ascii")


def read_repair(archive: ArchiveStore, repair: str) -> KeptRepair:
    """The record of a repair.

    Raises:
        InputRefused: there is none of this id.
        MalformedRecord: it cannot be read, or a newer version wrote it.
    """
    name = record_name(repair)
    if archive.size(name) is None:
        raise InputRefused("nothing of this id is in the quarantine", file=repair)
    with archive.open(name) as file:
        content = b"".join(iter_text_lines(file))
    try:
        fields = json.loads(content)
        if fields.pop("v") != _VERSION:
            raise MalformedRecord("a newer Pinakes wrote it: upgrade", file=name)
        fields["files"] = tuple(FileChange(*change) for change in fields["files"])
        return KeptRepair(**fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise MalformedRecord(f"the record of the repair is damaged: {error}", file=name) from error


def scan_repairs(archive: ArchiveStore) -> Iterator[str]:
    """Yield the ids of all repairs, the oldest first; also those that were never begun, without a
    record."""
    last = None
    for stored in archive.list(QUARANTINE):
        repair = stored.name.split("/")[1]
        if repair != last:
            yield repair
            last = repair


def repairs_of_files(archive: ArchiveStore) -> dict[str, str]:
    """The last repair that took each file away and still keeps it, by the name of the file.

    A record that cannot be read is passed over: `fsck --quarantine` names it.
    """
    found = {}
    kept = {stored.name for stored in archive.list(QUARANTINE)}
    for repair in scan_repairs(archive):
        with suppress(InputRefused, MalformedRecord):
            for change in read_repair(archive, repair).files:
                if change.after is None and f"{folder_of(repair)}/{change.kept}" in kept:
                    found[change.name] = repair
    return found


def encode_change(change: RowChange) -> bytes:
    """A line for a row."""
    line = [change.table, _text(change.key), _encoded(change.before), _encoded(change.after)]
    return json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n"


def read_changes(file: BinaryIO) -> Iterator[RowChange]:
    """Yield the rows from a file of lines.  Memory: some lines."""
    for line in iter_text_lines(file):
        table, key, before, after = json.loads(line)
        yield RowChange(table, _bytes(key), _decoded(before), _decoded(after))


def _encoded(cells: Cells) -> dict[str, tuple[str, int]]:
    return {_text(column): (_text(cell.value), cell.timestamp_ms) for column, cell in cells.items()}


def _decoded(cells: Mapping[str, tuple[str, int]]) -> Cells:
    return {
        _bytes(column): StoredCell(_bytes(value), timestamp_ms)
        for column, (value, timestamp_ms) in cells.items()
    }


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def deletions(store: RowStore, table: str, keys: Iterable[bytes]) -> Iterator[RowChange]:
    """The changes that delete these rows, but for pins that can be read: revisits refer to those
    records.

    One round trip; give it some thousands.
    """
    for key, row in store.get_rows(table, list(keys)).items():
        cells = {
            column: cell
            for column, cell in row.cells.items()
            if column != Pin.COLUMN or not _is_pin(cell.value)
        }
        if cells:
            yield RowChange(table, key, cells, {})


def _is_pin(value: bytes) -> bool:
    try:
        return bool(decode_cell(Pin, value))
    except (MalformedRecord, SchemaError):
        return False


def reversed_change(change: RowChange) -> RowChange:
    """The change that takes this one back.

    What was deleted is written a moment later than it was: a delete hides what is no later.
    """
    gone = change.before.keys() - change.after.keys()
    before = {
        column: cell._replace(timestamp_ms=cell.timestamp_ms + 1) if column in gone else cell
        for column, cell in change.before.items()
    }
    return change._replace(before=change.after, after=before)
