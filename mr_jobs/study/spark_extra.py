"""What the extra `spark` brings, named where it is missing."""

from __future__ import annotations

from pinakes.extras import missing_extra

try:
    from py4j import java_gateway
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import DataFrame, SparkSession
except ImportError as error:
    raise missing_extra(f"study --master needs {error.name}", "spark") from error

__all__ = [
    "AnalysisException",
    "DataFrame",
    "Py4JError",
    "PySparkException",
    "SparkConf",
    "SparkContext",
    "SparkSession",
    "java_gateway",
    "launch_gateway",
]
