"""`pinakes study`: what repeats in an archive, by Spark.

- `study`, `crawls`: its figures, by Spark; `figures`: as values; `inputs`: of which files;
  `plots`, `page`, `folder`: as pictures, a page, both and CSV
- `index_…`: the table `ccindex` that it reads: columns, cells, what tasks do, the DataFrame
- `spark_session`, `spark_extra`: Spark here or on YARN; what the extra `spark` brings
"""
