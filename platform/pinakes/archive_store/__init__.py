"""Archive files by name: readers and stores, for folders, HDFS, HTTP and S3.

Layer: next to `row_store`.

- `port`: `ArchiveReader`, `ArchiveStore`, `AsideFile`
- `names`: which names a store takes
- `local`: a folder; in it `whole_files`, single files by path that appear whole
- `hdfs`: a folder in HDFS, through hdfs-native
- `http`: a web server, by byte ranges
- `s3`: an object in S3, by byte ranges
- `located`: any file that can be read, by its path or URL
- `anew`: writing again what a lost server took with it
- `seeking`: the position in a file that is read by ranges, and reading ahead
"""
