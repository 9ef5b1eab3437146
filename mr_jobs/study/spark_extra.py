"""What the extra `spark` brings, named where it is missing."""

from __future__ import annotations

from pinakes.errors import MissingExtra

try:
    import matplotlib as mpl  # noqa: F401  (wanted at the end of a study: told of at its start)
    from py4j import java_gateway
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql import functions as F  # noqa: N812  (its usual name)
    from pyspark.sql import types as T  # noqa: N812
except ImportError as error:
    raise MissingExtra(f"study needs {error.name}: pip install 'pinakes[spark]'") from error

__all__ = [
    "AnalysisException",
    "Column",
    "DataFrame",
    "F",
    "Py4JError",
    "PySparkException",
    "SparkConf",
    "SparkContext",
    "SparkSession",
    "T",
    "java_gateway",
    "launch_gateway",
]
