"""Archive files wherever `pyarrow.fs` reads them: S3, GCS, HDFS through libhdfs, a folder."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from pinakes.errors import InputRefused, StoreUnavailable

from .names import check_file_name

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


class ArrowArchiveReader:
    """An `ArchiveReader` of the files below one folder of a `pyarrow.fs.FileSystem`."""

    def __init__(self, filesystem: FileSystem, folder: str) -> None:
        self._filesystem = filesystem
        self._folder = folder.rstrip("/")

    def open(self, name: str) -> BinaryIO:
        if self.size(name) is None:
            raise InputRefused("file not found in the store", file=name)
        try:
            file = self._filesystem.open_input_file(self._path(name))
        except OSError as error:
            raise StoreUnavailable(f"the store failed: {error}", file=name) from error
        return cast("BinaryIO", io.BufferedReader(file))

    def size(self, name: str) -> int | None:
        from pyarrow.fs import FileType

        try:
            found = self._filesystem.get_file_info(self._path(name))
        except OSError as error:
            raise StoreUnavailable(f"the store failed: {error}", file=name) from error
        return int(found.size) if found.type == FileType.File else None

    def _path(self, name: str) -> str:
        return f"{self._folder}/{check_file_name(name)}"
