"""The verdict on a page before and after deduplication, as far as it can be proven.

Both views were answered by our own proxy, so that what each was sent is known byte for byte.
A page that was sent the same is the same, however a browser drew it; one that was sent other
bytes for a URL, or is missing what was there before, has been harmed.  Between the two, where
a page asked for other things, as pages do that are never the same twice, nothing is proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pinakes.qa.compare.pairs import Comparison
from pinakes.qa.judging.model import Model
from pinakes.qa.replay.page_log import PageLog
from pinakes.qa.results.pair_result import Verdict
from pinakes.qa.snapshot import Outcome, Snapshot

MODEL = "proof 2"
RULE = "outcomes 1"
"""Judges pairs of which one page was not shown to the end: no model can."""
_PROVEN = 1.0
_UNPROVEN = 0.5
_SHOWN = {Outcome.COMPLETE, Outcome.STILL_LOADING}
_NAMED = 20
_WORDS = {"miss": "missing now", "fault": "cannot be given now"}


class Decision(NamedTuple):
    """A verdict, how sure it is, by what, and why; `harm` is told before all other reasons."""

    verdict: Verdict
    confidence: float
    model: str
    harm: tuple[str, ...] = ()


def prove(
    comparison: Comparison, before: PageLog, after: PageLog, *, complete: bool = True
) -> Decision | None:
    """What is proven of a page whose reference is replayed as it was before; None for nothing.

    `complete`: both times the browser showed all of it.
    """
    harm = (*_lost(before, after), *_other_heads(before, after))
    if comparison.payloads or harm:
        return Decision(Verdict.DISSIMILAR, _PROVEN, MODEL, harm)
    sent = before.payloads
    if not sent:
        nothing = ("nothing of it was sent whole before deduplication",)
        return Decision(Verdict.UNCERTAIN, _UNPROVEN, MODEL, nothing)
    same = sent == after.payloads and not changed_outcomes(before, after)
    if complete and same and _is_whole(before) and _is_whole(after):
        return Decision(Verdict.SIMILAR, _PROVEN, MODEL)
    return None


def changed_outcomes(before: PageLog, after: PageLog) -> set[str]:
    """Requests of both that something else came of: a miss, say, that is a fault now."""
    was, now = before.outcomes, after.outcomes
    return {key for key in was.keys() & now.keys() if was[key] != now[key]}


def _is_whole(log: PageLog) -> bool:
    hits = (exchange for exchange in log.exchanges if exchange.outcome == "hit")
    return not (log.left_out or log.has_unfinished) and all(hit.is_whole for hit in hits)


def _lost(before: PageLog, after: PageLog) -> tuple[str, ...]:
    """What was answered before, and is a miss or a fault now."""
    never = {exchange.key for exchange in before.exchanges if exchange.outcome in _WORDS}
    had = before.payloads.keys() - never
    gone = {
        exchange.key: exchange
        for exchange in after.exchanges
        if exchange.outcome in _WORDS and exchange.key in had
    }
    return tuple(
        f"{_WORDS[exchange.outcome]}: {key}{f' ({exchange.problem})' if exchange.problem else ''}"
        for key, exchange in gone.items()
    )[:_NAMED]


def _other_heads(before: PageLog, after: PageLog) -> tuple[str, ...]:
    """What has the same body as before, and another status, type or other field."""
    same_body = before.payloads.items() & after.payloads.items()
    had, has = before.heads, after.heads
    return tuple(
        f"answered with another head: {key}"
        for key, _ in sorted(same_body)
        if had.get(key) != has.get(key)
    )[:_NAMED]


def judge_looks(
    model: Model, features: Mapping[str, float], reference: Snapshot, other: Snapshot
) -> Decision:
    """Judge by features; a page that is not there at all is nothing that a model has seen."""
    if reference.outcome is Outcome.COMPLETE and other.outcome not in _SHOWN:
        how = other.outcome.value.replace("_", " ")
        return Decision(Verdict.DISSIMILAR, _UNPROVEN, RULE, (f"it was shown, and here: {how}",))
    shown = reference.outcome is other.outcome is Outcome.COMPLETE
    if not shown or not features["image_there"]:
        return Decision(Verdict.UNCERTAIN, _UNPROVEN, RULE)
    verdict, confidence = model.judge(features)
    return Decision(verdict, confidence, model.title)
