"""A row store over another that fails at its n-th call, before or after doing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.hbase_schema.tables import Schema
from pinakes.row_store.port import Mutation, Row, RowStore, StoredCell

T = TypeVar("T")


class FailingRowStore:
    """Raises StoreUnavailable at call `fail_at` (from 1), and at that call only.

    With `applied` the call is done all the same, as when an answer is lost on its way.
    """

    def __init__(self, store: RowStore, fail_at: int, *, applied: bool = False) -> None:
        self.store = store
        self.fail_at = fail_at
        self.applied = applied
        self.calls = 0

    def _call(self, call: Callable[[], T]) -> T:
        self.calls += 1
        if self.calls != self.fail_at:
            return call()
        if self.applied:
            call()
        raise StoreUnavailable(f"call {self.calls} fails, as was asked for")

    @property
    def schema(self) -> Schema:
        return self.store.schema

    def get_rows(
        self,
        table: str,
        rows: Sequence[bytes],
        *,
        columns: Sequence[bytes] | None = None,
        before_ms: int | None = None,
    ) -> dict[bytes, Row]:
        return self._call(
            lambda: self.store.get_rows(table, rows, columns=columns, before_ms=before_ms)
        )

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
        return self._call(
            lambda: self.store.scan(
                table,
                key_range,
                columns=columns,
                before_ms=before_ms,
                reverse=reverse,
                limit_rows=limit_rows,
            )
        )

    def first_rows(
        self,
        table: str,
        key_ranges: Sequence[KeyRange],
        *,
        limit_rows: int,
        columns: Sequence[bytes] | None = None,
    ) -> Iterator[list[Row]]:
        return self._call(
            lambda: self.store.first_rows(table, key_ranges, limit_rows=limit_rows, columns=columns)
        )

    def scan_values(
        self,
        table: str,
        key_range: KeyRange,
        columns: Sequence[bytes],
        *,
        limit_rows: int,
        reverse: bool = False,
    ) -> dict[bytes, bytes]:
        return self._call(
            lambda: self.store.scan_values(
                table, key_range, columns, limit_rows=limit_rows, reverse=reverse
            )
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
        return self._call(
            lambda: self.store.values_around(
                table, key_range, key, columns, rows_before=rows_before, rows_after=rows_after
            )
        )

    def versions(self, table: str, row: bytes, column: bytes) -> list[StoredCell]:
        return self._call(lambda: self.store.versions(table, row, column))

    def mutate(self, table: str, mutations: Iterable[Mutation]) -> None:
        self._call(lambda: self.store.mutate(table, mutations))

    def check_and_put(
        self, table: str, row: bytes, column: bytes, *, expected: bytes | None, value: bytes
    ) -> bool:
        return self._call(
            lambda: self.store.check_and_put(table, row, column, expected=expected, value=value)
        )

    def close(self) -> None:
        self.store.close()
