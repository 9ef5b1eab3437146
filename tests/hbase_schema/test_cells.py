from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from cell_samples import SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import CaptureFacts, Location, QaVerdict
from pinakes.hbase_schema.cells import Cell, decode_cell, encode_cell
from pinakes.hbase_schema.columns import CELLS, column_suffix, named_column, numbered_column
from pinakes.hbase_schema.file_cells import ActCounts, FileErrors, FileFacts
from pinakes.hbase_schema.tables import declared_schema

# A line a cell: class, version, value.  Lines are added, never changed: stores hold them.
GOLDEN = Path(__file__).parent / "golden" / "cells.txt"

CLASSES = {cell.__name__: cell for cells in CELLS.values() for cell in cells}


def golden_lines() -> list[tuple[str, int, bytes]]:
    lines = []
    for line in GOLDEN.read_bytes().splitlines():
        name, version, value = line.split(b" ", 2)
        lines.append((name.decode(), int(version[1:]), value))
    return lines


@pytest.mark.parametrize(("name", "version", "value"), golden_lines())
def test_every_stored_cell_version_can_be_read(name: str, version: int, value: bytes) -> None:
    cell = decode_cell(CLASSES[name], value)
    if version == CLASSES[name].VERSION:
        assert cell in SAMPLES
        assert encode_cell(cell) == value


def test_every_version_of_every_cell_is_golden() -> None:
    golden = {(name, version) for name, version, _ in golden_lines()}
    wanted = {(n, v) for n, cls in CLASSES.items() for v in range(1, cls.VERSION + 1)}
    assert golden == wanted
    assert {type(cell) for cell in SAMPLES} == set(CLASSES.values())
    current = {value for name, v, value in golden_lines() if v == CLASSES[name].VERSION}
    assert {encode_cell(cell) for cell in SAMPLES} == current


def test_a_value_is_one_line_of_json_led_by_its_version() -> None:
    for cell in SAMPLES:
        value = encode_cell(cell)
        assert value.startswith(b'{"v":%d' % cell.VERSION)
        assert json.loads(value)["v"] == cell.VERSION
        assert min(value) >= 0x20


# Any text that bytes can become: Unicode, and bytes that are no UTF-8 (PEP 383).
texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF, categories=["Cs"]),
    )
)


@given(uri=texts, date=texts, archive_file=texts, record_id=st.none() | texts, status=st.integers())
def test_untrusted_text_comes_back(
    uri: str, date: str, archive_file: str, record_id: str | None, status: int
) -> None:
    cell = CaptureFacts(
        type="response",
        target_uri=uri,
        date=date,
        archive_file=archive_file,
        ordinal=0,
        record_id=record_id,
        status=status,
        findings=(uri, date),
    )
    assert decode_cell(CaptureFacts, encode_cell(cell)) == cell


def test_unicode_stays_readable() -> None:
    cell = ActCounts(verb="πίνακες", counts={"é": 1})
    assert encode_cell(cell) == '{"v":1,"verb":"πίνακες","counts":{"é":1}}'.encode()


@given(st.dictionaries(texts.filter(str.isascii), st.integers()))
def test_mapping_order_does_not_change_the_cell(counts: dict[str, int]) -> None:
    backwards = dict(reversed(counts.items()))
    one, other = (ActCounts(verb="v", counts=c) for c in (counts, backwards))
    assert encode_cell(one) == encode_cell(other)


def test_newer_cell_version_is_refused() -> None:
    with pytest.raises(SchemaError, match="has version 3, and this Pinakes knows 2"):
        decode_cell(Location, b'{"v":3,"whatever":[]}')


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"v":1,', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "no schema version"),
        (b"null", "no schema version"),
        (b'{"offset":1,"length":2}', "no schema version"),
        (b'{"v":0,"offset":1,"length":2}', "no schema version"),
        (b'{"v":true,"offset":1,"length":2}', "no schema version"),
        (b'{"v":1,"offset":1}', "length is missing"),
        (b'{"v":1,"offset":"1","length":2}', "offset should be integer"),
        (b'{"v":1,"offset":true,"length":2}', "offset should be integer"),
        (b'{"v":1,"offset":null,"length":2}', "offset should be integer"),
        (b'{"v":1,"offset":1,"length":2,"lenght":3}', "unknown fields: lenght"),
    ],
)
def test_invalid_cell_is_refused(value: bytes, message: str) -> None:
    with pytest.raises(MalformedRecord, match=message):
        decode_cell(Location, value)


@pytest.mark.parametrize(
    ("cls", "value"),
    [
        (QaVerdict, b'{"v":1,"run":"r","verdict":"good","score":"1"}'),
        (FileErrors, b'{"v":1,"lines":["a",1]}'),
        (ActCounts, b'{"v":1,"verb":"v","counts":{"a":1.5}}'),
        (ActCounts, b'{"v":1,"verb":"v","counts":[]}'),
    ],
    ids=["number", "texts", "counts", "mapping"],
)
def test_types_are_checked(cls: type[Cell], value: bytes) -> None:
    with pytest.raises(MalformedRecord, match="should be"):
        decode_cell(cls, value)


def test_nan_is_not_written() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        encode_cell(QaVerdict(run="r", verdict="v", score=float("nan")))


def test_an_older_cell_lacks_what_has_a_default() -> None:
    assert decode_cell(Location, b'{"v":1,"offset":1,"length":2}').inner_offset == 0


def test_cells_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Location(offset=1, length=2).offset = 3  # type: ignore[misc]


def test_a_class_of_fields_that_the_codec_does_not_know_is_an_error() -> None:
    @dataclass(frozen=True)
    class Odd:
        COLUMN: ClassVar[bytes] = b"m:odd"
        VERSION: ClassVar[int] = 1
        when: complex

    with pytest.raises(KeyError):
        encode_cell(Odd(when=1j))


def test_every_column_lies_in_a_declared_family_and_none_twice() -> None:
    schema = declared_schema()
    assert list(CELLS) == [table.name for table in schema.tables]
    for table in schema.tables:
        columns = [cell.COLUMN for cell in CELLS[table.name]]
        assert len(columns) == len(set(columns))
        families = {column.partition(b":")[0].decode() for column in columns}
        assert families == {family.name for family in table.families}


def test_columns_with_a_suffix() -> None:
    assert numbered_column(Location, 12) == b"m:location.12"
    assert column_suffix(b"m:location.12") == "12"
    assert named_column(ActCounts, "land-1.2") == b"f:counts.land-1.2"
    assert column_suffix(b"f:counts.land-1.2") == "land-1.2"
    with pytest.raises(ValueError, match="one column"):
        numbered_column(FileFacts, 1)
