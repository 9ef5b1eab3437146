"""The pairs of a run, with their settlements from the store."""

from __future__ import annotations

from pathlib import Path

from pinakes.cli.frame.output import Console
from pinakes.profile import Stores
from pinakes.qa.result_rows import is_known
from pinakes.qa.review.judgement import Settled
from pinakes.qa.review.judgement_rows import scan_settled
from pinakes.qa.review.reviewed_pair import ReviewedPair, reviewed_pairs
from pinakes.qa.run.run_folder import read_pairs


def settled_pairs(
    folder: Path, stores: Stores, console: Console
) -> list[tuple[ReviewedPair, Settled | None]]:
    """By rank; None if not settled.  `Raises` as `read_pairs`, and StoreUnavailable.

    Warns if the store does not know the run: it is probably the wrong store.
    """
    pairs, _ = reviewed_pairs(read_pairs(folder))
    if not pairs:
        return []
    run = pairs[0].judged.result.run
    if not is_known(stores.rows, run):
        console.warn(f"run {run} is unknown to this store, and so are its judgements: {folder}")
    settled = dict(scan_settled(stores.rows, run))
    return [(pair, settled.get(pair.key)) for pair in pairs]
