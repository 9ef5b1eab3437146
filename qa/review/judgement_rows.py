"""Judgements and sign-offs in the catalogue: a cell for each, never overwritten.

    qa_pairs   a:annotation.ID   a judgement of a pair
    runs       f:signoff.ID      a sign-off of a run

The cell's timestamp is the time of saving, later than every cell of its kind in the row.  The
same content under the same id is one judgement: saving again is safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from pinakes.errors import Conflict, InputRefused, MalformedRecord
from pinakes.hbase_schema.act_times import next_act_time
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.columns import column_suffix, named_column
from pinakes.hbase_schema.name_keys import encode_run_key, pairs_of
from pinakes.hbase_schema.qa_cells import Annotation, SignOff
from pinakes.row_store.port import Put, Row, RowStore, get_row

from .judgement import (
    BlindTo,
    Judgement,
    Label,
    Role,
    SettledLabel,
    Statement,
    in_order,
    settled,
)
from .reviewed_pair import judgements_needed

_PAIRS, _RUNS = "qa_pairs", "runs"
_FAMILY = b"a"
_ID = re.compile(r"[0-9a-f]{16,64}\Z")


class SignOffState(str, Enum):
    """The states of a sign-off."""

    ACCEPTED = "accepted"
    TO_PATCH = "to patch"
    REJECTED = "rejected"


class StoredSignOff(NamedTuple):
    """A sign-off, its id, and when it was made, in milliseconds since 1970."""

    id: str
    at_ms: int
    cell: SignOff


class JudgedRow(NamedTuple):
    """The judgements of a pair, the oldest first, and how many cells could not be read."""

    key: bytes
    judgements: tuple[Judgement, ...]
    unreadable: int = 0


def scan_judgements(rows: RowStore, run: str) -> Iterator[JudgedRow]:
    """The pairs of a run with judgements, by key; lazy."""
    for row in rows.scan(_PAIRS, pairs_of(run), columns=[_FAMILY]):
        yield _judged(row)


def read_judgements(rows: RowStore, key: bytes) -> JudgedRow:
    """The judgements of one pair.  One round trip."""
    row = get_row(rows, _PAIRS, key, columns=[_FAMILY])
    return _judged(row) if row is not None else JudgedRow(key, ())


def put_judgement(rows: RowStore, key: bytes, judgement: Judgement, *, now_ms: int) -> Judgement:
    """Save it, with its time.  Two round trips.

    Raises:
        Conflict: another judgement has this id.
        InputRefused: not a valid id.
        StoreUnavailable: it may or may not be saved; save it again.
    """
    row = get_row(rows, _PAIRS, key, columns=[_FAMILY])
    cell = _annotation(judgement)
    at_ms = _put(rows, _PAIRS, key, row, _checked(judgement.id), cell, now_ms)
    return replace(judgement, at_ms=at_ms)


def scan_settled(rows: RowStore, run: str) -> Iterator[tuple[bytes, SettledLabel]]:
    """What is settled of a run, by row key; lazy."""
    for row in scan_judgements(rows, run):
        found = settled(row.judgements, judgements_needed(row.key))
        if found is not None:
            yield row.key, found


def read_signoffs(rows: RowStore, run: str) -> list[StoredSignOff]:
    """All sign-offs of a run, the oldest first."""
    row = get_row(rows, _RUNS, encode_run_key(run), columns=[b"f"])
    cells = row.cells.items() if row is not None else ()
    signed = [
        StoredSignOff(column_suffix(column), cell.timestamp_ms, decode_cell(SignOff, cell.value))
        for column, cell in cells
        if column.startswith(SignOff.COLUMN)
    ]
    return sorted(signed, key=lambda one: (one.at_ms, one.id))


def put_signoff(rows: RowStore, run: str, id: str, cell: SignOff, *, now_ms: int) -> StoredSignOff:  # noqa: A002
    """Sign a run.  `Raises` as `put_judgement` does.

    The same author, state and note under an existing id return the existing sign-off: its counts
    are those of the first time, and there may be newer judgements.
    """
    _checked(id)
    key = encode_run_key(run)
    row = get_row(rows, _RUNS, key, columns=[b"f"])
    there = row.cells.get(named_column(SignOff, id)) if row is not None else None
    if there is not None:
        known = decode_cell(SignOff, there.value)
        if (known.author, known.state, known.note) == (cell.author, cell.state, cell.note):
            return StoredSignOff(id, there.timestamp_ms, known)
    return StoredSignOff(id, _put(rows, _RUNS, key, row, id, cell, now_ms), cell)


def _put(
    rows: RowStore,
    table: str,
    key: bytes,
    row: Row | None,
    id: str,  # noqa: A002
    cell: Annotation | SignOff,
    now_ms: int,
) -> int:
    column, value = named_column(type(cell), id), encode_cell(cell)
    others = row.cells if row is not None else {}
    there = others.get(column)
    if there is not None:
        if there.value != value:
            raise Conflict("this id has other content")
        return there.timestamp_ms
    at_ms = next_act_time(now_ms, *(other.timestamp_ms for other in others.values()))
    rows.mutate(table, [Put(key, {column: value}, at_ms)])
    return at_ms


def _checked(id: str) -> str:  # noqa: A002
    if not _ID.match(id):
        raise InputRefused("an id must be 16 to 64 hexadecimal digits")
    return id


def _judged(row: Row) -> JudgedRow:
    found: list[Judgement] = []
    unreadable = 0
    for column, cell in row.cells.items():
        if not column.startswith(Annotation.COLUMN):
            continue
        try:
            annotation = decode_cell(Annotation, cell.value)
            found.append(_judgement(column_suffix(column), annotation, cell.timestamp_ms))
        except (MalformedRecord, ValueError, InputRefused):
            unreadable += 1
    return JudgedRow(row.key, tuple(in_order(found)), unreadable)


def _judgement(id: str, cell: Annotation, at_ms: int) -> Judgement:  # noqa: A002
    return Judgement(
        id=id,
        author=cell.author,
        statement=Statement(label=Label(cell.label), faults=cell.faults, note=cell.note or ""),
        at_ms=at_ms,
        role=Role(cell.role),
        blind_to=tuple(map(BlindTo, cell.blind_to)),
    )


def _annotation(judgement: Judgement) -> Annotation:
    statement = judgement.statement
    return Annotation(
        author=judgement.author,
        label=statement.label.value,
        note=statement.note or None,
        faults=statement.faults,
        role=judgement.role.value,
        blind_to=tuple(what.value for what in judgement.blind_to),
    )
