"""The verdict on a pair of which nothing is proven: by how both look."""

from __future__ import annotations

from pinakes.qa.compare.pairs import Comparison
from pinakes.qa.results.pair_result import Verdict
from pinakes.qa.snapshot import Outcome, Snapshot

from .proof import Judgement

MODEL = "looks 1"
_UNPROVEN = 0.5
_SHOWN = {Outcome.COMPLETE, Outcome.STILL_LOADING}


def judge_looks(comparison: Comparison, reference: Snapshot, other: Snapshot) -> Judgement:
    """What can be said by looks; never sure of it."""
    if Outcome.COMPLETE is reference.outcome and other.outcome not in _SHOWN:
        lost = f"shown in the reference, and here {other.outcome.value.replace('_', ' ')}"
        return Judgement(Verdict.DISSIMILAR, _UNPROVEN, MODEL, (lost,))
    complete = reference.outcome is other.outcome is Outcome.COMPLETE
    image = comparison.image
    looks_the_same = complete and not (
        image is None or image.gone or image.new or image.changed_tiles or comparison.text.gone
    )
    verdict = Verdict.SIMILAR if looks_the_same else Verdict.UNCERTAIN
    return Judgement(verdict, _UNPROVEN, MODEL)
