"""Reads the pairs of a run from its folder, the worst first."""

from __future__ import annotations

from pathlib import Path

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.qa.results.pair_line import PAIRS, JudgedPair, decode_pair
from pinakes.qa.run.run_folder import RUN


def read_pairs(folder: Path) -> list[JudgedPair]:
    """All pairs: dissimilar, uncertain, similar; each by confidence, then by URL.

    None of a run that has not judged any yet.

    Raises:
        InputRefused: the folder has no run, or several.
        MalformedRecord: a line is not a pair; with file and offset.
    """
    path = folder / PAIRS
    pairs, offset = [], 0
    try:
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):  # otherwise incomplete: the run died, or is writing it
                    try:
                        pairs.append(decode_pair(line))
                    except MalformedRecord as error:
                        error.file, error.offset = str(path), offset
                        raise
                offset += len(line)
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


def _order(pair: JudgedPair) -> tuple[int, float, str]:
    result = pair.result
    return -result.verdict.gravity, -result.confidence, result.url
