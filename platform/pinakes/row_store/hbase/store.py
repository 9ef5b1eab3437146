"""The row store on HBase, through its Thrift servers.

Nothing is held between calls: no scanner, no buffer, no lock.  Every call may be repeated: puts
and deletes have timestamps, scans continue after the last row, and the winner of a check-and-put
is read from the cell.  Where HBase differs from the port, the difference is corrected here:

- reads of the past may return versions that a compaction will remove;
- an empty value counts as no value (`hbase_present`);
- a repeated put gets a new timestamp (`hbase_clock`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pinakes.errors import SchemaError
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.hbase_schema.tables import Schema, declared_schema
from pinakes.row_store.port import Delete, Mutation, Put, Row, StoredCell
from pinakes.row_store.rules import TableRules, rules_of

from .batches import (
    CellsByRow,
    ColumnsByRow,
    deletes_by_time,
    iter_batches,
    puts_by_time,
)
from .calls import HBaseCalls
from .clock import StoreClock
from .connection import HBaseConnection
from .first_rows import first_rows, rows_around
from .own_table import CLOCK_COLUMN, CLOCK_ROW, OWN_TABLE, schema_in_force
from .ranges import ScanRange
from .reads import Reading, encode_present
from .wire import rows_interface


class HBaseRowStore:
    """A `RowStore` in the tables that `HBaseSchemaAdmin` has made.

    Raises ConfigError if there are none, SchemaError if their schema differs,
    MissingExtra without happybase, StoreUnavailable if no server answers.
    """

    def __init__(
        self,
        connection: HBaseConnection,
        schema: Schema | None = None,
        *,
        on_retry: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_retry` is called before each repeated call."""
        self._connection = connection
        self._calls = HBaseCalls(
            rows_interface, "Hbase", connection.servers, connection, on_retry=on_retry
        )
        self._clock = StoreClock(self._time_ms, retry_s=connection.retry_s)
        self._schema = schema_in_force(self._calls, connection, schema or declared_schema())
        self._rules = rules_of(self._schema)

    @property
    def schema(self) -> Schema:
        return self._schema

    def get_rows(
        self,
        table: str,
        rows: Sequence[bytes],
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
    ) -> dict[bytes, Row]:
        return {row.key: row for row in self._reading(table, columns, before_ms).get(rows)}

    def scan(
        self,
        table: str,
        key_range: KeyRange = ALL_ROWS,
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
        reverse: bool = False,
        limit_rows: int | None = None,
    ) -> Iterator[Row]:
        reading = self._reading(table, columns, before_ms)
        return reading.scan(ScanRange(key_range, reverse), limit_rows)

    def first_rows(
        self,
        table: str,
        key_ranges: Sequence[KeyRange],
        *,
        limit_rows: int,
        columns: Sequence[bytes] | None = None,
    ) -> Iterator[list[Row]]:
        return first_rows(self._reading(table, columns), key_ranges, limit_rows)

    def scan_values(
        self,
        table: str,
        key_range: KeyRange,
        columns: Sequence[bytes],
        *,
        limit_rows: int,
        reverse: bool = False,
    ) -> dict[bytes, bytes]:
        return _newest_values(
            self.scan(table, key_range, columns=columns, reverse=reverse, limit_rows=limit_rows)
        )

    def values_around(
        self,
        table: str,
        key_range: KeyRange,
        key: bytes,
        columns: Sequence[bytes],
        *,
        rows_before: int,
        rows_after: int,
    ) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
        asked_rows = max(rows_before, rows_after)
        before, after = rows_around(self._reading(table, columns), key_range, key, asked_rows)
        return _newest_values(before[:rows_before]), _newest_values(after[:rows_after])

    def versions(self, table: str, row: bytes, column: bytes) -> list[StoredCell]:
        return self._reading(table).versions(row, column)

    def mutate(self, table: str, mutations: Iterable[Mutation]) -> None:
        rules = self._rules_of(table)
        for batch in iter_batches(_checked(rules, mutations)):
            self._put(table, [m for m in batch if isinstance(m, Put)])
            self._delete(table, [m for m in batch if isinstance(m, Delete)])

    def check_and_put(
        self, table: str, row: bytes, column: bytes, *, expected: bytes | None, value: bytes
    ) -> bool:
        self._rules_of(table).present_column(column)
        before = None if expected is None else encode_present(expected)
        put = self._calls.interface.Mutation(column=column, value=encode_present(value))
        name = self._connection.table(table)
        asked = False

        def ask(client: Any) -> bool:
            nonlocal asked
            unanswered, asked = asked, True
            done: bool = client.checkAndPut(name, row, column, before, put, {})
            if done or not unanswered:
                return done
            # An earlier attempt without an answer may have succeeded: then the cell is ours.
            return any(cell.value == put.value for cell in client.get(name, row, column, {}))

        return self._calls.call(ask)

    def close(self) -> None:
        self._calls.close()

    # --- mutations

    def _put(self, table: str, puts: Sequence[Put]) -> None:
        for time_ms, cells in puts_by_time(puts).items():
            if time_ms is None:
                later_than_ms = max(self._present_times(table, list(cells)), default=0)
                self._send_puts(table, _encoded(cells), self._clock.next_ms(later_than_ms))
            else:
                self._send_puts(table, cells, time_ms)

    def _delete(self, table: str, deletes: Sequence[Delete]) -> None:
        rules = self._rules_of(table)
        calls = deletes_by_time(deletes, rules.act_families, rules.present_families)
        for time_ms, columns in calls.items():
            if time_ms is not None:
                self._send_deletes(table, columns, time_ms)
                continue
            # By the timestamps of the cells: so it deletes cells dated ahead of the clock,
            # and a repeated or late delete spares later puts.
            newest_ms = max(self._present_times(table, list(columns)), default=None)
            if newest_ms is not None:
                self._send_deletes(table, columns, newest_ms)
                self._clock.wait_past(newest_ms)  # HBase would hide a put that is dated no later

    def _present_times(self, table: str, rows: Sequence[bytes]) -> list[int]:
        """The timestamps of the store-clock cells in these rows."""
        found = self.get_rows(table, rows, columns=self._rules_of(table).present_families)
        return [cell.timestamp_ms for row in found.values() for cell in row.cells.values()]

    def _send_puts(self, table: str, cells: CellsByRow, time_ms: int) -> None:
        mutation = self._calls.interface.Mutation
        self._send(table, time_ms, {
            row: [mutation(column=c, value=v) for c, v in columns.items()]
            for row, columns in cells.items()
        })  # fmt: skip

    def _send_deletes(self, table: str, columns: ColumnsByRow, time_ms: int) -> None:
        mutation = self._calls.interface.Mutation
        self._send(table, time_ms, {
            row: [mutation(isDelete=True, column=c) for c in chosen]
            for row, chosen in columns.items()
        })  # fmt: skip

    def _send(self, table: str, time_ms: int, rows: Mapping[bytes, list[Any]]) -> None:
        name = self._connection.table(table)
        batch = [self._calls.interface.BatchMutation(row, some) for row, some in rows.items()]
        self._calls.call(lambda client: client.mutateRowsTs(name, batch, time_ms, {}))

    def _time_ms(self) -> int:
        """HBase's time, from the timestamp that it gives a cell."""
        name = self._connection.table(OWN_TABLE.name)
        put = self._calls.interface.Mutation(column=CLOCK_COLUMN, value=b"now")

        def ask(client: Any) -> int:
            client.mutateRow(name, CLOCK_ROW, [put], {})
            [cell] = client.get(name, CLOCK_ROW, CLOCK_COLUMN, {})
            return int(cell.timestamp)

        return self._calls.call(ask)

    # --- the schema

    def _rules_of(self, table: str) -> TableRules:
        rules = self._rules.get(table)
        if rules is None:
            raise SchemaError(f"there is no table {table!r}")
        return rules

    def _reading(
        self, table: str, columns: Sequence[bytes] | None = None, before_ms: int | None = None
    ) -> Reading:
        rules = self._rules_of(table)
        selected = rules.selected(columns, before_ms)
        return Reading(self._calls, self._connection.table(table), rules, selected, before_ms)


def _newest_values(rows: Iterable[Row]) -> dict[bytes, bytes]:
    return {row.key: row.cells[max(row.cells)].value for row in rows}


def _checked(rules: TableRules, mutations: Iterable[Mutation]) -> Iterator[Mutation]:
    for mutation in mutations:
        rules.check(mutation)
        yield mutation


def _encoded(cells: CellsByRow) -> CellsByRow:
    return {
        row: {column: encode_present(value) for column, value in columns.items()}
        for row, columns in cells.items()
    }
