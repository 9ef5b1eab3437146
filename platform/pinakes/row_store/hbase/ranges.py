"""Key ranges as HBase's scanner needs them.  Pure.

A scanner begins with a row and ends before another, in either direction.  A range includes its
start and excludes its stop in byte order; in reverse they are swapped, and no key expresses "just
before": so a reverse scan reads a little too much, which `ScanRange.holds` filters.
"""

from __future__ import annotations

from typing import NamedTuple

from pinakes.hbase_schema.ranges import KeyRange

_HIGHEST = b"\xff" * 16


class ScanRange(NamedTuple):
    """The bounds of a scanner, and the rows that belong; empty bytes: unbounded."""

    keys: KeyRange
    reverse: bool

    @property
    def is_empty(self) -> bool:
        """Whether the range is empty: for equal bounds HBase would return that row."""
        return self.keys.stop_row is not None and self.keys.stop_row <= self.keys.start_row

    @property
    def first_row(self) -> bytes:
        """The first row of the scanner; in reverse this row is returned but does not belong."""
        return (self.keys.stop_row or b"") if self.reverse else self.keys.start_row

    @property
    def last_row(self) -> bytes:
        """The stop row of the scanner (exclusive)."""
        return row_below(self.keys.start_row) if self.reverse else (self.keys.stop_row or b"")

    @property
    def surplus_rows(self) -> int:
        """How many rows a scanner may return that do not belong, before those that do."""
        return 1 if self.reverse and self.keys.stop_row is not None else 0

    def after(self, row: bytes) -> ScanRange:
        """The rest after `row`."""
        if self.reverse:
            return self._replace(keys=KeyRange(self.keys.start_row, row))
        return self._replace(keys=KeyRange(row + b"\0", self.keys.stop_row))


def row_below(row: bytes) -> bytes:
    """A key below `row`, with next to nothing between them; exact where `row` ends in 0x00."""
    if not row or row.endswith(b"\0"):
        return row[:-1]
    return row[:-1] + bytes([row[-1] - 1]) + _HIGHEST
