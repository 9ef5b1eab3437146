"""The captures that have a digest, as lines: by collection, then by age."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.catalog.captures import TABLE
from pinakes.catalog.crawl_originals import CrawlFinder
from pinakes.catalog.lookup import TABLE as DIGESTS
from pinakes.catalog.lookup import scan_scopes
from pinakes.catalog.originals import Asked
from pinakes.hbase_schema.capture_cells import DigestEntry
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.digest_keys import digests_of
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest

from .answer import AnswerProgress
from .lines import VALUES, Line, values_of
from .reports import report_line
from .row_lines import RowLines

_PIECE_ROWS = 500


def iter_digest_lines(
    store: RowStore,
    lines_of_rows: RowLines,
    digest: Digest,
    collection: str | None,
    *,
    limit: int,
    progress: AnswerProgress,
) -> Iterator[list[Line]]:
    """Batches of lines, `limit` in all; lazy.  A piece takes three round trips."""
    scopes = [collection] if collection is not None else list(scan_scopes(store))
    left = limit
    for scope in scopes:
        keys: KeyRange | None = digests_of(scope, digest.algorithm, digest.hex)
        while keys is not None and left:
            wanted = min(left, _PIECE_ROWS)
            found = store.scan_values(DIGESTS, keys, [DigestEntry.COLUMN], limit_rows=wanted)
            captures = [
                decode_cell(DigestEntry, value).capture_key.encode("ascii")
                for value in found.values()
            ]
            values = values_of(store.get_rows(TABLE, captures, columns=VALUES).values())
            lines = lines_of_rows.of({key: values[key] for key in captures if key in values})
            progress.rows += len(found)
            progress.lines += len(lines)
            left -= len(lines)
            yield lines
            last = next(reversed(found), b"")
            keys = KeyRange(last + b"\0", keys.stop_row) if len(found) == wanted else None


def iter_original_line(
    store: RowStore,
    lines_of_rows: RowLines,
    finder: CrawlFinder,
    digest: Digest,
    progress: AnswerProgress,
) -> Iterator[list[Line]]:
    """The line of the one capture with a digest that a crawler may refer to, if there is one."""
    for found in finder.iter_found([Asked(digest)]):
        lines: list[Line] = []
        if found is not None and found.original is not None:
            key = found.original.copy.key
            rows = store.get_rows(TABLE, [key], columns=VALUES)
            lines = lines_of_rows.of(values_of(rows.values()))
        elif found is not None and found.report is not None:
            lines = [report_line(found.report)]
        progress.lines += len(lines)
        yield lines
