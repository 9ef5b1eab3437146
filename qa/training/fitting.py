"""Fits a model to labelled pairs: gradient boosted trees, calibrated on folds split by site.

Constraints: a larger feature of `_WORSE`, or a smaller one of `_BETTER`, never makes a pair
better, so that peculiarities of the training's sites are not learned.  Needs the extra `qa`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pinakes.errors import ConfigError
from pinakes.extras import missing_extra
from pinakes.qa.judging.model import Model, Tree, is_decided, sigmoid, verdict_of

from .figures import JudgedPair, figures
from .labelled import LabelledPair, PairOf

try:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold
    from threadpoolctl import threadpool_limits
except ImportError as error:
    raise missing_extra(f"training needs {error.name}", "qa") from error

__all__ = [
    "HistGradientBoostingClassifier",
    "LogisticRegression",
    "NDArray",
    "StratifiedGroupKFold",
    "np",
    "threadpool_limits",
]


FOLDS = 6
DECISIVE: Mapping[PairOf, tuple[str, ...]] = MappingProxyType(
    {
        "same-browser": (),
        "across-browsers": ("element_changed", "picture_raster", "picture_flattened"),
    }
)
"""Of models: what is nearly proof, since browsers share the words in which elements are described,
and draw the pixels of a picture alike.  Trees that are fitted to all pairs dilute it."""
UNCERTAIN: Mapping[PairOf, tuple[float, float]] = MappingProxyType(
    {"same-browser": (0.4, 0.6), "across-browsers": (0.4, 0.8)}
)
"""Between these probabilities the verdict is uncertain.  Of what no element shows across browsers,
a third of what is called dissimilar at 0.6 is how they draw."""

PERSON_WEIGHT = 3.0
"""A settled pair counts as that many injected pairs."""

_ROUNDS = 250
_LEAVES = 8
_LEAST_IN_LEAF = 8
_RATE = 0.06
_WORSE = frozenset(
    {
        "image_gone", "image_changed_tiles", "image_changed_pixels", "image_emptied_tiles",
        "image_colour", "image_largest_change", "text_gone", "text_misread",
        "text_misread_letters", "page_boxes_gone",
        "page_zero_size", "page_broken", "page_failed_styles", "page_failed_images",
        "page_media_failed", "page_overlay", "picture_changed", "picture_changed_share",
        "picture_worst", "picture_flattened", "picture_gone", "picture_gone_share",
        "image_coarse", "page_boxes_shifted", "page_tags_gone", "picture_whole", "picture_raster",
        "element_lost", "element_lost_share", "element_added", "element_restyled",
        "element_restyled_share", "element_shifted", "element_shifted_most",
        "element_spaced", "element_spaced_most", "element_widened", "element_resized",
        "element_changed",
    }
)  # fmt: skip
_BETTER = frozenset(
    {
        "image_similarity", "image_similarity_low", "image_there", "text_order", "text_numbers",
        "page_height_ratio",
    }
)  # fmt: skip


_LEFT_OUT = frozenset({"page_console", "payloads_other", "payloads_lost"})
"""Browsers log different console messages on each load of the same page; payloads prove, and are
not known where a model judges."""


def fit(
    pairs: Sequence[LabelledPair], name: PairOf, *, version: str, seed: int, folds: int = FOLDS
) -> tuple[Model, list[JudgedPair]]:
    """A model fitted to the pairs of its kind, and the verdicts of the folds' models on them.

    Raises:
        ConfigError: too few sites, or one label alone.
    """
    mine = [pair for pair in pairs if pair.pair == name]
    labels = {pair.label for pair in mine}
    if len({pair.site for pair in mine}) < folds or len(labels) < 2:
        raise ConfigError(f"{name}: folds by site need {folds} sites and both labels")
    names = tuple(name for name in mine[0].features if name not in _LEFT_OUT)
    decisive = DECISIVE[name]
    decided = [pair for pair in mine if is_decided(pair.features, decisive)]
    left = [pair for pair in mine if not is_decided(pair.features, decisive)]
    if len({pair.label for pair in left}) < 2:
        raise ConfigError(f"{name}: trees need both labels among pairs that nothing else decides")
    probability = _share_dissimilar(decided)
    scores = np.zeros(len(left))
    for train, test in split(left, folds, seed):
        trees = _boosted([left[n] for n in train], names, seed)
        scores[test] = trees.decision_function(_numbers([left[n] for n in test], names))
    calibration = _calibrate(scores, left)
    slope, offset = calibration
    judged = [
        *(_judged(pair, probability, UNCERTAIN[name]) for pair in decided),
        *(
            _judged(pair, sigmoid(slope * float(score) + offset), UNCERTAIN[name])
            for pair, score in zip(left, scores, strict=True)
        ),
    ]
    fitted = _boosted(left, names, seed)
    model = Model(
        name=name,
        version=version,
        features=names,
        decisive=decisive,
        decisive_probability=probability,
        base=float(np.ravel(fitted._baseline_prediction)[0]),
        calibration=calibration,
        uncertain=UNCERTAIN[name],
        trees=tuple(_tree(one[0].nodes) for one in fitted._predictors),
        training={
            "seed": seed,
            "pairs": len(mine),
            "sites": len({pair.site for pair in mine}),
            "people": sum(pair.kind == "person" for pair in mine),
            "folds": folds,
            "brier": round(_brier(judged), 5),
            "on_folds": figures(judged).as_json(),
        },
    )
    return model, judged


def split(
    pairs: Sequence[LabelledPair], folds: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Numbers of pairs to fit to, and to judge: no site is among both."""
    labels = [pair.label for pair in pairs]
    sites = [pair.site for pair in pairs]
    yield from StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(
        labels, labels, sites
    )


def judge_all(model: Model, pairs: Sequence[LabelledPair]) -> list[JudgedPair]:
    """What a model says of pairs of its kind."""
    return [
        _judged(pair, model.probability(pair.features), model.uncertain)
        for pair in pairs
        if pair.pair == model.name
    ]


def _judged(pair: LabelledPair, likely: float, uncertain: tuple[float, float]) -> JudgedPair:
    return JudgedPair(pair.label, pair.kind, likely, verdict_of(likely, uncertain))


def _share_dissimilar(pairs: Sequence[LabelledPair]) -> float:
    """Weighed, of what decisive features show; with one right and one wrong more (Laplace)."""
    weights = [(_weight(pair), pair.label == "dissimilar") for pair in pairs]
    found = sum(weight for weight, is_dissimilar in weights if is_dissimilar)
    return (found + 1) / (sum(weight for weight, _ in weights) + 2)


def _weight(pair: LabelledPair) -> float:
    return PERSON_WEIGHT if pair.kind == "person" else 1.0


def _boosted(pairs: Sequence[LabelledPair], names: Sequence[str], seed: int) -> Any:
    constraints = [1 if name in _WORSE else -1 if name in _BETTER else 0 for name in names]
    trees = HistGradientBoostingClassifier(
        max_iter=_ROUNDS,
        learning_rate=_RATE,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=_LEAST_IN_LEAF,
        l2_regularization=2.0,
        max_features=0.4,
        early_stopping=False,
        monotonic_cst=constraints,
        random_state=seed,
    )
    weights = list(map(_weight, pairs))
    # The tables are small: more threads would only wait for one another.
    with threadpool_limits(1):
        return trees.fit(_numbers(pairs, names), _dissimilar(pairs), sample_weight=weights)


def _numbers(pairs: Sequence[LabelledPair], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[pair.features[name] for name in names] for pair in pairs], dtype=np.float64)


def _dissimilar(pairs: Sequence[LabelledPair]) -> NDArray[np.intp]:
    return np.array([pair.label == "dissimilar" for pair in pairs], dtype=np.intp)


def _calibrate(scores: NDArray[np.float64], pairs: Sequence[LabelledPair]) -> tuple[float, float]:
    """Platt's: a logistic curve over the scores that models of the folds gave."""
    curve = LogisticRegression(C=1e3).fit(scores.reshape(-1, 1), _dissimilar(pairs))
    return float(curve.coef_[0, 0]), float(curve.intercept_[0])


def _brier(judged: Sequence[JudgedPair]) -> float:
    return sum((one.likely - (one.label == "dissimilar")) ** 2 for one in judged) / len(judged)


def _tree(nodes: Any) -> Tree:
    """Of scikit-learn's nodes; leaves have neither feature nor children."""
    inner = [not node["is_leaf"] for node in nodes]

    def of_inner(name: str, otherwise: float) -> list[Any]:
        pairs = zip(nodes, inner, strict=True)
        return [node[name].item() if is_inner else otherwise for node, is_inner in pairs]

    return Tree(
        feature=tuple(of_inner("feature_idx", -1)),
        threshold=tuple(of_inner("num_threshold", 0.0)),
        left=tuple(of_inner("left", 0)),
        right=tuple(of_inner("right", 0)),
        value=tuple(
            0.0 if is_inner else round(float(node["value"]), 6)
            for node, is_inner in zip(nodes, inner, strict=True)
        ),
    )
