"""Rows as lines, and back; what cannot be a line is refused."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import SchemaError
from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry
from pinakes.hbase_schema.capture_keys import encode_capture_key
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.hbase_schema.digest_keys import encode_digest_keys
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.row_spool import CAPTURES, DIGESTS
from pinakes.row_store.bulk_text import BulkTable, load_by_puts
from pinakes.row_store.port import Put
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

TABLE = BulkTable(name="captures", columns=(b"m:a", b"m:b"))
ANY_TEXT = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    ["\t", "\n", "\r", "\r\n", "\x00", "\x0b\x0c\x1c\x85\u2028", "\udc80\udcff", "\ufeff", "é"]
)
# What no file system has for a name is refused before.
NAMES = ANY_TEXT.map(lambda text: re.sub("[\ud800-\udc7f\udd00-\udfff]", "", text))
TIMES = st.integers(min_value=1, max_value=1 << 52)


def test_line_is_in_the_format_of_the_tool() -> None:
    put = Put(b"key x", {b"m:b": b"2", b"m:a": b'{"v":1}'}, 1234)
    assert TABLE.encode([put]) == b'key x\t1234\t{"v":1}\t2\n'
    assert TABLE.import_columns == "HBASE_ROW_KEY,HBASE_TS_KEY,m:a,m:b"
    assert TABLE.encode([put, put]).count(b"\n") == 2
    assert TABLE.encode([]) == b""


@pytest.mark.parametrize(
    "put",
    [
        Put(b"k", {b"m:a": b"1"}, 1),
        Put(b"k", {b"m:a": b"1", b"m:c": b"2"}, 1),
        Put(b"k", {b"m:a": b"1", b"m:b": b"2", b"m:c": b"3"}, 1),
        Put(b"k", {b"m:a": b"1", b"m:b": b"2"}, None),
        Put(b"k\t", {b"m:a": b"1", b"m:b": b"2"}, 1),
        Put(b"k", {b"m:a": b"1\n", b"m:b": b"2"}, 1),
        Put(b"k", {b"m:a": b"1", b"m:b": b"2\r"}, 1),
    ],
    ids=["a column less", "another", "one more", "no time", "tab", "line feed", "return"],
)
def test_invalid_line_is_refused(put: Put) -> None:
    good = Put(b"a", {b"m:a": b"1", b"m:b": b"2"}, 1)
    with pytest.raises(SchemaError):
        TABLE.encode([good, put, good])


@given(uri=ANY_TEXT, key=ANY_TEXT, media_type=ANY_TEXT, file=NAMES, time=TIMES)
def test_captures_of_any_text_are_one_line_each(
    uri: str, key: str, media_type: str, file: str, time: int
) -> None:
    facts = CaptureFacts(
        type="response",
        target_uri=uri,
        date="2020",
        archive_file=f"c/{file}",
        ordinal=1,
        mime=media_type,
    )
    cells = {CaptureFacts.COLUMN: encode_cell(facts)}
    row = encode_capture_key(key, "20200101000000000", f"c/{file}", 1)
    put = Put(row, cells, time)
    line = CAPTURES.encode([put])
    assert line.count(b"\n") == 1
    assert CAPTURES.decode(line[:-1]) == put
    assert decode_cell(CaptureFacts, put.cells[CaptureFacts.COLUMN]) == facts


@given(file=NAMES, time=TIMES)
def test_digests_of_files_of_any_name_are_one_line_each(file: str, time: int) -> None:
    (row,) = encode_digest_keys(
        "default", [("sha1", bytes(20))], 5, "20200101000000", f"c/{file}", 7
    )
    put = Put(row, {DigestEntry.COLUMN: encode_cell(DigestEntry(capture_key="k"))}, time)
    line = DIGESTS.encode([put])
    assert line.count(b"\n") == 1
    assert DIGESTS.decode(line[:-1]) == put


def test_files_are_put_with_their_times(tmp_path: Path) -> None:
    EmbeddedSchemaAdmin(tmp_path / "rows").apply(declared_schema())
    store = EmbeddedRowStore(tmp_path / "rows")
    table = BulkTable(name="captures", columns=(b"m:capture",))
    puts = [Put(b"%05d" % n, {b"m:capture": b"v%d" % n}, 1000 + n) for n in range(10_001)]
    # Two gzip files, one behind the other, are one.
    text = gzip.compress(table.encode(puts[:5])) + gzip.compress(table.encode(puts[5:]))
    (tmp_path / "part.gz").write_bytes(text)
    calls: list[int] = []
    load_by_puts(store, {table: [tmp_path / "part.gz"]}, lambda: calls.append(1))
    assert len(calls) == 2
    for put, row in zip(puts, store.scan("captures"), strict=True):
        cell = row.cells[b"m:capture"]
        assert (row.key, cell.value, cell.timestamp_ms) == (
            put.row,
            *put.cells.values(),
            put.timestamp_ms,
        )
    store.close()
