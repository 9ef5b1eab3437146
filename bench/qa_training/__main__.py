"""Make the table and the models that ship in `pinakes.qa`: one command.

    python -m bench.qa_training --folder FOLDER --out OUT --version N [--beside TABLE]
        [--pages 3] [--workers 2]

Fetches packages into FOLDER/sites, captures their pages in browsers (FOLDER/looks; half an hour
to some hours), compares the captures (FOLDER/pairs), and writes OUT/pairs.csv.gz (for
qa/training/) and OUT/NAME.json (for qa/judging/models/), fitted to all of them.  Prints how right
models are on makers and families of faults that were held out (`held_out`).  A run that was
stopped continues; remove FOLDER/pairs after a change of features.  Needs apt, npm, Chromium,
Firefox, and the extra `qa`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

from bench.qa_training.held_out import Row, judge_held_out, maker_of, tables
from bench.qa_training.in_processes import in_processes
from bench.qa_training.looks import look_at_all, read_looks
from bench.qa_training.packages import fetch_all
from bench.qa_training.pairs import Seeing, by_page, labelled_pairs
from bench.qa_training.plan import FIRST, SECOND, plan_of
from bench.qa_training.recorded import PackagedSite
from bench.qa_training.sites import SITES
from bench.qa_training.table import write_table
from pinakes.qa.judging.model import NAMES, encode_model
from pinakes.qa.training.fitting import fit
from pinakes.qa.training.labelled import LabelledPair, read_table

SEED = 11
_SHUFFLED = 5
_BROWSERS = (FIRST, SECOND)


def look(folder: Path, pages: int, worker: int, workers: int) -> None:
    """One worker's looks."""
    folders, _ = fetch_all(SITES, folder / "sites")
    sites = [PackagedSite(name, place) for name, place in folders.items()]
    random.Random(_SHUFFLED).shuffle(sites)
    look_at_all(
        sites, folder / "looks", plan_of, pages=pages, seed=SEED, browsers=_BROWSERS,
        worker=worker, workers=workers,
    )  # fmt: skip


def compare(folder: Path, worker: int, workers: int) -> None:
    """One worker's pairs: a file a page."""
    (folder / "pairs").mkdir(exist_ok=True)
    for number, page in enumerate(by_page(read_looks(folder / "looks"), _BROWSERS)):
        url = next(iter(page.looks.values())).page
        file = folder / "pairs" / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"
        if number % workers == worker and not file.exists():
            pairs = labelled_pairs(page, Seeing(folder / "looks"))
            found = [{"pair": asdict(pair), "area": area} for pair, _, area in pairs]
            file.write_text(json.dumps(found))


def read_rows(folder: Path) -> list[Row]:
    """All that were compared, in one order."""
    folders, _ = fetch_all(SITES, folder / "sites")
    makers = {name: maker_of(PackagedSite(name, place)) for name, place in folders.items()}
    entries = [
        entry
        for file in sorted((folder / "pairs").glob("*.json"))
        for entry in json.loads(file.read_text())
    ]
    pairs = [(LabelledPair(**entry["pair"]), entry["area"]) for entry in entries]
    return [Row(pair, makers[pair.site], area) for pair, area in pairs]


def main() -> None:
    """Do what is not done yet."""
    parser = argparse.ArgumentParser(prog="python -m bench.qa_training", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--version", required=True, help="of the models")
    parser.add_argument("--beside", type=Path, help="an earlier table, whose pairs stay in")
    parser.add_argument("--pages", type=int, default=3, help="of a site (default 3)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only-fit", action="store_true", help="to the pairs that are there")
    given = parser.parse_args()
    folder, workers, out = given.folder, given.workers, given.out
    if not given.only_fit:
        _, failed = fetch_all(SITES, folder / "sites")
        for name, why in failed:
            sys.stderr.write(f"not fetched: {name}: {why}\n")
        in_processes(look, [(folder, given.pages, n, workers) for n in range(workers)])
        in_processes(compare, [(folder, n, workers) for n in range(workers)])
    rows = read_rows(folder)
    for name in NAMES:
        sys.stdout.write(f"== {name}: makers and families held out\n")
        judged = list(judge_held_out(rows, name, seed=SEED))  # type: ignore[arg-type]
        sys.stdout.writelines(f"{line}\n" for line in tables(judged))
    pairs = [*(read_table(given.beside) if given.beside else ()), *(row.pair for row in rows)]
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "pairs.csv.gz", pairs)
    for name in NAMES:
        model, _ = fit(pairs, name, version=given.version, seed=SEED)  # type: ignore[arg-type]
        (out / f"{name}.json").write_bytes(encode_model(model))
        sys.stdout.write(json.dumps({"model": model.title, **model.training}) + "\n")


if __name__ == "__main__":
    main()
