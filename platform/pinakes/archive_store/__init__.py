"""Archive files by name: read them anywhere, keep them somewhere.

Layer: beside `row_store`.

- `port`: `ArchiveReader`, `ArchiveStore`, `AsideFile`
- `names`: which names a store takes
- `local`: a folder
"""
