"""Run the cases in rounds: every case directly after the floor that it is compared with."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.cases import FLOORS, Case, Setting, Steps, built
from bench.measure import CommandFailed, Cost, run_steps
from bench.results import Outcome


def say(text: str) -> None:
    """Report progress on standard error."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def start(case: Case) -> Outcome:
    """Return an empty outcome; one with a reason where the case cannot be run here."""
    if not case.needs():
        return Outcome(case=case, why_not="absent (make bench-peers)")
    if not built(case):
        return Outcome(case=case, why_not="not built")
    return Outcome(case=case)


class Rounds:
    """Runs cases over one corpus, in scratch folders of their own under `scratch`."""

    def __init__(self, warcs: Sequence[Path], scratch: Path, cases: Sequence[Case]) -> None:
        self.warcs = tuple(warcs)
        self.scratch = scratch
        self.by_name = {case.name: case for case in cases}

    def run(self, outcome: Outcome) -> None:
        """Run one case once, its floor just before it; note a failure as the outcome's reason."""
        case = outcome.case
        try:
            prepared = self.prepared(case)
            if case.corpus_mb is None:
                floor = self.floor_of(case)
                outcome.floors.append(self.once(floor, prepared, before=case.each_time))
            outcome.costs.append(self.once(case.steps, prepared, case.corpus_mb, case.each_time))
        except CommandFailed as why:
            say(f"{case.name}: {why}")
            outcome.why_not = f"failed: {why}"[:60]

    def floor_of(self, case: Case) -> Steps:
        """Return the steps of what the case is divided by."""
        return FLOORS[case.floor] if case.floor in FLOORS else self.by_name[case.floor].steps

    def prepared(self, case: Case) -> Path:
        """Return the folder with what the case takes as given; make it in the first round."""
        folder = self.scratch / "prepared" / "".join(c if c.isalnum() else "-" for c in case.name)
        if not folder.is_dir():
            folder.mkdir(parents=True)
            setting = Setting(warcs=self.warcs, prepared=folder, out=folder)
            if steps := case.prepare(setting):
                run_steps(steps, folder)
        return folder

    def once(
        self,
        steps: Steps,
        prepared: Path,
        size_mb: int | None = None,
        before: Steps = lambda _: (),
    ) -> Cost:
        """Measure steps in an output folder, made for them and removed afterwards."""
        out = self.scratch / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        setting = Setting(warcs=self.warcs, prepared=prepared, out=out)
        if size_mb is not None:
            setting = replace(setting, warcs=(self.joined(size_mb),))
        try:
            if first := before(setting):
                run_steps(first, out)
            return run_steps(steps(setting), out)
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def joined(self, size_mb: int) -> Path:
        """Return one WARC file of about that size: the corpus's files end to end, kept there."""
        path = self.warcs[0].parents[1] / f"joined-{size_mb}.warc.gz"
        if not path.is_file():
            aside = path.with_suffix(".part")
            with aside.open("wb") as joined:
                while joined.tell() < size_mb * 1_000_000:
                    for warc in self.warcs:
                        if joined.tell() < size_mb * 1_000_000:
                            joined.write(warc.read_bytes())
            aside.rename(path)
        return path
