"""A trained model: from features to similar, dissimilar or uncertain, with a confidence.

    {"schema": 2, "name": "same-browser", "version": "…", "features": ["image_gone", …],
     "decisive": ["element_changed", …], "decisive_probability": P,
     "base": B, "calibration": [A, C], "uncertain": [LOW, HIGH],
     "trees": [{"feature": […], "threshold": […], "left": […], "right": […], "value": […]}, …],
     "training": {…}}

Where a decisive feature is above 0, P is the probability that the pair is dissimilar, and the trees
are not asked.  A tree is walked from node 0: left where the feature is at most the threshold, else
right; a feature of -1 marks a leaf, whose value is added.  The sum S of all leaves and B,
calibrated, is the probability that the pair is dissimilar: 1 / (1 + exp(-(A * S + C))).  Below LOW
it is similar, above HIGH dissimilar.  Standard library only; a model file is data, and nothing in
it runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.qa.results import Verdict

SCHEMA = 2
NAMES = ("same-browser", "across-browsers")
_LEAF = -1
_LARGEST = 700.0


class Prediction(NamedTuple):
    """A verdict, and the probability that it is right; of an uncertain one, of the likelier."""

    verdict: Verdict
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Nodes, by number; children come after their parents."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def __post_init__(self) -> None:
        size = len(self.feature)
        if not size or any(len(x) != size for x in (self.threshold, self.left, self.right)):
            raise ValueError("lists of a tree differ in length")
        if len(self.value) != size:
            raise ValueError("lists of a tree differ in length")
        for node, feature in enumerate(self.feature):
            children = (self.left[node], self.right[node])
            if feature != _LEAF and not all(node < child < size for child in children):
                raise ValueError("a tree's child comes before its parent")

    def leaf(self, numbers: tuple[float, ...]) -> float:
        """The value at which these features arrive."""
        node = 0
        while (feature := self.feature[node]) != _LEAF:
            goes_left = numbers[feature] <= self.threshold[node]
            node = self.left[node] if goes_left else self.right[node]
        return self.value[node]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Gradient boosted trees, calibrated, for what no decisive feature decides."""

    name: str
    version: str
    features: tuple[str, ...]
    decisive: tuple[str, ...] = ()
    decisive_probability: float = 1.0
    base: float
    calibration: tuple[float, float]
    uncertain: tuple[float, float]
    trees: tuple[Tree, ...]
    training: Mapping[str, Any] = field(default_factory=dict)
    """How it was made: seed, counts, figures."""

    def __post_init__(self) -> None:
        known = range(_LEAF, len(self.features))
        if not set(self.decisive) <= set(self.features):
            raise ValueError("a decisive feature without a name")
        if any(feature not in known for tree in self.trees for feature in tree.feature):
            raise ValueError("a tree uses a feature without a name")
        if not 0 <= self.decisive_probability <= 1:
            raise ValueError("a probability above 1 or below 0")
        if not 0 <= self.uncertain[0] <= self.uncertain[1] <= 1:
            raise ValueError("the bounds of uncertain are not in order")

    @property
    def title(self) -> str:
        """Its name and version, as results have it."""
        return f"{self.name} {self.version}"

    def judge(self, features: Mapping[str, float]) -> Prediction:
        """Judge a pair by its features; features unknown to the model are ignored.

        Raises:
            ConfigError: one is missing, or is not a number.
        """
        likely = self.probability(features)
        verdict = verdict_of(likely, self.uncertain)
        sure = {Verdict.DISSIMILAR: likely, Verdict.SIMILAR: 1 - likely}
        return Prediction(verdict, sure.get(verdict, max(likely, 1 - likely)))

    def probability(self, features: Mapping[str, float]) -> float:
        """How likely it is that the pair is dissimilar; raises as `judge` does."""
        slope, offset = self.calibration
        likely = sigmoid(slope * self.score(features) + offset)
        return self.decisive_probability if is_decided(features, self.decisive) else likely

    def score(self, features: Mapping[str, float]) -> float:
        """What calibration is applied to; raises as `judge` does."""
        missing = [name for name in self.features if name not in features]
        if missing:
            raise ConfigError(
                f"the model {self.title} needs features that this pair lacks: "
                f"{', '.join(missing[:5])}; another version compared it"
            )
        numbers = tuple(float(features[name]) for name in self.features)
        if not all(map(math.isfinite, numbers)):
            raise ConfigError(f"a feature of the model {self.title} is not a finite number")
        return self.base + sum(tree.leaf(numbers) for tree in self.trees)


def verdict_of(likely: float, uncertain: tuple[float, float]) -> Verdict:
    """The verdict on what is dissimilar with that probability; uncertain between the bounds."""
    low, high = uncertain
    if likely > high:
        return Verdict.DISSIMILAR
    return Verdict.SIMILAR if likely < low else Verdict.UNCERTAIN


def is_decided(features: Mapping[str, float], decisive: Collection[str]) -> bool:
    """Whether a decisive feature is above 0, so that no tree is asked."""
    return any(features[name] > 0 for name in decisive)


def sigmoid(value: float) -> float:
    """The logistic function, of any finite number."""
    return 1 / (1 + math.exp(-max(-_LARGEST, min(_LARGEST, value))))


def model_name(browsers: Collection[str]) -> Literal["same-browser", "across-browsers"]:
    """Which model judges a pair that was shown by these browsers; a screenshot is by none."""
    return "same-browser" if len(browsers) < 2 else "across-browsers"


def load_model(name: str) -> Model:
    """A model that ships with the package.

    Raises:
        ConfigError: there is none of that name.
    """
    if name not in NAMES:
        raise ConfigError(f"unknown model {name!r}; known: {', '.join(NAMES)}")
    file = files("pinakes.qa.judging").joinpath(f"models/{name}.json")
    return decode_model(file.read_bytes(), file.name)


def encode_model(model: Model) -> bytes:
    """One JSON object, as the module's docstring draws it; equal models, equal bytes."""
    document = {
        "schema": SCHEMA,
        "name": model.name,
        "version": model.version,
        "features": model.features,
        "decisive": model.decisive,
        "decisive_probability": model.decisive_probability,
        "base": model.base,
        "calibration": model.calibration,
        "uncertain": model.uncertain,
        "training": model.training,
        "trees": [{name: getattr(tree, name) for name in Tree.__slots__} for tree in model.trees],
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def decode_model(encoded: bytes, place: str | None = None) -> Model:
    """Undo `encode_model`.

    Raises:
        MalformedRecord: it is no model, or one of another schema; `place` is its file.
    """
    try:
        document = json.loads(encoded)
        _require(isinstance(document, dict) and document.get("schema") == SCHEMA)
        low, high = map(float, document["uncertain"])
        slope, offset = map(float, document["calibration"])
        return Model(
            name=str(document["name"]),
            version=str(document["version"]),
            features=tuple(map(str, document["features"])),
            decisive=tuple(map(str, document["decisive"])),
            decisive_probability=_finite(document["decisive_probability"]),
            base=_finite(document["base"]),
            calibration=(_finite(slope), _finite(offset)),
            uncertain=(low, high),
            trees=tuple(map(_tree, document["trees"])),
            training=dict(document.get("training", {})),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise MalformedRecord(
            f"not a model: {type(error).__name__}: {error}", file=place
        ) from error


def _tree(document: Mapping[str, Any]) -> Tree:
    return Tree(
        feature=tuple(map(int, document["feature"])),
        threshold=tuple(map(_finite, document["threshold"])),
        left=tuple(map(int, document["left"])),
        right=tuple(map(int, document["right"])),
        value=tuple(map(_finite, document["value"])),
    )


def _require(is_ours: bool) -> None:
    if not is_ours:
        raise ValueError(f"not of schema {SCHEMA}")


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite")
    return number
