"""Counters of one process that lands files, passed down as an argument.

Stores get a function to call at each retry, and do not know this class:
`HBaseRowStore(connection, on_retry=tally.counting(ROW_RETRIES))`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

FILES, KNOWN, REFUSED, FAILED = "files", "known", "refused", "failed"
"""Files that landed, had landed before, were refused, could not be stored."""

RECORDS, BYTES, CAPTURES, DAMAGED = "records", "bytes", "captures", "damaged"
MISMATCHES = "mismatches"
ROW_RETRIES, ARCHIVE_RETRIES = "row_retries", "archive_retries"


class Tally:
    """Counts by name.  Safe for several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, count: int = 1) -> None:
        with self._lock:
            self._counts[name] += count

    def counting(self, name: str) -> Callable[[], None]:
        """A function that adds one each time it is called."""
        return lambda: self.add(name)

    def counts(self) -> Mapping[str, int]:
        """What has been counted so far: a copy."""
        with self._lock:
            return dict(self._counts)
