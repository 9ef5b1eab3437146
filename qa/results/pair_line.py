"""A pair of a run as a line of `pairs.jsonl`: the result, and how many pages it stands for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from pinakes.errors import MalformedRecord
from pinakes.qa.snapshot import Outcome

from .pair_result import PairResult, Verdict, View

PAIRS = "pairs.jsonl"
"""The file, in the folder of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A result, and how many pages of the crawl it stands for."""

    result: PairResult
    weight: float


def encode_pair(pair: JudgedPair) -> bytes:
    """One line of ASCII, with its end."""
    return json.dumps({**asdict(pair.result), "weight": pair.weight}).encode() + b"\n"


def decode_pair(line: bytes) -> JudgedPair:
    """Undo `encode_pair`.

    Raises:
        MalformedRecord: the line is no pair.
    """
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
                "changes": tuple((x, y, width, height) for x, y, width, height in entry["changes"]),
            }
        )
        return JudgedPair(result=result, weight=float(entry["weight"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedRecord(f"no pair of a QA run: {error}") from error


def _view(entry: Mapping[str, Any]) -> View:
    return View(
        **{
            **entry,
            "outcome": Outcome(entry["outcome"]),
            "reasons": tuple(entry["reasons"]),
            "missed": tuple(entry["missed"]),
        }
    )
