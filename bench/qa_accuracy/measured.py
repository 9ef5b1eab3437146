"""What was measured on the test's pairs, as tables in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pinakes.qa.training.figures import Figures


class Peer(NamedTuple):
    """A measure of others': right at its own threshold, and at the best one for these pairs."""

    name: str
    right: float
    false_alarms: float
    best_right: float
    best_threshold: float


def peers(rows: Sequence[dict[str, Any]]) -> list[Peer]:
    """Each measure over the same pairs; a pair is dissimilar where its match is below."""
    measures = {
        "Browsertrix, screenshots (0.9)": (lambda row: row["peers"][0], 0.9),
        "Browsertrix, text (0.9)": (lambda row: row["peers"][1], 0.9),
        "Browsertrix, the worse of both (0.9)": (lambda row: min(row["peers"][:2]), 0.9),
        "structural similarity (0.95)": (lambda row: row["peers"][2], 0.95),
    }
    return [_peer(name, rows, of, own) for name, (of, own) in measures.items()]


def _peer(name: str, rows: Sequence[dict[str, Any]], of: Any, own: float) -> Peer:
    values = [(of(row), row["label"] == "dissimilar", row["kind"]) for row in rows]
    right, alarms = _at(values, own)
    thresholds = sorted({round(value, 3) for value, _, _ in values})
    best = max(((_at(values, one)[0], one) for one in thresholds), default=(0.0, own))
    return Peer(name, right, alarms, best[0], best[1])


def _at(values: Sequence[tuple[float, bool, str]], threshold: float) -> tuple[float, float]:
    right = sum((value < threshold) == fault for value, fault, _ in values)
    unaltered = [value for value, _, kind in values if kind.startswith("unaltered")]
    alarms = sum(value < threshold for value in unaltered)
    return right / max(1, len(values)), alarms / max(1, len(unaltered))


def lines(title: str, found: Figures, others: Iterable[Peer] = ()) -> Iterator[str]:
    """A part of the report, line by line."""
    yield f"== {title}: {found.pairs:,} pairs, injected faults"
    yield f"right over all (the likelier)   {_percent(found.right)}"
    yield f"right where it decides          {_percent(found.right_decided)}"
    yield f"uncertain                       {_percent(found.uncertain)}"
    yield (f"false alarms on unaltered pairs {_percent(found.false_alarms)} of {found.unaltered:,}")
    yield f"{'label':12}{'similar':>10}{'dissimilar':>12}{'uncertain':>11}"
    for label, counts in found.confusion.items():
        cells = [counts.get(name, 0) for name in ("similar", "dissimilar", "uncertain")]
        yield f"{label:12}{cells[0]:>10}{cells[1]:>12}{cells[2]:>11}"
    yield "right by kind:"
    for kind, (right, of) in found.recall.items():
        yield f"  {kind:34}{right:>5} of {of:<5}{right / of:>7.1%}"
    for peer in others:
        yield (
            f"{peer.name:40} right {peer.right:.1%}, false alarms {peer.false_alarms:.1%}; "
            f"right {peer.best_right:.1%} at {peer.best_threshold:.3f}, the best threshold here"
        )


def _percent(share: float | None) -> str:
    return "   -" if share is None else f"{share:.1%}"
