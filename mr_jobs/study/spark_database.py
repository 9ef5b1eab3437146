"""Spark as the engine of a study, and the table `ccindex` as a DataFrame, made from sidecars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pinakes.config import Configuration
from pinakes.mr_jobs.study.database import VIEW
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


class SparkDatabase:
    """The views of a session, kept where Spark keeps what is to be computed once."""

    def __init__(self, session: SparkSession, index: DataFrame) -> None:
        self._session = session
        self._kept: dict[str, DataFrame] = {}
        self._keep(VIEW, index)

    def rows(self, query: str) -> list[dict[str, Any]]:
        return [row.asDict() for row in self._session.sql(query).collect()]

    def keep(self, name: str, query: str) -> None:
        self._keep(name, self._session.sql(query))

    def put(self, name: str, rows: Mapping[str, Sequence[str]]) -> None:
        schema = ", ".join(f"{column} string" for column in rows)
        frame = self._session.createDataFrame(list(zip(*rows.values(), strict=True)), schema)
        frame.createOrReplaceTempView(name)

    def drop(self, name: str) -> None:
        self._kept.pop(name).unpersist()

    def _keep(self, name: str, frame: DataFrame) -> None:
        self._kept[name] = frame.persist()
        frame.createOrReplaceTempView(name)
