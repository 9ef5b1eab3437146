"""The pairs of a run that are judged, a line each, on disk before the next page begins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO

from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.results.pair_key import pair_key
from pinakes.qa.results.pair_line import PAIRS, JudgedPair, decode_pair, encode_pair


class PairsFile:
    """`pairs.jsonl` in the folder of a run; a context manager.

    A run that died goes on behind its last whole line: half a line at the end is cut off.

    Raises:
        MalformedRecord: the file is there, and has other lines than pairs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / PAIRS
        self.judged: set[PairKey] = set()
        """What is on disk."""
        self._read()
        self._file: IO[bytes] = self._path.open("ab")

    def _read(self) -> None:
        if not self._path.exists():
            return
        whole = 0
        with self._path.open("r+b") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    lines.truncate(whole)
                    break
                try:
                    self.judged.add(pair_key(decode_pair(line).result))
                except (MalformedRecord, ValueError) as error:
                    raise MalformedRecord(
                        "no pairs of a QA run", file=str(self._path), offset=whole
                    ) from error
                whole += len(line)

    def add(self, pairs: Iterable[JudgedPair]) -> None:
        """Have these on disk when this returns."""
        pairs = list(pairs)
        self._file.writelines(map(encode_pair, pairs))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.judged.update(pair_key(pair.result) for pair in pairs)

    def __enter__(self) -> PairsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
