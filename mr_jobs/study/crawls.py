"""Table 1 of the Webstore paper: crawl by crawl, what repeats in it and of the one before.

D. Gomes, A. L. Santos, M. J. Silva: Managing duplicates in a web archive (SAC 2006).
"""

# ruff: noqa: S608  (queries are put together from names that stand here)
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pinakes.mr_jobs.study.database import VIEW, Database
from pinakes.mr_jobs.study.figures import CrawlFigures

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
    """By collection, then time, then name; crawls without captures behind the others."""
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
