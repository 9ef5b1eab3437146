"""What is in flight is left out at a cost that does not grow with how much that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from landed_stores import LandedStore, page

from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.file_rows import INFLIGHT, hidden_among
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import InFlight
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Put, Row
from pinakes.row_store.sqlite.store import EmbeddedRowStore

URI = "http://example.org/"


class CountingRowStore(EmbeddedRowStore):
    """Counts the rows of `inflight` that it gives."""

    given = 0

    def scan(self, table: str, *arguments: Any, **options: Any) -> Iterator[Row]:
        for row in super().scan(table, *arguments, **options):
            self.given += table == INFLIGHT
            yield row

    def get_rows(self, table: str, *arguments: Any, **options: Any) -> dict[bytes, Row]:
        found = super().get_rows(table, *arguments, **options)
        self.given += len(found) * (table == INFLIGHT)
        return found


def hide(store: LandedStore, count: int) -> list[str]:
    names = [f"c/{number:04d} ü.warc.gz" for number in range(count)]
    puts = [Put(encode_file_key(name), {b"l:present": b'{"v":1}'}, None) for name in names]
    store.rows.mutate(INFLIGHT, puts)
    return names


@pytest.mark.parametrize("count", [0, 1, 249, 250, 251, 1000])
def test_those_in_flight_of_those_asked_for(store: LandedStore, count: int) -> None:
    names = hide(store, count)
    for asked in ([], names[-1:], names[::100], names[::5], names, ["c/other.warc.gz"]):
        others = ["c/no.warc.gz", "d/no.warc.gz"]
        assert hidden_among(store.rows, [*asked, *others]) == set(asked) & set(names)
        assert hidden_among(store.rows, asked) == set(asked) & set(names)


def test_a_reader_pages_while_a_thousand_files_are_in_flight(store: LandedStore) -> None:
    records = [page(URI, b"%d" % n, date=f"2020-01-02T03:{n // 60:02d}:{n % 60:02d}Z")
               for n in range(1200)]  # fmt: skip
    store.land("d", "a.warc.gz", *records)
    hide(store, 1000)
    rows = CountingRowStore(store.folder / "rows.sqlite")
    try:
        assert len(list(scan_captures_of(rows, urlkey(URI)))) == len(records)
        assert rows.given == 0  # one file was asked for in each of three batches
        hidden_among(rows, ["c/0007 ü.warc.gz", *(f"d/{n}.warc.gz" for n in range(49))])
        assert rows.given == 1  # of 50 by name
        hidden_among(rows, ["c/0007 ü.warc.gz", *(f"d/{n}.warc.gz" for n in range(50))])
        assert rows.given == 1 + 250 + 1
    finally:
        rows.close()


# --- Visible files: asked again together, and never one that has left


class Counting:
    """Counts the calls of a store."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        self.calls += 1
        return getattr(self._rows, name)


def test_files_are_asked_again_together(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    names = [f"one/{n}.warc.gz" for n in range(5)]
    for n in range(5):
        store.land("one", f"{n}.warc.gz", page(f"http://example.org/{n}"))
    now_s = [0.0]
    rows: Any = Counting(store.rows)
    files = VisibleFiles(rows, fresh_s=1.0, clock=lambda: now_s[0])
    for name in names:
        assert files.among([name]).keys() == {name}
    assert files.among(["one/nothing.warc.gz"]) == {}
    one_by_one, rows.calls = rows.calls, 0
    now_s[0] = 2.0
    leaving = {InFlight.COLUMN: encode_cell(InFlight(act="remove-1", direction="leaving"))}
    store.rows.mutate(INFLIGHT, [Put(encode_file_key(names[0]), leaving, None)])
    for name in names[1:]:
        assert files.among([name]).keys() == {name}
    assert 0 < rows.calls < one_by_one / 2
    assert files.among(names).keys() == set(names[1:])
    store.close()
