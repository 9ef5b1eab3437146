"""Table 1 of the Webstore paper: crawl by crawl, what repeats in it and of the one before.

D. Gomes, A. L. Santos, M. J. Silva: Managing duplicates in a web archive (SAC 2006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pinakes.mr_jobs.study.figures import CrawlFigures
from pinakes.mr_jobs.study.spark_extra import DataFrame, F

_CRAWL = ["collection", "crawl"]


def crawl_figures(index: DataFrame, captures: DataFrame, contents: DataFrame) -> list[CrawlFigures]:
    """A line for each crawl, by collection and the mean time of its captures.

    `captures` are those of the index that take part, `contents` a row for each crawl and
    content.  What crawls share is found by joining contents and URLs, each one row a crawl.
    """
    urls = captures.select(*_CRAWL, "url_surtkey").distinct().persist()
    parts = (
        index.select(*_CRAWL).distinct(),
        captures.groupBy(*_CRAWL).agg(
            F.sum("captures").alias("captures"),
            F.sum("body_bytes").alias("body_bytes"),
            # Ten billion times of today are more than a long holds.
            F.sum(F.col("original.second").cast("decimal(20,0)")).alias("seconds"),
        ),
        contents.groupBy(*_CRAWL).agg(
            F.count("*").alias("contents"), F.sum("original.body_bytes").alias("first_bytes")
        ),
        urls.groupBy(*_CRAWL).agg(F.count("*").alias("urls")),
    )
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for part in parts:
        for row in part.collect():
            found[row["collection"], row["crawl"]].update(row.asDict())
    lines = sorted(map(_line, found.values()), key=_order)
    last = {
        line.crawl: before.crawl
        for before, line in pairwise(lines)
        if before.collection == line.collection
    }
    return _with_last(lines, last, contents, urls)


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
    lines: Sequence[CrawlFigures],
    last: Mapping[str, str],
    contents: DataFrame,
    urls: DataFrame,
) -> list[CrawlFigures]:
    pairs = contents.sparkSession.createDataFrame(list(last.items()), "crawl string, last string")

    def shared(rows: DataFrame, column: str) -> DataFrame:
        """Those rows whose crawl's last crawl has one with the same value there."""
        before = rows.select("collection", F.col("crawl").alias("last"), column)
        here = rows.join(F.broadcast(pairs), "crawl")
        return here.join(before, ["collection", "last", column], "left_semi").groupBy("crawl")

    repeated = {
        row["crawl"]: row
        for row in shared(contents, "content")
        .agg(F.sum("captures").alias("captures"), F.sum("body_bytes").alias("body_bytes"))
        .collect()
    }
    persistent = {
        row["crawl"]: row["urls"]
        for row in shared(urls, "url_surtkey").agg(F.count("*").alias("urls")).collect()
    }
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
