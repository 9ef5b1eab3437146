"""A pair of a run as a line of `pairs.jsonl`: the result, and its weight in pages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from pinakes.errors import MalformedRecord
from pinakes.qa.snapshot import Outcome

from .pair_key import pair_key
from .pair_result import PairResult, Verdict, View

PAIRS = "pairs.jsonl"
"""The file, in the folder of a run."""
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\.(png|jpg|jpeg|webp)\Z")
_TEXTS = ("run", "url", "date", "capture_key", "model")
_TEXTS_OF_VIEW = ("kind", "browser", "browser_version")
# Also for numbers that are too large, and for too deeply nested brackets.
_NO_PAIR = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A result, and the number of pages of the crawl that it represents."""

    result: PairResult
    weight: float


def encode_pair(pair: JudgedPair) -> bytes:
    """One line of ASCII, with its line end."""
    return json.dumps({**asdict(pair.result), "weight": pair.weight}).encode() + b"\n"


def decode_pair(line: bytes) -> JudgedPair:
    """Undo `encode_pair`.

    Raises:
        MalformedRecord: not a pair, or one without a key.
    """
    try:
        entry = json.loads(line)
        result = PairResult(
            **{field.name: entry[field.name] for field in fields(PairResult)}
            | {name: _text(entry[name]) for name in _TEXTS}
            | {
                "reference": _view(entry["reference"]),
                "other": _view(entry["other"]),
                "verdict": Verdict(entry["verdict"]),
                "confidence": float(entry["confidence"]),
                "features": {name: float(value) for name, value in entry["features"].items()},
                "reasons": tuple(map(_text, entry["reasons"])),
                "changes": tuple((x, y, width, height) for x, y, width, height in entry["changes"]),
            }
        )
        pair_key(result)  # raises if there is none
        return JudgedPair(result=result, weight=float(entry["weight"]))
    except _NO_PAIR as error:
        raise MalformedRecord(f"not a pair of a QA run: {error}") from error


def _view(entry: Mapping[str, Any]) -> View:
    return View(
        **{
            **entry,
            **{name: _text(entry[name]) for name in _TEXTS_OF_VIEW},
            "outcome": Outcome(entry["outcome"]),
            "image": entry["image"] if entry["image"] is None else _text(entry["image"]),
            "reasons": tuple(map(_text, entry["reasons"])),
            "missed": tuple(map(_text, entry["missed"])),
        }
    )


def is_image_name(name: str) -> bool:
    """Whether this is the plain name of an image in the folder of its run.

    Pages link to it, and a line may contain anything.
    """
    return _IMAGE_NAME.match(name) is not None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is not text")
    return value
