"""The rows of landings in local files, until they are loaded in bulk.

    FOLDER/TOKEN.TABLE.gz     of one landing, by the token of its claim; lines of `BulkTable`
    FOLDER/part-N.TABLE.gz    of many, once they are to be loaded

A landing that is refused, interrupted or taken over leaves nothing here.  What remains when the
process ends is useless: its files are landed again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from isal import igzip

from pinakes.catalog.file_rows import Held
from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry
from pinakes.row_store.bulk_text import BulkTable
from pinakes.row_store.hbase.bulk import SUFFIX
from pinakes.row_store.port import Put

CAPTURES = BulkTable(name="captures", columns=(CaptureFacts.COLUMN,))
DIGESTS = BulkTable(name="digests", columns=(DigestEntry.COLUMN,))
TABLES: Mapping[str, BulkTable] = MappingProxyType(
    {table.name: table for table in (CAPTURES, DIGESTS)}
)

PART_BYTES = 64 << 20
"""What one map task reads: compressed, so it cannot be split."""


class SpooledRows:
    """A `RowSink` of one landing: one compressed file per table with rows."""

    batch_rows = 2_000

    def __init__(self, file_of: Callable[[str], Path]) -> None:
        self._file_of = file_of
        self._files: dict[str, BinaryIO] = {}

    def put(self, table: str, puts: list[Put]) -> None:
        lines = TABLES[table].encode(puts)
        if not lines:
            return
        if table not in self._files:
            path = self._file_of(table)
            opened: BinaryIO = igzip.open(path, "wb", compresslevel=1)  # type: ignore[no-untyped-call]
            self._files[table] = opened
        self._files[table].write(lines)

    def finish(self) -> bool:
        """True if there were no rows, which counts as stored."""
        self.close()
        return not self._files

    def close(self) -> None:
        """Close the files; idempotent."""
        for file in self._files.values():
            file.close()


class RowSpool:
    """A folder of rows.  Landings may write to it from several threads or processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def sink(self, held: Held) -> Iterator[SpooledRows]:
        """The sink of one landing (`RowSinks`)."""
        token = held.claim.token
        rows = SpooledRows(lambda table: self._file(token, table))
        try:
            yield rows
        except BaseException:
            rows.close()
            self.drop(token)
            raise
        rows.close()

    def size_bytes(self, token: str) -> int:
        """Size of the rows of this landing."""
        return sum(file.stat().st_size for file in self._files(token))

    def drop(self, token: str) -> None:
        """Delete the rows of a landing."""
        for file in self._files(token):
            file.unlink()

    def parts(self, tokens: list[str]) -> dict[BulkTable, list[Path]]:
        """Merge the rows of these landings into few files for a load, in place."""
        return {table: list(self._parts_of(table, tokens)) for table in TABLES.values()}

    def clear(self) -> None:
        """Forget everything."""
        for file in self._folder.iterdir():
            file.unlink()

    def _parts_of(self, table: BulkTable, tokens: list[str]) -> Iterator[Path]:
        part: Path | None = None
        for number, token in enumerate(tokens):
            file = self._file(token, table.name)
            if not file.exists():
                continue
            if part is None or part.stat().st_size >= PART_BYTES:
                part = file.rename(self._file(f"part-{number}", table.name))
                yield part
                continue
            # Concatenated gzip files are one file to gzip and to Hadoop.
            with file.open("rb") as source, part.open("ab") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            file.unlink()

    def _files(self, token: str) -> list[Path]:
        files = [self._file(token, table) for table in TABLES]
        return [file for file in files if file.exists()]

    def _file(self, name: str, table: str) -> Path:
        return self._folder / f"{name}.{table}{SUFFIX}"
