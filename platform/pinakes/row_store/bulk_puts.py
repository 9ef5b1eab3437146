"""Loads files of rows by plain puts, for stores without bulk loading.

`hbase_bulk` loads the same files with HBase's tools.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from .bulk_text import BulkTable
from .port import RowStore

_BATCH_ROWS = 10_000


def load_by_puts(
    store: RowStore,
    parts: Mapping[BulkTable, Sequence[Path]],
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Put every row of these files, each with its timestamp.

    `meanwhile` is called after each batch.  Memory: a batch of rows.
    """
    for table, files in parts.items():
        for file in files:
            with gzip.open(file, "rb") as lines:
                while batch := [table.decode(line[:-1]) for line in islice(lines, _BATCH_ROWS)]:
                    store.mutate(table.name, batch)
                    meanwhile()
