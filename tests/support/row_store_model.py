"""A row store as a dict, and a machine that does the same to both.

`RowStoreMachine` needs `opener`: `test_embedded_row_store.py` shows how.
"""

from __future__ import annotations

from itertools import count

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from store_openers import StoreOpener

from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.row_store.port import Delete, Put, Row, StoredCell

KEPT = 3
FACT_COLUMNS = (b"f:facts", b"f:errors")
PRESENT_COLUMNS = (b"l:claim", b"l:state")
_runs = count()

rows = st.sampled_from([b"a", b"a!", b"b", b"c", b"c%20"])
values = st.binary(max_size=3)
times = st.integers(1, 12)


class RowStoreMachine(RuleBasedStateMachine):
    """Facts: (row, column) → {time: value}.  Present: (row, column) → value."""

    opener: StoreOpener

    def __init__(self) -> None:
        super().__init__()
        self.store = self.opener.open()
        self.prefix = b"model%d/" % next(_runs)
        self.facts: dict[tuple[bytes, bytes], dict[int, bytes]] = {}
        self.present: dict[tuple[bytes, bytes], bytes] = {}
        self.deleted: dict[tuple[bytes, bytes], int] = {}

    @rule(
        row=rows,
        cells=st.dictionaries(st.sampled_from(FACT_COLUMNS), values, min_size=1),
        time=times,
    )
    def put(self, row: bytes, cells: dict[bytes, bytes], time: int) -> None:
        # A put follows a delete with a later time: nothing else is promised.
        time += max(self.deleted.get((row, column), 0) for column in FACT_COLUMNS)
        self.store.mutate("files", [Put(self.prefix + row, cells, time)])
        for column, value in cells.items():
            self.facts.setdefault((row, column), {})[time] = value

    @rule(row=rows, columns=st.sets(st.sampled_from(FACT_COLUMNS)), time=times)
    def delete(self, row: bytes, columns: set[bytes], time: int) -> None:
        self.store.mutate("files", [Delete(self.prefix + row, time, sorted(columns))])
        for column in columns or FACT_COLUMNS:
            versions = self.facts.get((row, column), {})
            # Versions beyond those kept are nobody's promise: none of them comes back.
            kept = sorted(versions, reverse=True)[:KEPT]
            self.facts[row, column] = {t: versions[t] for t in kept if t > time}
            self.deleted[row, column] = max(time, self.deleted.get((row, column), 0))

    @rule(row=rows, column=st.sampled_from(PRESENT_COLUMNS), value=values)
    def put_present(self, row: bytes, column: bytes, value: bytes) -> None:
        self.store.mutate("files", [Put(self.prefix + row, {column: value}, None)])
        self.present[row, column] = value

    @rule(row=rows, column=st.sampled_from(PRESENT_COLUMNS), expected=st.none() | values, v=values)
    def check_and_put(self, row: bytes, column: bytes, expected: bytes | None, v: bytes) -> None:
        key = self.prefix + row
        done = self.store.check_and_put("files", key, column, expected=expected, value=v)
        assert done == (self.present.get((row, column)) == expected)
        if done:
            self.present[row, column] = v

    @rule(row=rows, columns=st.sets(st.sampled_from(PRESENT_COLUMNS)))
    def delete_present(self, row: bytes, columns: set[bytes]) -> None:
        self.store.mutate("files", [Delete(self.prefix + row, None, sorted(columns))])
        for column in columns or PRESENT_COLUMNS:
            self.present.pop((row, column), None)

    @rule(reverse=st.booleans(), before_ms=st.none() | st.integers(0, 30), start=rows, stop=rows,
          limit=st.none() | st.integers(1, 4))  # fmt: skip
    def scan(
        self, reverse: bool, before_ms: int | None, start: bytes, stop: bytes, limit: int | None
    ) -> None:
        found = self.store.scan(
            "files",
            KeyRange(self.prefix + start, self.prefix + stop),
            reverse=reverse,
            before_ms=before_ms,
            limit_rows=limit,
        )
        expected = [row for row in self.expected(before_ms) if start <= row[0] < stop]
        wanted = (expected[::-1] if reverse else expected)[:limit]
        assert [self.bare(row) for row in found] == wanted

    @rule(reverse=st.booleans(), start=rows, stop=rows, limit=st.integers(1, 4),
          column=st.sampled_from(FACT_COLUMNS + PRESENT_COLUMNS))  # fmt: skip
    def scan_values(
        self, reverse: bool, start: bytes, stop: bytes, limit: int, column: bytes
    ) -> None:
        asked = KeyRange(self.prefix + start, self.prefix + stop)
        found = self.store.scan_values("files", asked, [column], limit_rows=limit, reverse=reverse)
        rows = self.store.scan("files", asked, columns=[column], reverse=reverse, limit_rows=limit)
        assert list(found.items()) == [(row.key, row.value(column)) for row in rows]

    @rule(ranges=st.lists(st.tuples(rows, rows), max_size=60), limit=st.integers(1, 4))
    def first_rows(self, ranges: list[tuple[bytes, bytes]], limit: int) -> None:
        asked = [KeyRange(self.prefix + start, self.prefix + stop) for start, stop in ranges]
        found = self.store.first_rows("files", asked, limit_rows=limit)
        there = self.expected(None)
        assert [[self.bare(row) for row in some] for some in found] == [
            [row for row in there if start <= row[0] < stop][:limit] for start, stop in ranges
        ]

    @invariant()
    def everything_is_the_same(self) -> None:
        found = list(self.store.scan("files", prefix_range(self.prefix)))
        assert [self.bare(row) for row in found] == self.expected(None)
        again = self.store.get_rows("files", [row.key for row in found])
        assert list(again.values()) == found
        for (row, column), versions in self.facts.items():
            kept = sorted(versions.items(), reverse=True)[:KEPT]
            cells = self.store.versions("files", self.prefix + row, column)
            assert cells == [StoredCell(value, time) for time, value in kept]

    def expected(self, before_ms: int | None) -> list[tuple[bytes, dict[bytes, bytes]]]:
        found: dict[bytes, dict[bytes, bytes]] = {}
        for (row, column), versions in self.facts.items():
            kept = sorted(versions.items(), reverse=True)[:KEPT]
            for time, value in kept:
                if before_ms is None or time < before_ms:
                    found.setdefault(row, {})[column] = value
                    break
        if before_ms is None:
            for (row, column), value in self.present.items():
                found.setdefault(row, {})[column] = value
        return sorted(found.items())

    def bare(self, row: Row) -> tuple[bytes, dict[bytes, bytes]]:
        cells = {column: cell.value for column, cell in row.cells.items()}
        return row.key.removeprefix(self.prefix), cells

    def teardown(self) -> None:
        self.store.close()
