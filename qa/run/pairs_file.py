"""The pairs of a run that are judged, a line each, on disk before the next page begins."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from types import TracebackType
from typing import IO

from pinakes.errors import Busy, ConfigError, MalformedRecord, StoreUnavailable
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.results.pair_key import pair_key
from pinakes.qa.results.pair_line import PAIRS, JudgedPair, decode_pair, encode_pair
from pinakes.qa.results.pair_result import Verdict

from .run_folder import RUN, read_plan


class PairsFile:
    """`pairs.jsonl` in the folder of a run; a context manager, for one process at a time.

    A run that died goes on behind its last whole line, which may be in the middle of a page:
    half a line at the end is cut off.

    Raises:
        Busy: another process is at this run.
        ConfigError: it has pairs of another run than the folder's, or the folder has no run.
        MalformedRecord: the file is there, and has other lines than pairs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / PAIRS
        self.judged: set[PairKey] = set()
        """What is on disk."""
        self.verdicts: Counter[Verdict] = Counter()
        """Of these, all together."""
        # Unbuffered: what could not be written is not written later, either.
        self._file: IO[bytes] = self._path.open("a+b", buffering=0)
        try:
            self._lock()
            self._size = self._read()
            self._refuse_others(folder)
            self._file.truncate(self._size)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError as error:
            raise Busy(
                "another process is looking at the pages of this run", file=str(self._path)
            ) from error

    def _read(self) -> int:
        """How many bytes are whole lines."""
        whole = 0
        with self._path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                try:
                    self._note(decode_pair(line))
                except MalformedRecord as error:
                    raise MalformedRecord(
                        "no pairs of a QA run", file=str(self._path), offset=whole
                    ) from error
                whole += len(line)
        return whole

    def _refuse_others(self, folder: Path) -> None:
        """Behind pairs of another run nothing is written: nobody could tell them apart."""
        runs = {key.run for key in self.judged}
        if runs and (folder / RUN).exists():
            runs.discard(read_plan(folder)[0].run)
        if runs:
            raise ConfigError(
                f"{folder} has pairs of {', '.join(sorted(runs))}, and no {RUN} of that run: "
                "take another"
            )

    def _note(self, pair: JudgedPair) -> None:
        self.judged.add(pair_key(pair.result))
        self.verdicts[pair.result.verdict] += 1

    def add(self, pairs: Iterable[JudgedPair]) -> None:
        """Have these, of one page, on disk when this returns.

        Raises:
            StoreUnavailable: the disk is full, or the like; none of them is there.
        """
        pairs = list(pairs)
        content = b"".join(map(encode_pair, pairs))
        try:
            left = memoryview(content)
            while left:  # a disk that is full takes a part first, and then says so
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(self._size)
            raise StoreUnavailable(error.strerror or str(error), file=str(self._path)) from error
        self._size += len(content)
        for pair in pairs:
            self._note(pair)

    def __enter__(self) -> PairsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
