"""The judged pairs of a run, a line each, on disk before the next page begins."""

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

    A run that died continues after its last whole line, which may be in the middle of a page; an
    incomplete last line is cut off.

    Raises:
        Busy: another process works on this run.
        ConfigError: it has pairs of another run than the folder's, or the folder has no run.
        MalformedRecord: the file has lines that are not pairs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / PAIRS
        self.judged: set[PairKey] = set()
        """Keys of the pairs on disk."""
        self.verdicts: Counter[Verdict] = Counter()
        """Their verdicts, counted."""
        # Unbuffered: what could not be written must not be written later.
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
            raise Busy("another process is working on this run", file=str(self._path)) from error

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
                        "not a pair of a QA run", file=str(self._path), offset=whole
                    ) from error
                whole += len(line)
        return whole

    def _refuse_others(self, folder: Path) -> None:
        """Raise ConfigError if the file has pairs of another run."""
        runs = {key.run for key in self.judged}
        if runs and (folder / RUN).exists():
            runs.discard(read_plan(folder)[0].run)
        if runs:
            raise ConfigError(
                f"{folder} has pairs of {', '.join(sorted(runs))}, but no {RUN} of that run; "
                "use another folder"
            )

    def _note(self, pair: JudgedPair) -> None:
        self.judged.add(pair_key(pair.result))
        self.verdicts[pair.result.verdict] += 1

    def add(self, pairs: Iterable[JudgedPair]) -> None:
        """Write the pairs of one page; they are on disk when this returns.

        Raises:
            StoreUnavailable: the disk is full, or the like; none of them is written.
        """
        pairs = list(pairs)
        content = b"".join(map(encode_pair, pairs))
        try:
            left = memoryview(content)
            while left:  # a full disk may accept a part first
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
