"""Ranges of keys as HBase's scanner takes them.  Pure.

A scanner begins with a row and ends before another, in either direction.  A range begins
with a row and ends before another in byte order; read backwards, its ends change places,
and no key says "just before": so a backward scan is given a little too much, of which
`ScanRange.holds` lets through what belongs.
"""

from __future__ import annotations

from typing import NamedTuple

from pinakes.hbase_schema.ranges import KeyRange

_HIGHEST = b"\xff" * 16


class ScanRange(NamedTuple):
    """What a scanner is opened with, and the rows that count; empty bytes are no bound."""

    keys: KeyRange
    reverse: bool

    @property
    def is_empty(self) -> bool:
        """Asked for a range that ends where it begins, HBase would give that row."""
        return self.keys.stop_row is not None and self.keys.stop_row <= self.keys.start_row

    @property
    def first_row(self) -> bytes:
        """Where the scanner begins; in reverse this row is given and does not count."""
        return (self.keys.stop_row or b"") if self.reverse else self.keys.start_row

    @property
    def last_row(self) -> bytes:
        """Where the scanner ends; this row is not given."""
        return row_below(self.keys.start_row) if self.reverse else (self.keys.stop_row or b"")

    @property
    def surplus_rows(self) -> int:
        """How many rows a scanner may give that do not count, before those that do."""
        return 1 if self.reverse and self.keys.stop_row is not None else 0

    def after(self, row: bytes) -> ScanRange:
        """The rest, once `row` has been given."""
        if self.reverse:
            return self._replace(keys=KeyRange(self.keys.start_row, row))
        return self._replace(keys=KeyRange(row + b"\0", self.keys.stop_row))


def row_below(row: bytes) -> bytes:
    """A key below `row`, with next to nothing between them; exact where `row` ends in 0x00."""
    if not row or row.endswith(b"\0"):
        return row[:-1]
    return row[:-1] + bytes([row[-1] - 1]) + _HIGHEST
