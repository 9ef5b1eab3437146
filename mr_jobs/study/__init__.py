"""`pinakes study`: what repeats in an archive, by DuckDB here or by Spark.

- `study`, `crawls`: its figures, by queries; `figures`: as values; `inputs`: of which files;
  `plots`, `page`, `folder`: as pictures, a page, both and CSV
- `database`: what answers the queries; `duckdb_database`, `spark_database`: the two that do
- `index_…`: the table `ccindex` that it reads: columns, cells, rows of a file, Arrow batches, the
  DataFrame
- `spark_session`, `spark_extra`: Spark here or on YARN; what the extra `spark` brings
"""
