"""The table `ccindex` as a DataFrame of Spark's, made from sidecars."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pinakes.config import Configuration
from pinakes.mr_jobs.study.index_columns import COLUMNS
from pinakes.mr_jobs.study.index_row import IndexedFile, pack_captures
from pinakes.mr_jobs.study.index_tasks import read_packs
from pinakes.mr_jobs.study.spark_extra import DataFrame, SparkSession


def index_table(
    session: SparkSession,
    files: Sequence[IndexedFile],
    configuration: Configuration,
    columns: Sequence[str] = tuple(COLUMNS),
) -> DataFrame:
    """A row for each capture of these files; lazy: sidecars are read whenever it is computed."""
    settings = {
        name: str(value)
        for name, value in configuration.values().items()
        if value is not None and configuration.origins.get(name, "default") != "default"
    }
    packs = list(pack_captures(files, processes=session.sparkContext.defaultParallelism))
    rows = session.sparkContext.parallelize(packs, max(len(packs), 1)).mapPartitions(
        partial(read_packs, settings=settings, columns=tuple(columns))
    )
    schema = ", ".join(f"`{name}` {COLUMNS[name]}" for name in columns)
    return session.createDataFrame(rows, schema, verifySchema=False)
