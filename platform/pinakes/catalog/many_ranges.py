"""The rows of many ranges, read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import Row, RowStore

_FIRST_ROWS = 32


def rows_in(
    store: RowStore,
    table: str,
    ranges: Sequence[KeyRange],
    columns: Sequence[bytes] | None = None,
) -> Iterator[tuple[int, Row]]:
    """The rows of each range, in order, with the number of the range.

    The first of all ranges cost hardly more than those of a few; the rest of a range a scan.
    """
    if not ranges:
        return
    first = store.first_rows(table, ranges, limit_rows=_FIRST_ROWS, columns=columns)
    for number, rows in enumerate(first):
        yield from ((number, row) for row in rows)
        if len(rows) == _FIRST_ROWS:
            rest = KeyRange(rows[-1].key + b"\0", ranges[number].stop_row)
            yield from ((number, row) for row in store.scan(table, rest, columns=columns))
