"""Archive files by name: read them anywhere, keep them somewhere.

Layer: beside `row_store`.

- `port`: `ArchiveReader`, `ArchiveStore`, `AsideFile`
- `names`: which names a store takes
- `local`: a folder; `local_files`: what it asks of the file system
- `http`: a web server, by byte ranges; `http_ranges`: the requests
- `hdfs`: a folder in HDFS, through hdfs-native; `hdfs_*`: its parts
- `seeking`: where one is in a file that is read by ranges
- `arrow`: whatever `pyarrow.fs` reads (S3, GCS, HDFS through libhdfs, a folder)
"""
