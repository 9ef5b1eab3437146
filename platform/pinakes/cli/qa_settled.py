"""The pairs of a run, with what people have settled of them in the store."""

from __future__ import annotations

from pathlib import Path

from pinakes.profile import Stores
from pinakes.qa.report.judged_pairs import read_pairs
from pinakes.qa.review.judgement_rows import scan_settled
from pinakes.qa.review.reviewed_pair import ReviewedPair, reviewed_pairs
from pinakes.qa.review.settled import Settled


def settled_pairs(folder: Path, stores: Stores) -> list[tuple[ReviewedPair, Settled | None]]:
    """By rank; None where nothing is settled.  `Raises` as `read_pairs`, and StoreUnavailable."""
    pairs, _ = reviewed_pairs(read_pairs(folder))
    settled: dict[bytes, Settled] = {}
    for run in {pair.judged.result.run for pair in pairs}:
        settled |= dict(scan_settled(stores.rows, run))
    return [(pair, settled.get(pair.key)) for pair in pairs]
