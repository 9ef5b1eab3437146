"""Spark as the engine of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pinakes.mr_jobs.study.database import VIEW
from pinakes.mr_jobs.study.spark_extra import DataFrame, SparkSession


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
