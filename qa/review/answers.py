"""Answers to the page as JSON values: bounded, escaped, and only what the viewer may know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pinakes.access.display import URL_CHARACTERS, display_lines, display_text
from pinakes.qa.results import UNSEEN, PageView, is_image_name, side_names
from pinakes.qa.snapshot import Outcome

from .board import Listed, PairHistory
from .judgement import Judgement
from .judgement_rows import StoredSignOff
from .summary import PairCount, Summary
from .visible_pair import VisiblePair

_LIST_CHARACTERS = 300
_CHANGES = 200


def listed_answer(listed: Listed, offset: int) -> dict[str, Any]:
    """A part of the list."""
    return {
        "pairs": [_listed(pair) for pair in listed.pairs],
        "offset": offset,
        "total": listed.total,
        "problem": listed.problem,
        "held": dict(listed.held),
    }


def _listed(pair: VisiblePair) -> dict[str, Any]:
    result = pair.pair.judged.result
    return {
        "id": pair.pair.id,
        "url": display_text(result.url, _LIST_CHARACTERS),
        "date": display_text(result.date, 40),
        "browsers": pair.pair.browsers,
        "verdict": pair.verdict,
        "confidence": None if pair.confidence is None else _number(pair.confidence),
        "standing": pair.standing.value,
        "judged_by": pair.judged_by,
        "needs": pair.pair.judgements_needed,
        "label": pair.own.label.value if pair.own is not None else None,
        "images": [_image(result.reference), _image(result.other)],
        "settled": pair.settled.label.value if pair.settled is not None else None,
    }


def pair_answer(history: PairHistory) -> dict[str, Any]:
    """All of a pair."""
    pair = history.seen
    result = pair.pair.judged.result
    hidden = pair.verdict is None
    sides = side_names(result)
    return {
        **_listed(pair),
        "url": display_text(result.url, URL_CHARACTERS),
        "weight": _number(pair.pair.judged.weight),
        "in_audit": pair.pair.in_audit and not hidden,
        "model": None if hidden else display_text(result.model, 100),
        "reasons": [] if hidden else display_lines(result.reasons),
        "features": {} if hidden else _numbers(result.features),
        "is_proven": result.is_proven and not hidden,
        "is_unseen": UNSEEN in result.reasons and not hidden,
        "changes": [] if hidden else [list(box) for box in result.changes[:_CHANGES]],
        "changes_left_out": 0 if hidden else max(0, len(result.changes) - _CHANGES),
        "reference": _view(sides[0], result.reference, hidden=hidden),
        "other": _view(sides[1], result.other, hidden=hidden),
        "own": _judgement(pair.own) if pair.own is not None else None,
        "others": [_judgement(judgement) for judgement in pair.others],
        "others_hidden": pair.others_hidden,
        "history": [_judgement(judgement) for judgement in history.history],
        "unreadable": history.unreadable,
    }


def _view(side: str, view: PageView, *, hidden: bool) -> dict[str, Any]:
    # That a page was not captured again since bytes prove it the same is a verdict.
    reasons = () if hidden and view.outcome is Outcome.COMPLETE else view.reasons
    return {
        "side": side,
        "kind": display_text(view.kind, URL_CHARACTERS),
        "browser": display_text(f"{view.browser} {view.browser_version}".strip(), 200),
        "outcome": view.outcome.value,
        "milliseconds": view.milliseconds,
        "image": _image(view),
        "reasons": display_lines(reasons),
        "missed": display_lines(view.missed),
    }


def _image(view: PageView) -> str | None:
    return view.image if view.image and is_image_name(view.image) else None


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        "id": judgement.id,
        "author": display_text(judgement.author),
        "role": judgement.role.value,
        "label": judgement.label.value,
        "faults": list(judgement.statement.faults),
        "note": judgement.statement.note,
        "at_ms": judgement.at_ms,
        "blind_to": [what.value for what in judgement.blind_to],
    }


def summary_answer(
    summary: Summary, signed: list[StoredSignOff], *, unreadable: int, problem: str | None
) -> dict[str, Any]:
    """All figures of the run."""
    return {
        "pairs": summary.pairs,
        "unlooked": summary.extent.not_captured if summary.extent is not None else None,
        "verdicts": {name: _part(part) for name, part in summary.verdicts.items()},
        "histogram": summary.histogram,
        "queued": summary.queued,
        "queue_done": summary.queue_done,
        "standings": summary.standings,
        "reviewers": {display_text(name): count for name, count in summary.reviewers.items()},
        "against": [[*names, count] for names, count in sorted(summary.against.items())],
        "faults": {name: _part(part) for name, part in summary.faults.items()},
        "agreement": asdict(summary.agreement),
        "agreement_by_two": [
            {"names": list(map(display_text, names)), **asdict(agreement)}
            for names, agreement in summary.agreement_by_two.items()
        ],
        "estimates": [
            {"browsers": browsers, **asdict(estimate)}
            for browsers, estimate in summary.estimates.items()
        ],
        "signoffs": list(map(signed_answer, signed)),
        "unreadable": unreadable,
        "problem": problem,
    }


def signed_answer(signed: StoredSignOff) -> Mapping[str, Any]:
    """A sign-off."""
    cell = signed.cell
    return {
        "id": signed.id,
        "at_ms": signed.at_ms,
        "author": display_text(cell.author),
        "state": display_text(cell.state),
        "note": cell.note or "",
        "role": display_text(cell.role),
        "counts": dict(cell.counts),
    }


def _part(part: PairCount) -> dict[str, float | None]:
    return {"pairs": part.pairs, "weight": _number(part.weight)}


def _numbers(features: Mapping[str, float]) -> dict[str, float | None]:
    return {display_text(name, 100): _number(value) for name, value in features.items()}


def _number(value: float) -> float | None:
    """The number; None for infinity and NaN, which JSON lacks."""
    return value if math.isfinite(value) else None
