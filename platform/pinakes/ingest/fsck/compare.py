"""The cells of a capture's row as its record makes them, compared with those that stand.

Pure: rows go in, differences come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

from pinakes.catalog.captures import TABLE
from pinakes.catalog.generation_rows import is_same_decision, mark_of, without_decision
from pinakes.catalog.record_rows import capture_cells, location_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.errors import MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark, Location, Pin
from pinakes.hbase_schema.cells import C, Cell, decode_cell, encode_cell
from pinakes.hbase_schema.columns import CELLS, column_suffix, numbered_column
from pinakes.hbase_schema.generation_names import Generation
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.port import Row
from pinakes.warc.digest import format_digest

_PLACE = frozenset({"offset", "length", "inner_offset"})
_WITHDRAWN = ("target_uri", "date", "archive_file", "ordinal", "record_id", "payload_sha256")
"""What the sidecar still says of a capture that was withdrawn."""
_SHOWN = 80


class CellDifference(NamedTuple):
    """A cell that is not as the bytes say.

    `code` is that of the finding; `value` is what it should be, None to delete it; `run` wrote
    it, where it is a decision.  Without `is_known` bytes cannot say what it should be.
    """

    code: str
    key: bytes
    column: bytes
    what: str
    value: bytes | None = None
    run: str | None = None
    is_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNow:
    """What is known of the file of a row; `last` is its last generation that was written.

    `is_settled`: no act goes on that has written ahead of it.  `run` wrote the current generation.
    """

    current: Generation
    last: int
    run: str
    withdrawing: frozenset[int]
    is_settled: bool


def cell_class(table: str, column: bytes) -> type[Cell] | None:
    """The class of the cells of a column; None: there is no such column."""
    for cls in CELLS[table]:
        if column == cls.COLUMN:
            return cls
        if cls.COLUMN.endswith(b".") and column.startswith(cls.COLUMN):
            return cls if column_suffix(column) else None
    return None


def decoded(cls: type[C], value: bytes | None) -> C | None:
    """A cell; None where there is none, or it cannot be decoded."""
    try:
        return decode_cell(cls, value) if value is not None else None
    except (MalformedRecord, SchemaError):
        return None


def compare_capture(
    row: SidecarRow, run: str | None, stands: Row, older: Mapping[int, Location], file: FileNow
) -> Iterator[CellDifference]:
    """What is wrong with the cells of a capture, by column."""
    wanted = expected_cells(row, run, stands, older, file)
    for column, value in sorted(wanted.items()):
        yield from _compare(row, stands, column, value, file)
    for column in sorted(stands.cells.keys() - wanted.keys()):
        yield from _judge(row, stands, column, file)


def expected_cells(
    row: SidecarRow,
    run: str | None,
    stands: Row | None,
    older: Mapping[int, Location],
    file: FileNow,
) -> dict[bytes, bytes]:
    """The cells of its row that can be made of a record, which lay at `older` in generations that
    are still there; of one that was withdrawn its places alone.

    Only the row says where it was first, if that generation was dropped.
    """
    current = file.current
    cells = {}
    if current.number > 1:
        column = numbered_column(Location, current.number)
        cells[column] = encode_cell(location_of(row, current.ending))
    for number, where in older.items():
        if number > 1:
            cells[numbered_column(Location, number)] = encode_cell(where)
    if is_tombstone_row(row):
        return cells
    landed = without_decision(row) if row.is_replaced else row
    first = older[1] if 1 in older else _first_place(row, stands, current.number)
    if first is not None:
        landed = landed._replace(
            offset=first.offset, length=first.length, inner_offset=first.inner_offset
        )
    generation = current.number if first is None else 1
    cells |= capture_cells(landed, current.archive_file, generation=generation)
    mark = mark_of(row, run or file.run)
    if mark is not None:
        cells[DedupeMark.COLUMN] = encode_cell(mark)
    return cells


def _first_place(
    row: SidecarRow, stands: Row | None, generation: int
) -> SidecarRow | Location | None:
    if generation == 1:
        return row
    facts = decoded(CaptureFacts, stands.value(CaptureFacts.COLUMN)) if stands is not None else None
    if facts is None or facts.offset is None or facts.length is None:
        return None
    return Location(offset=facts.offset, length=facts.length, inner_offset=facts.inner_offset)


def _compare(
    row: SidecarRow, stands: Row, column: bytes, value: bytes, file: FileNow
) -> Iterator[CellDifference]:
    there = stands.value(column)
    if there == value:
        return
    cls = cell_class(TABLE, column) or CaptureFacts
    key = stands.key
    known = decoded(cls, there)
    if cls is DedupeMark:
        yield from _compare_marks(stands, value, file)
    elif there is None:
        is_place = cls is Location
        code = "location" if is_place else "rows-missing"
        yield CellDifference(code, key, column, "is missing", value)
    elif known is None:
        yield CellDifference("cell", key, column, f"cannot be read: {shown(there)}", value)
    else:
        names = _differing(known, decode_cell(cls, value), stands)
        if names:
            is_place = cls is Location or names.keys() <= _PLACE
            code = "location" if is_place else "cell"
            yield CellDifference(code, key, column, _describe(names), value)


def _differing(known: Cell, wanted: Cell, stands: Row) -> dict[str, tuple[object, object]]:
    """The fields that differ: what stands, what the bytes say."""
    names = {
        field.name: (getattr(known, field.name), getattr(wanted, field.name))
        for field in fields(known)
        if getattr(known, field.name) != getattr(wanted, field.name)
    }
    if isinstance(known, CaptureFacts) and known.offset is None and names.keys() <= _PLACE:
        # As older versions wrote it: the place is in a cell of its own.
        first = decoded(Location, stands.value(numbered_column(Location, 1)))
        if isinstance(wanted, CaptureFacts) and first is not None:
            place = (wanted.offset, wanted.length, wanted.inner_offset)
            if (first.offset, first.length, first.inner_offset) == place:
                return {}
    return names


def _compare_marks(stands: Row, value: bytes, file: FileNow) -> Iterator[CellDifference]:
    there = stands.value(DedupeMark.COLUMN)
    mark, wanted = decoded(DedupeMark, there), decode_cell(DedupeMark, value)
    if there is not None and mark is None:
        what = f"cannot be read: {shown(there)}"
    elif not file.is_settled or is_same_decision(mark, wanted):
        return
    elif mark is None:
        what = "is missing"
    else:
        what = _describe(_differing(mark, wanted, stands))
    yield CellDifference("cell", stands.key, DedupeMark.COLUMN, what, value, wanted.run)


def _judge(row: SidecarRow, stands: Row, column: bytes, file: FileNow) -> Iterator[CellDifference]:
    """A cell that cannot be made of the record."""
    key, value = stands.key, stands.cells[column].value
    cls = cell_class(TABLE, column)
    if cls is None or (cls is Location and not _may_be(column, file)):
        yield CellDifference("invented", key, column, f"nothing writes it: {shown(value)}")
        return
    known = decoded(cls, value)
    if is_tombstone_row(row) and cls is CaptureFacts:
        yield from _judge_withdrawn(row, stands, known, file)
    elif known is None:
        yield _unreadable(key, column, cls, value, file)
    elif cls is DedupeMark and file.is_settled and not is_tombstone_row(row):
        what = "says that dedupe decided on it, and its record does not"
        yield CellDifference("invented", key, column, what)
    elif cls.COLUMN == b"m:cdx":
        yield CellDifference("invented", key, column, "is of an archive elsewhere")


def _judge_withdrawn(
    row: SidecarRow, stands: Row, known: Cell | None, file: FileNow
) -> Iterator[CellDifference]:
    wanted = decode_cell(
        CaptureFacts, capture_cells(row, file.current.archive_file)[CaptureFacts.COLUMN]
    )
    if known is None:
        what = "of a withdrawn capture cannot be read"
    else:
        names = _differing(known, wanted, stands)
        what = _describe({name: names[name] for name in _WITHDRAWN if name in names})
    if what:
        code, column = "cell", CaptureFacts.COLUMN
        yield CellDifference(code, stands.key, column, what, is_known=False)


def _unreadable(
    key: bytes, column: bytes, cls: type[Cell], value: bytes, file: FileNow
) -> CellDifference:
    what = f"cannot be read: {shown(value)}"
    if cls is Pin:
        return CellDifference("cell", key, column, what, encode_cell(Pin(run=file.run)), file.run)
    # A place that was dropped, or of a generation that is not current: no reader asks for it.
    return CellDifference("cell", key, column, what, is_known=cls is not Withdrawal)


def _may_be(column: bytes, file: FileNow) -> bool:
    """Whether an act may have written a location of that number."""
    number = column_suffix(column)
    is_number = number.isdigit() and str(int(number)) == number
    return is_number and 1 <= int(number) <= max(file.last, file.current.number) + 1


def _describe(names: Mapping[str, tuple[object, object]]) -> str:
    return ", ".join(
        f"{name} is {shown(there)}, the file says {shown(said)}"
        for name, (there, said) in names.items()
    )


def shown(value: object, field: str = "") -> str:
    """A value as findings show it: bytes as the text that they are, digests by their field."""
    if isinstance(value, bytes):
        algorithm = field.removeprefix("dechunked_")
        is_digest = algorithm in ("sha1", "sha256")
        text = value.decode("utf-8", "backslashreplace")
        value = format_digest(algorithm, value) if is_digest else text
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
