"""How much of an archive repeats: the figures of `pinakes study`, asked of a `Database`.

All sums over groups, combined where the captures are: a content with a hundred million
copies is a number at each task, and nothing is sorted or joined by capture.  What repeats
in a group is all of it without its originals, and those are one row for each content.

Crawl by crawl it is Table 1 of the Webstore paper: what repeats in a crawl, and of the one before.
D. Gomes, A. L. Santos, M. J. Silva: Managing duplicates in a web archive (SAC 2006).
"""

# ruff: noqa: S608  (queries are put together from names that stand here)
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pinakes.mr_jobs.study.database import VIEW, Database
from pinakes.mr_jobs.study.figures import (
    COUNTS,
    DEDUPE_SCOPE,
    LARGEST,
    SIZE_CLASSES,
    UNKNOWN,
    CrawlFigures,
    Share,
    Study,
    by_weight,
)

_PARTS = (
    f"SELECT DISTINCT collection, crawl FROM {VIEW}",
    # Ten billion times of today are more than a long holds.
    """
SELECT collection, crawl, sum(captures) AS captures, sum(body_bytes) AS body_bytes,
  sum(CAST(original.second AS decimal(20,0))) AS seconds
FROM captures GROUP BY collection, crawl
""",
    """
SELECT collection, crawl, count(*) AS contents, sum(original.body_bytes) AS first_bytes
FROM contents GROUP BY collection, crawl
""",
    "SELECT collection, crawl, count(*) AS urls FROM urls GROUP BY collection, crawl",
)


def crawl_figures(database: Database) -> list[CrawlFigures]:
    """A line for each crawl, by collection and the mean time of its captures.

    The table `captures` has those that take part, `contents` a row for each crawl and
    content.  What crawls share is found by joining contents and URLs, each one row a crawl.
    """
    database.keep("urls", "SELECT DISTINCT collection, crawl, url_surtkey FROM captures")
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for part in _PARTS:
        for row in database.rows(part):
            found[row["collection"], row["crawl"]].update(row)
    lines = sorted(map(_line, found.values()), key=_order)
    last = {
        line.crawl: before.crawl
        for before, line in pairwise(lines)
        if before.collection == line.collection
    }
    return _with_last(database, lines, last)


def _line(row: Mapping[str, Any]) -> CrawlFigures:
    """Of a crawl in which nothing takes part only the names are there."""
    captures = row.get("captures", 0)
    body_bytes = row.get("body_bytes", 0)
    return CrawlFigures(
        crawl=row["crawl"],
        collection=row["collection"],
        mean_time=int(row["seconds"]) // captures if captures else None,
        captures=captures,
        urls=row.get("urls", 0),
        contents=row.get("contents", 0),
        body_bytes=body_bytes,
        duplicate_bytes=body_bytes - row.get("first_bytes", 0),
    )


def _order(line: CrawlFigures) -> tuple[object, ...]:
    """By collection, then time, then name; crawls without captures after the others."""
    return line.collection, line.mean_time is None, line.mean_time or 0, line.crawl


def _with_last(
    database: Database, lines: Sequence[CrawlFigures], last: Mapping[str, str]
) -> list[CrawlFigures]:
    database.put("last_crawls", {"crawl": list(last), "last_crawl": list(last.values())})
    sums = "sum(captures) AS captures, sum(body_bytes) AS body_bytes"
    repeated = {row["crawl"]: row for row in database.rows(_shared("contents", "content", sums))}
    urls = database.rows(_shared("urls", "url_surtkey", "count(*) AS urls"))
    persistent = {row["crawl"]: row["urls"] for row in urls}
    return [
        replace(
            line,
            last=last[line.crawl],
            of_last=repeated[line.crawl]["captures"] if line.crawl in repeated else 0,
            of_last_bytes=repeated[line.crawl]["body_bytes"] if line.crawl in repeated else 0,
            persistent=persistent.get(line.crawl, 0),
        )
        if line.crawl in last
        else line
        for line in lines
    ]


def _shared(table: str, column: str, counts: str) -> str:
    """Counts, by crawl, of those rows whose crawl's last crawl has one with the same value."""
    return f"""
SELECT crawl, {counts}
FROM (SELECT /*+ BROADCAST(last_crawls) */ * FROM {table} JOIN last_crawls USING (crawl)) AS here
SEMI JOIN (SELECT collection, crawl AS last_crawl, {column} FROM {table}) AS before
USING (collection, last_crawl, {column})
GROUP BY crawl
"""


STEPS = 9
"""How often `advance` is called."""

SCOPES = (
    ("within each crawl", ("collection", "crawl", "content")),
    (DEDUPE_SCOPE, ("collection", "content")),
    ("all together", ("content",)),
    ("within each collection, framing aside", ("collection", "unframed")),
    ("all together, framing aside", ("unframed",)),
)
"""What is one content, from the narrowest: by which columns captures are grouped."""

_TABLES = {"host": "host", "media_type": "media_type", "size": "size", "time": "month"}
"""Tables, each with the field of `ORIGINAL` that it goes by."""

ORIGINAL = (
    "second",
    "archive_file",
    "record_ordinal",
    *_TABLES.values(),
    "body_bytes",
    "file_bytes",
)
"""What is known of a capture.  It sorts as dedupe orders captures: by second, file, ordinal."""

_LEFT_OUT = f"""
SELECT reason, count(*) AS captures
FROM (
  SELECT CASE WHEN record_type <> 'response' THEN record_type
    ELSE coalesce(skip, 'no digest') END AS reason
  FROM {VIEW} WHERE NOT takes_part
) AS captures
GROUP BY reason
"""

_SIZE = " ".join(
    f"WHEN payload_size < {below} THEN '{name}'"
    for name, below in SIZE_CLASSES
    if below is not None
)

# A row for each capture that takes part, as a group of one; `original` is what is first.
_CAPTURES = f"""
SELECT collection, crawl, url_surtkey,
  concat_ws(' ', content_sha256, status) AS content,
  concat_ws(' ', coalesce(content_dechunked_sha256, content_sha256), status) AS unframed,
  struct({", ".join(ORIGINAL)}) AS original,
  1 AS captures, body_bytes, file_bytes
FROM (
  SELECT *,
    CAST(fetch_status AS string) AS status,
    unix_timestamp(fetch_time) AS second,
    coalesce(url_host_name, '{UNKNOWN}') AS host,
    coalesce(content_mime_type, '{UNKNOWN}') AS media_type,
    CASE {_SIZE} ELSE '{SIZE_CLASSES[-1][0]}' END AS size,
    substring(CAST(fetch_time AS string), 1, 7) AS month,
    payload_size AS body_bytes,
    warc_record_length AS file_bytes
  FROM {VIEW} WHERE takes_part
) AS described
"""


def study(database: Database, advance: Callable[[int], None] = lambda count: None) -> Study:
    """The figures of all captures in a `ccindex`, of its columns `STUDIED`.

    Reads it once, and drops it.
    """
    left_out = {row["reason"]: row["captures"] for row in database.rows(_LEFT_OUT)}
    advance(1)
    database.keep("captures", _CAPTURES)
    database.keep("contents", _originals("captures", SCOPES[0][1]))
    crawls = crawl_figures(database)
    database.drop(VIEW)  # all else is of those that take part
    advance(1)
    scopes = []
    for name, columns in SCOPES:
        grouped = "captures" if "unframed" in columns else "contents"
        scopes.append(_scope(database, name, _originals(grouped, columns)))
        advance(1)
    database.keep("originals", _originals("contents", SCOPES[1][1]))
    total = next(scope for scope in scopes if scope.name == DEDUPE_SCOPE)
    tables = {name: _table(database, field, total) for name, field in _TABLES.items()}
    advance(2)
    return Study(crawls=crawls, scopes=scopes, tables=_in_order(tables), left_out=left_out)


def _originals(captures: str, columns: Sequence[str]) -> str:
    """A row for each content: its first capture, and the sums of all."""
    names = ", ".join(columns)
    return f"""
SELECT {names}, min(original) AS original,
  sum(captures) AS captures, sum(body_bytes) AS body_bytes, sum(file_bytes) AS file_bytes
FROM {captures} GROUP BY {names}
"""


def _scope(database: Database, name: str, contents: str) -> Share:
    [sums] = database.rows(f"""
SELECT sum(captures) AS captures, sum(captures) - count(*) AS duplicates,
  sum(body_bytes) AS body_bytes,
  sum(body_bytes) - sum(original.body_bytes) AS duplicate_bytes,
  sum(file_bytes) AS file_bytes,
  sum(file_bytes) - sum(original.file_bytes) AS duplicate_file_bytes
FROM ({contents}) AS contents
""")
    return Share(name=name, **{count: sums[count] or 0 for count in COUNTS})


def _table(database: Database, field: str, total: Share) -> list[Share]:
    """Captures and what of them repeats, by one property: all of them, without the originals."""
    heaviest = database.rows(f"""
SELECT name, sum(captures) AS captures, sum(captures) - sum(firsts) AS duplicates,
  sum(body_bytes) AS body_bytes, sum(body_bytes) - sum(first_body_bytes) AS duplicate_bytes,
  sum(file_bytes) AS file_bytes, sum(file_bytes) - sum(first_file_bytes) AS duplicate_file_bytes
FROM (
  SELECT original.{field} AS name, captures, body_bytes, file_bytes,
    0 AS firsts, 0 AS first_body_bytes, 0 AS first_file_bytes
  FROM captures
  UNION ALL
  SELECT original.{field}, 0, 0, 0, 1, original.body_bytes, original.file_bytes
  FROM originals
) AS each_once
GROUP BY name ORDER BY duplicate_bytes DESC, name LIMIT {LARGEST}
""")
    return by_weight((Share(**row) for row in heaviest), total)


def _in_order(tables: Mapping[str, list[Share]]) -> dict[str, list[Share]]:
    """Sizes from the least and times from the first; others stay."""
    order = {name: number for number, (name, _) in enumerate(SIZE_CLASSES)}
    return {
        **tables,
        "size": sorted(tables["size"], key=lambda share: order[share.name]),
        "time": sorted(tables["time"], key=lambda share: share.name),
    }
