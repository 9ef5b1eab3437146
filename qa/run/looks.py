"""The verdict on a pair of which nothing is proven: a trained model's, by how both look."""

from __future__ import annotations

from collections.abc import Mapping

from pinakes.qa.judging.model import Model
from pinakes.qa.results.pair_result import Verdict
from pinakes.qa.snapshot import Outcome, Snapshot

from .proof import Judgement

RULE = "outcomes 1"
"""What judges where one of the two was not shown to the end, and no model can."""

_UNSURE = 0.5
_SHOWN = {Outcome.COMPLETE, Outcome.STILL_LOADING}


def judge_looks(
    model: Model, features: Mapping[str, float], reference: Snapshot, other: Snapshot
) -> Judgement:
    """Judge by features; a page that is not there at all is nothing that a model has seen."""
    if reference.outcome is Outcome.COMPLETE and other.outcome not in _SHOWN:
        how = other.outcome.value.replace("_", " ")
        return Judgement(Verdict.DISSIMILAR, _UNSURE, RULE, (f"it was shown, and here: {how}",))
    shown = reference.outcome is other.outcome is Outcome.COMPLETE
    if not shown or not features["image_there"]:
        return Judgement(Verdict.UNCERTAIN, _UNSURE, RULE)
    verdict, confidence = model.judge(features)
    return Judgement(verdict, confidence, model.title)
