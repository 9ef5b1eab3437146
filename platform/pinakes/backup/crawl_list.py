"""The crawls known when the snapshot of the files was taken, one per line.

Rows of `crawls` are snapshotted before those of `files`: files of a crawl that began in between
may be in the backup without its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pinakes.archive_store.port import ArchiveReader, ArchiveStore
from pinakes.catalog.crawl_rows import TABLE
from pinakes.hbase_schema.name_keys import ALL_CRAWLS
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.row_store.port import Put, RowStore

from .contents import CRAWLS, FileLine, read_listed, write_text

# As stored, also where it has rotted: what is wrong with it `fsck` says, of the store that it is
# restored to as well.
_ERRORS = "surrogateescape"


def write_crawls(rows: RowStore, target: ArchiveStore, *, token: str) -> FileLine:
    """Write the list of the crawls known now."""
    lines = []
    for row in rows.scan(TABLE, ALL_CRAWLS, columns=[CrawlFacts.COLUMN]):
        cell = row.cells[CrawlFacts.COLUMN]
        lines.append(
            json.dumps(
                {
                    "crawl": row.key.decode("ascii", _ERRORS),
                    "act_time_ms": cell.timestamp_ms,
                    "facts": cell.value.decode("utf-8", _ERRORS),
                }
            )
            + "\n"
        )
    return write_text(target, CRAWLS, "".join(lines), token=token)


def iter_crawls(backup: ArchiveReader, lines: Iterable[FileLine]) -> Iterator[Put]:
    """The facts of these crawls, as written.

    Raises:
        DigestMismatch: the list differs from the one written.
    """
    [listed] = [line for line in lines if line.name == CRAWLS]
    for text in read_listed(backup, listed).splitlines():
        line = json.loads(text)
        cells = {CrawlFacts.COLUMN: line["facts"].encode("utf-8", _ERRORS)}
        yield Put(line["crawl"].encode("ascii", _ERRORS), cells, line["act_time_ms"])
