"""The result for a pair of views of one page: a value, a row key, a line of `pairs.jsonl`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

from pinakes.access.display import display_text
from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.name_keys import PairKey
from pinakes.qa.snapshot import Outcome

UNSEEN = "nothing of it is to be seen in the images and the text"
"""The reason of a pair whose harm is proven by bytes and changes nothing that is looked at."""

_PROOF = "proof "
_NAME_CHARACTERS = 100
PAIRS = "pairs.jsonl"
"""The file, in the folder of a run."""
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\.(png|jpg|jpeg|webp)\Z")
_TEXTS = ("run", "url", "date", "capture_key", "model")
_TEXTS_OF_VIEW = ("kind", "browser", "browser_version")
# Also for numbers that are too large, and for too deeply nested brackets.
_NO_PAIR = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


class Verdict(str, Enum):
    """The verdict on a pair."""

    SIMILAR = "similar"
    DISSIMILAR = "dissimilar"
    UNCERTAIN = "uncertain"
    BY_BROWSER = "differs-by-browser"
    """Two browsers draw otherwise what both were sent: no harm of the archive."""

    @property
    def gravity(self) -> int:
        """Higher is worse."""
        return _GRAVITY[self]

    @property
    def is_alarm(self) -> bool:
        """Whether the archive may have a fault here, so that a person should look."""
        return self in (Verdict.DISSIMILAR, Verdict.UNCERTAIN)


_GRAVITY = {
    Verdict.SIMILAR: 0,
    Verdict.BY_BROWSER: 1,
    Verdict.UNCERTAIN: 2,
    Verdict.DISSIMILAR: 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """One of the two views: where the page came from, and the browser that captured it.

    `kind` is `replay:GENERATION`, `access:URL-PREFIX`, `stored` or `live`.
    """

    kind: str
    browser: str
    """Its name in the list; empty for none."""
    browser_version: str
    outcome: Outcome
    milliseconds: int
    image: str | None = None
    """The name of its image file, next to the result."""
    reasons: tuple[str, ...] = ()
    """Why the outcome is not `complete`."""
    missed: tuple[str, ...] = ()
    """URLs that the page requested and the archive does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """The result for one page: its reference, the other view, the verdict and its reasons.

    `date` is the capture's WARC-Date to the second, in UTC; `capture_key` its row key, in
    hexadecimal.
    `confidence` is between 0 and 1; `model` names the model and its version.
    """

    run: str
    url: str
    date: str
    capture_key: str
    reference: PageView
    other: PageView
    verdict: Verdict
    confidence: float
    model: str
    features: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    changes: tuple[tuple[int, int, int, int], ...] = ()
    """Where the images differ most: x, y, width, height in pixels of the other view's image."""
    milliseconds: int = 0
    """The time of the comparison."""

    @property
    def is_proven(self) -> bool:
        """Whether the verdict rests on the bytes that were sent, and on no look."""
        return self.confidence == 1 and self.model.startswith(_PROOF)


def pair_key(result: PairResult) -> PairKey:
    """The key of a result; a run judges a pair of views of a capture once.

    Raises:
        ValueError: the capture's key is not hexadecimal.
    """
    return PairKey(
        result.run,
        bytes.fromhex(result.capture_key),
        view_name(result.reference),
        view_name(result.other),
    )


def view_name(view: PageView) -> str:
    """The name of a view in the key: see `side_name`."""
    return side_name(view.kind, view.browser)


def side_name(kind: str, browser: str) -> str:
    """`before.chromium`, `current.firefox`, `access.chromium`, `stored`, `live.chromium`.

    The name of a generation, or the part of another kind before its colon: a run has at most one
    access system.
    """
    word, _, detail = kind.partition(":")
    name = detail if word == "replay" and detail else word
    return f"{name}.{browser}" if browser else name


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
                "reference": _decoded_view(entry["reference"]),
                "other": _decoded_view(entry["other"]),
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


def _decoded_view(entry: Mapping[str, Any]) -> PageView:
    return PageView(
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


def side_names(result: PairResult) -> tuple[str, str]:
    """`Before` and `After` for these, else `Reference` and the other's name."""
    both = (result.reference, result.other)
    is_deduplication = [view.kind for view in both] == ["replay:before", "replay:current"]
    if is_deduplication and both[0].browser == both[1].browser:
        return "Before", "After"
    return "Reference", "Compared"


def kind_of_pair(result: PairResult) -> str:
    """The two views in words: `before chromium → current chromium`."""
    return f"{_view_words(result.reference)} → {_view_words(result.other)}"


def _view_words(view: PageView) -> str:
    kind = view.kind.partition(":")[2] if view.kind.startswith("replay:") else view.kind
    return display_text(f"{kind} {view.browser}".strip(), _NAME_CHARACTERS)
