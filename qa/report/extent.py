"""How much of a run's sample is judged: pages come by host, so the first are not a sample.

The whole sample is in the folder of the run: `sample.jsonl` and `run.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pinakes.counts import count_of
from pinakes.qa.results.pair_key import pair_key
from pinakes.qa.results.pair_line import JudgedPair
from pinakes.qa.run.run_folder import RUN, SAMPLE, read_plan, read_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The number of pages, of pages with missing pairs, and of missing pairs."""

    pages: int
    pages_left: int
    pairs_left: int

    @property
    def not_captured(self) -> str | None:
        """What is not captured yet, in words; None if all pages are."""
        if not self.pages_left:
            return None
        are = "is" if self.pages_left == 1 else "are"
        pairs = count_of(self.pairs_left, "pair")
        return (
            f"{self.pages - self.pages_left:,} of {self.pages:,} pages; {self.pages_left:,} "
            f"({pairs}) {are} not judged yet; continue with `pinakes qa run`"
        )


def read_extent(folder: Path, pairs: Iterable[JudgedPair]) -> Extent | None:
    """How far the run with these pairs in a folder is; None if the folder has no sample.

    Older runs, and copied pairs, have no sample beside them.

    Raises:
        MalformedRecord: the sample or the plan cannot be read.
    """
    if not all((folder / name).exists() for name in (RUN, SAMPLE)):
        return None
    plan, _ = read_plan(folder)
    judged = {pair_key(pair.result) for pair in pairs}
    counts = [len(plan.pairs_left(drawn, judged)) for drawn in read_sample(folder)]
    return Extent(
        pages=len(counts),
        pages_left=sum(count > 0 for count in counts),
        pairs_left=sum(counts),
    )
