"""The folder of a run: its options, its pages, and its results.

    DIR/sample.jsonl    the pages, as drawn
    DIR/run.json        options and plan; written last: a run has begun when it exists
    DIR/pairs.jsonl     a line for each judged pair, on disk before the next page begins
    DIR/SHA-256.png     images

A run that is continued keeps its sample, regardless of what was ingested since.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import IO, Any

from pinakes.archive_store.local.whole_files import hidden_file
from pinakes.counts import count_of
from pinakes.errors import Busy, ConfigError, InputRefused, MalformedRecord, StoreUnavailable
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.results import PAIRS, JudgedPair, Verdict, decode_pair, encode_pair, pair_key
from pinakes.qa.sample import SampledPage, decode_drawn, encode_drawn

from .plan import RunPlan, decode_plan, encode_plan

RUN, SAMPLE = "run.json", "sample.jsonl"


def begin_run(
    folder: Path,
    plan: RunPlan,
    asked: Mapping[str, Any],
    pages: Iterable[SampledPage],
) -> tuple[RunPlan, list[SampledPage]]:
    """The plan and the pages of the run in this folder; begins a run if there is none.

    `asked` has the options that drew the sample, as JSON values.  `pages` are drawn, that is
    iterated, where a run begins.

    Raises:
        ConfigError: the folder has a run with other options.
        MalformedRecord: the folder's files are not those of a run.
    """
    if (folder / RUN).exists():
        return _go_on(folder, plan, asked)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = list(pages)
    _write(folder / SAMPLE, "".join(f"{encode_drawn(one)}\n" for one in drawn))
    document = {"asked": asked, "plan": json.loads(encode_plan(plan))}
    _write(folder / RUN, json.dumps(document, indent=1) + "\n")
    return plan, drawn


def read_plan(folder: Path) -> tuple[RunPlan, Mapping[str, Any]]:
    """The plan of the run in a folder, and its options.

    Raises:
        ConfigError: there is no run.
        MalformedRecord: the folder's files are not those of a run.
    """
    path = folder / RUN
    try:
        document = json.loads(path.read_text("utf-8"))
        return decode_plan(json.dumps(document["plan"])), dict(document["asked"])
    except OSError as error:
        raise ConfigError(f"{path}: not a QA run: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, MalformedRecord) as error:
        raise MalformedRecord("not a QA run", file=str(path)) from error


def _go_on(
    folder: Path, plan: RunPlan, asked: Mapping[str, Any]
) -> tuple[RunPlan, list[SampledPage]]:
    begun, then = read_plan(folder)
    same = replace(plan, run=begun.run, act_time_ms=begun.act_time_ms)
    if begun != same or then != json.loads(json.dumps(asked)):
        raise ConfigError(f"{folder} has a run with other options; use another folder")
    return begun, read_sample(folder)


def read_sample(folder: Path) -> list[SampledPage]:
    """The pages of a run, as drawn."""
    path = folder / SAMPLE
    try:
        lines = path.read_bytes().splitlines()
        return [decode_drawn(line) for line in lines]
    except MalformedRecord as error:
        raise MalformedRecord(error.message, file=str(path)) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _write(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    with hidden_file(path) as aside:
        aside.file.write(text.encode())
        aside.publish(replace=True)


def read_pairs(folder: Path) -> list[JudgedPair]:
    """All judged pairs: dissimilar, uncertain, similar; each by confidence, then by URL.

    None of a run that has not judged any yet.

    Raises:
        InputRefused: the folder has no run, or several.
        MalformedRecord: a line is not a pair; with file and offset.
    """
    path = folder / PAIRS
    try:
        pairs = [pair for pair, _ in _whole_lines(path)]
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=str(path)) from error
    if not pairs and not (folder / RUN).exists():
        raise InputRefused("this run has no judged page yet", file=str(folder))
    runs = sorted({pair.result.run for pair in pairs})
    if len(runs) > 1:
        raise InputRefused(
            f"the folder has results of several runs: {', '.join(runs)}", file=str(folder)
        )
    return sorted(pairs, key=_order)


def _whole_lines(path: Path) -> Iterator[tuple[JudgedPair, int]]:
    """The pairs of a file, each with the end of its line; lazy.

    An incomplete last line is none: the run died, or is writing it.
    """
    end = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return
            try:
                pair = decode_pair(line)
            except MalformedRecord as error:
                raise MalformedRecord(error.message, file=str(path), offset=end) from error
            end += len(line)
            yield pair, end


def _order(pair: JudgedPair) -> tuple[int, float, str]:
    result = pair.result
    return -result.verdict.gravity, -result.confidence, result.url


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The number of pages, of pages with missing pairs, and of missing pairs."""

    pages: int
    pages_left: int
    pairs_left: int

    @property
    def not_captured(self) -> str | None:
        """What is not captured yet, in words; None if all pages are."""
        if not self.pages_left:
            return None
        are = "is" if self.pages_left == 1 else "are"
        pairs = count_of(self.pairs_left, "pair")
        return (
            f"{self.pages - self.pages_left:,} of {self.pages:,} pages; {self.pages_left:,} "
            f"({pairs}) {are} not judged yet; continue with `pinakes qa run`"
        )


def read_extent(folder: Path, pairs: Iterable[JudgedPair]) -> Extent | None:
    """How far the run with these pairs in a folder is; None if the folder has no sample.

    Pages come by host, so the first are not a sample of the crawl.

    Older runs, and copied pairs, have no sample next to them.

    Raises:
        MalformedRecord: the sample or the plan cannot be read.
    """
    if not all((folder / name).exists() for name in (RUN, SAMPLE)):
        return None
    plan, _ = read_plan(folder)
    judged = {pair_key(pair.result) for pair in pairs}
    counts = [len(plan.pairs_left(drawn, judged)) for drawn in read_sample(folder)]
    return Extent(
        pages=len(counts),
        pages_left=sum(count > 0 for count in counts),
        pairs_left=sum(counts),
    )


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
        self._size = 0
        # Unbuffered: what could not be written must not be written later.
        self._file: IO[bytes] = self._path.open("a+b", buffering=0)
        try:
            self._lock()
            for pair, end in _whole_lines(self._path):
                self._note(pair)
                self._size = end
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

    def __exit__(self, *_: object) -> None:
        self._file.close()
