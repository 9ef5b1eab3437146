"""Archive files by name: readers and stores, for folders, HDFS, HTTP and S3.

Layer: beside `row_store`.

- `port`: `ArchiveReader`, `ArchiveStore`, `AsideFile`
- `names`: which names a store takes
- `local`: a folder; `local_files`: its file system calls
- `whole_files`: single files of a folder that appear whole, by path
- `anew`: writing again what a lost server took with it
- `http`: a web server, by byte ranges; `http_ranges`: the requests
- `hdfs`: a folder in HDFS, through hdfs-native; `hdfs_*`: its parts
- `s3`: an object in S3, by byte ranges; `s3_server`: calls to its server
- `located`: any file that can be read, by its path or URL
- `seeking`: the position in a file that is read by ranges, and reading ahead
"""
