"""`pinakes study`: what repeats in an archive, by DuckDB here or by Spark.

- `study`: its figures, by queries; `figures`: as values; `inputs`: of which files; `plots`,
  `folder`: as pictures; a page of these, and CSV
- `database`: what answers the queries; `duckdb_database`, `spark_database`: the two that do
- `index_…`: the table `ccindex` that it reads: columns, rows of a file, Arrow batches
- `spark_session`, `spark_extra`: Spark here or on YARN; what the extra `spark` brings
"""
