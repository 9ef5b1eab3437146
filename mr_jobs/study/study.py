"""How much of an archive repeats: the figures of `pinakes study`, computed by Spark.

All sums over groups, combined where the captures are: a content with a hundred million
copies is a number at each task, and nothing is sorted or joined by capture.  What repeats
in a group is all of it without its originals, and those are one row for each content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pinakes.mr_jobs.study.crawls import crawl_figures
from pinakes.mr_jobs.study.figures import (
    COUNTS,
    DEDUPE_SCOPE,
    LARGEST,
    SIZE_CLASSES,
    UNKNOWN,
    Share,
    Study,
    by_weight,
)
from pinakes.mr_jobs.study.spark_extra import Column, DataFrame, F

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

_SUMS = ("captures", "body_bytes", "file_bytes")
_GROUPS = {"host": "url_host_name", "media_type": "media_type", "size": "size", "time": "month"}


def study(index: DataFrame, advance: Callable[[int], None] = lambda count: None) -> Study:
    """The figures of all captures in a `ccindex`, of its columns `STUDIED`.

    Reads it once, and keeps it where Spark does.
    """
    index = index.persist()
    try:
        left_out = _left_out(index)
        advance(1)
        captures = _captures(index).persist()
        contents = _originals(captures, SCOPES[0][1]).persist()
        crawls = crawl_figures(index, captures, contents)
        index.unpersist()  # all else is of those that take part
        advance(1)
        scopes = []
        for name, columns in SCOPES:
            grouped = captures if "unframed" in columns else contents
            scopes.append(_scope(name, _originals(grouped, columns)))
            advance(1)
        originals = _originals(contents, SCOPES[1][1]).persist()
        total = next(scope for scope in scopes if scope.name == DEDUPE_SCOPE)
        tables = {
            name: _table(captures, originals, column, total) for name, column in _GROUPS.items()
        }
        advance(2)
    finally:
        index.sparkSession.catalog.clearCache()
    return Study(crawls=crawls, scopes=scopes, tables=_in_order(tables), left_out=left_out)


def _left_out(index: DataFrame) -> dict[str, int]:
    """Captures that take no part, by reason: what they are, or why they can be no duplicate."""
    reason = F.when(F.col("record_type") != "response", F.col("record_type")).otherwise(
        F.coalesce(F.col("skip"), F.lit("no digest"))
    )
    groups = index.where(~F.col("takes_part")).groupBy(reason.alias("reason")).count()
    return {row["reason"]: row["count"] for row in groups.collect()}


def _captures(index: DataFrame) -> DataFrame:
    """Captures that take part, a row each as a group of one; `original` is what is first.

    It sorts as dedupe orders captures: by second, file, ordinal.
    """
    status = F.col("fetch_status").cast("string")
    unframed = F.coalesce("content_dechunked_sha256", "content_sha256")
    described = {
        "second": F.unix_timestamp("fetch_time"),
        "archive_file": F.col("archive_file"),
        "record_ordinal": F.col("record_ordinal"),
        "url_host_name": F.coalesce("url_host_name", F.lit(UNKNOWN)),
        "media_type": F.coalesce("content_mime_type", F.lit(UNKNOWN)),
        "size": _size_class(F.col("payload_size")),
        "month": F.date_format("fetch_time", "yyyy-MM"),
        "body_bytes": F.col("payload_size"),
        "file_bytes": F.col("warc_record_length"),
    }
    return index.where("takes_part").select(
        "collection",
        "crawl",
        "url_surtkey",
        F.concat_ws(" ", "content_sha256", status).alias("content"),
        F.concat_ws(" ", unframed, status).alias("unframed"),
        F.struct(*(column.alias(name) for name, column in described.items())).alias("original"),
        F.lit(1).cast("long").alias("captures"),
        F.col("payload_size").alias("body_bytes"),
        F.col("warc_record_length").alias("file_bytes"),
    )


def _size_class(size: Column) -> Column:
    first, *rest = ((name, below) for name, below in SIZE_CLASSES if below is not None)
    classes = F.when(size < first[1], first[0])
    for name, below in rest:
        classes = classes.when(size < below, name)
    return classes.otherwise(SIZE_CLASSES[-1][0])


def _originals(captures: DataFrame, columns: Sequence[str]) -> DataFrame:
    """A row for each content: its first capture, and the sums of all."""
    sums = (F.sum(name).alias(name) for name in _SUMS)
    return captures.groupBy(*columns).agg(F.min("original").alias("original"), *sums)


def _scope(name: str, contents: DataFrame) -> Share:
    row = contents.agg(
        F.count("*").alias("contents"),
        *(F.sum(column).alias(column) for column in _SUMS),
        *(F.sum(f"original.{column}").alias(f"first_{column}") for column in _SUMS[1:]),
    ).collect()[0]
    counts = {key: value or 0 for key, value in row.asDict().items()}
    return Share(
        name=name,
        captures=counts["captures"],
        duplicates=counts["captures"] - counts["contents"],
        body_bytes=counts["body_bytes"],
        duplicate_bytes=counts["body_bytes"] - counts["first_body_bytes"],
        file_bytes=counts["file_bytes"],
        duplicate_file_bytes=counts["file_bytes"] - counts["first_file_bytes"],
    )


def _table(captures: DataFrame, originals: DataFrame, column: str, total: Share) -> list[Share]:
    """Captures and what of them repeats, by one property: all of them, without the originals."""
    group = F.col(f"original.{column}").alias("name")
    every = captures.select(group, F.lit(1).alias("is_capture"), "body_bytes", "file_bytes")
    first = originals.select(
        group, F.lit(0).alias("is_capture"), "original.body_bytes", "original.file_bytes"
    )
    is_capture = F.col("is_capture") == 1

    def counted(value: Column, name: str) -> tuple[Column, Column]:
        """The sum over all captures, and over those that are no original."""
        return (
            F.sum(F.when(is_capture, value).otherwise(0)).alias(name),
            F.sum(F.when(is_capture, value).otherwise(-value)).alias(f"duplicate_{name}"),
        )

    groups = (
        every.unionAll(first)
        .groupBy("name")
        .agg(
            *counted(F.lit(1), "captures"),
            *counted(F.col("body_bytes"), "body_bytes"),
            *counted(F.col("file_bytes"), "file_bytes"),
        )
    )
    groups = groups.withColumnRenamed("duplicate_captures", "duplicates").withColumnRenamed(
        "duplicate_body_bytes", "duplicate_bytes"
    )
    heaviest = groups.orderBy(F.desc("duplicate_bytes"), "name").limit(LARGEST).collect()
    shares = [Share(name=row["name"], **{name: row[name] for name in COUNTS}) for row in heaviest]
    return by_weight(shares, total)


def _in_order(tables: Mapping[str, list[Share]]) -> dict[str, list[Share]]:
    """Sizes from the least and times from the first; others stay."""
    order = {name: number for number, (name, _) in enumerate(SIZE_CLASSES)}
    return {
        **tables,
        "size": sorted(tables["size"], key=lambda share: order[share.name]),
        "time": sorted(tables["time"], key=lambda share: share.name),
    }
