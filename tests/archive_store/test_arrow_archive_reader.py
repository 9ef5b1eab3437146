"""The reader's contract over pyarrow's file systems."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_contract import FILES, ArchiveReaderContract
from pyarrow.fs import FileSystem, LocalFileSystem, SubTreeFileSystem

from pinakes.archive_store.arrow import ArrowArchiveReader


class TestArrowReader(ArchiveReaderContract):
    @pytest.fixture(params=["local", "subtree"])
    def reader(self, tmp_path: Path, request: pytest.FixtureRequest) -> ArrowArchiveReader:
        for name, content in FILES.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        local: FileSystem = LocalFileSystem()
        if request.param == "subtree":
            return ArrowArchiveReader(SubTreeFileSystem(str(tmp_path), local), "")
        return ArrowArchiveReader(local, f"{tmp_path}/")
