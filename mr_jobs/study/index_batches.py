"""The table `ccindex` as Arrow batches, and as Parquet, made from sidecars in this process.

The same rows that Spark's tasks make, by the same reader, from any archive store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import ConfigError
from pinakes.mr_jobs.study.index_columns import COLUMNS
from pinakes.mr_jobs.study.index_row import IndexedFile
from pinakes.mr_jobs.study.index_tasks import read_file
from pinakes.profile import local_folder

_BATCH_ROWS = 16_384
_KINDS = {
    "string": pa.string(),
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def index_schema(columns: Sequence[str]) -> pa.Schema:
    """These columns of `ccindex`, as Arrow has them."""
    return pa.schema([(name, _KINDS[COLUMNS[name]]) for name in columns])


def iter_index_batches(
    archive: ArchiveReader, files: Iterable[IndexedFile], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """These columns of all captures of these files.  Memory: one batch.

    Raises:
        StoreUnavailable: for a sidecar that cannot be read.
    """
    schema = index_schema(columns)
    rows = (row for file in files for row in read_file(archive, file, columns))
    while batch := list(islice(rows, _BATCH_ROWS)):
        cells = zip(*batch, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
        yield pa.record_batch(arrays, schema=schema)


def write_index_parquet(batches: Iterable[pa.RecordBatch], place: str) -> None:
    """All columns into a new folder, in folders by `crawl` and `subset`.

    Raises:
        ConfigError: where there is something, and for `hdfs://…`, which is for Spark to write.
    """
    import pyarrow.dataset as ds  # twenty megabytes

    folder = local_folder(place)
    if folder is None:
        raise ConfigError(f"{place}: to be written there by Spark: add --master local[*], or yarn")
    if folder.exists():
        raise ConfigError(f"{folder} is there already")
    schema = index_schema(tuple(COLUMNS))
    names = ("crawl", "subset")
    ds.write_dataset(
        pa.RecordBatchReader.from_batches(schema, batches),
        folder,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([schema.field(n) for n in names]), flavor="hive"),
        max_partitions=len(COLUMNS) * _BATCH_ROWS,
    )
