"""Ranges of row keys, in byte order, for scans."""

from __future__ import annotations

from typing import NamedTuple


class KeyRange(NamedTuple):
    """Row keys from `start_row` to `stop_row` (exclusive; None is the end of the table)."""

    start_row: bytes = b""
    stop_row: bytes | None = None

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, bytes) or key < self.start_row:
            return False
        return self.stop_row is None or key < self.stop_row


ALL_ROWS = KeyRange()
"""The whole table."""


def prefix_range(prefix: bytes) -> KeyRange:
    """All keys that begin with these bytes."""
    head = prefix.rstrip(b"\xff")
    if not head:
        return KeyRange(prefix, None)
    return KeyRange(prefix, head[:-1] + bytes([head[-1] + 1]))
