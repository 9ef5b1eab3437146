"""The pairs of a run as they lie in its folder: results read back, the gravest first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.qa.results.pair_result import PairResult, Verdict, View
from pinakes.qa.run.before_after import PAIRS
from pinakes.qa.snapshot import Outcome

_GRAVITY = {Verdict.DISSIMILAR: 0, Verdict.UNCERTAIN: 1, Verdict.SIMILAR: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A result, and how many pages of the crawl it stands for."""

    result: PairResult
    weight: float


def read_pairs(folder: Path) -> list[JudgedPair]:
    """All of them: dissimilar, uncertain, similar; the surest of each first, then by URL.

    Raises:
        InputRefused: there is no run in this folder.
        MalformedRecord: a line is no pair, with file and offset.
    """
    path = folder / PAIRS
    pairs, offset = [], 0
    try:
        with path.open("rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):  # else a run that died, or goes on, is at it
                    pairs.append(_pair(line, path, offset))
                offset += len(line)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=str(path)) from error
    return sorted(pairs, key=_order)


def _order(pair: JudgedPair) -> tuple[int, float, str]:
    result = pair.result
    return _GRAVITY[result.verdict], -result.confidence, result.url


def _pair(line: bytes, path: Path, offset: int) -> JudgedPair:
    try:
        entry = json.loads(line)
        values = {field.name: entry[field.name] for field in fields(PairResult)}
        result = PairResult(
            **{
                **values,
                "reference": _view(entry["reference"]),
                "other": _view(entry["other"]),
                "verdict": Verdict(entry["verdict"]),
                "reasons": tuple(entry["reasons"]),
            }
        )
        return JudgedPair(result=result, weight=float(entry["weight"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedRecord(
            f"no pair of a QA run: {error}", file=str(path), offset=offset
        ) from error


def _view(entry: Mapping[str, Any]) -> View:
    return View(
        **{
            **entry,
            "outcome": Outcome(entry["outcome"]),
            "reasons": tuple(entry["reasons"]),
            "missed": tuple(entry["missed"]),
        }
    )
