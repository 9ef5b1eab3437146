"""How right the shipped models are, on sites and faults they never saw: one command.

    python -m bench.qa_accuracy --folder FOLDER [--pages 3] [--workers 2]

Fetches the test's packages into FOLDER/sites, looks at their pages (FOLDER/looks; minutes to an
hour), compares (FOLDER/pairs), judges, and prints tables.  What is in FOLDER is not made again,
so that another model, or other features, can be measured without looking once more: remove
FOLDER/pairs after a change of features.  Nothing of it is committed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.qa_accuracy.measured import lines, peers
from bench.qa_accuracy.peers import Measured, measure
from bench.qa_accuracy.plan import FIRST, SECOND, plan_of, unaltered
from bench.qa_accuracy.sites import SITES
from bench.qa_training.in_processes import in_processes
from bench.qa_training.kept_snapshots import read_snapshot
from bench.qa_training.looks import look_at_all, read_looks
from bench.qa_training.packages import fetch_all
from bench.qa_training.pairs import PagePairs, Seeing, by_page, labelled_pairs
from bench.qa_training.recorded import PackagedSite
from pinakes.qa.browsers.kept import read_image
from pinakes.qa.judging.model import NAMES, load_model
from pinakes.qa.training.figures import figures
from pinakes.qa.training.fitting import judge_all
from pinakes.qa.training.labelled import LabelledPair

SEED = 11


def look(folder: Path, pages: int, worker: int, workers: int) -> None:
    """One worker's looks."""
    folders, _ = fetch_all(SITES, folder / "sites")
    sites = [PackagedSite(name, place) for name, place in folders.items()]
    random.Random(5).shuffle(sites)
    look_at_all(
        sites, folder / "looks", plan_of, pages=pages, seed=SEED, browsers=(FIRST, SECOND),
        worker=worker, workers=workers,
    )  # fmt: skip
    # Other pages, for the figure of false alarms alone.
    look_at_all(
        sites, folder / "looks-unaltered", unaltered, pages=2 * pages, first=pages, seed=SEED,
        browsers=(FIRST,), worker=worker, workers=workers,
    )  # fmt: skip


def compare(folder: Path, worker: int, workers: int) -> None:
    """One worker's pairs, a file a page."""
    (folder / "pairs").mkdir(exist_ok=True)
    pages = [
        (looks, page)
        for looks in (folder / "looks", folder / "looks-unaltered")
        for page in by_page(read_looks(looks), (FIRST, SECOND))
    ]
    for number, (looks, page) in enumerate(pages):
        url = next(iter(page.looks.values())).page
        file = folder / "pairs" / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"
        if number % workers == worker and not file.exists():
            file.write_text(json.dumps(list(_compared(looks, page))))


def _compared(looks: Path, page: PagePairs) -> Iterator[dict[str, Any]]:
    for pair, compared, _ in labelled_pairs(page, Seeing(looks)):
        names = {"first": compared.first.snapshot, "second": compared.second.snapshot}
        yield {**asdict(pair), **names, "looks": looks.name}


def compare_as_peers(folder: Path, worker: int, workers: int) -> None:
    """What others measure of one worker's pairs, a file a page."""
    (folder / "peers").mkdir(exist_ok=True)
    for number, file in enumerate(sorted((folder / "pairs").glob("*.json"))):
        out = folder / "peers" / file.name
        if number % workers == worker and not out.exists():
            rows = json.loads(file.read_text())
            pairs = {(row["first"], row["second"]): row.get("looks", "looks") for row in rows}
            found = [
                [*pair, list(_measured(folder / looks, *pair))] for pair, looks in pairs.items()
            ]
            out.write_text(json.dumps(found))


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """All pairs; those that others were measured on have `peers`."""
    found: list[dict[str, Any]] = []
    for file in sorted((folder / "pairs").glob("*.json")):
        others = folder / "peers" / file.name
        known = json.loads(others.read_text()) if others.exists() else []
        by_names = {(first, second): measured for first, second, measured in known}
        for row in json.loads(file.read_text()):
            measured = by_names.get((row["first"], row["second"]))
            found.append(row if measured is None else {**row, "peers": measured})
    return found


def _measured(looks: Path, first: str, second: str) -> Measured:
    one, other = (read_snapshot(looks / name) for name in (first, second))
    images = [
        read_image(looks / "images", seen.image) if seen.image else None for seen in (one, other)
    ]
    return measure(images[0], images[1], one.text[:20_000], other.text[:20_000])


def report(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The tables."""
    found: list[str] = []
    for name in NAMES:
        model = load_model(name)
        mine = [row for row in rows if row["pair"] == name]
        judged = judge_all(model, list(map(_pair, mine)))
        rated = [row for row in mine if "peers" in row]
        found += ["", *lines(f"{model.title}, by looks alone", figures(judged), peers(rated))]
        if rated:
            found.append(f"(others: on {len(rated):,} of these {len(mine):,} pairs)")
    return found


def _pair(row: dict[str, Any]) -> LabelledPair:
    return LabelledPair(**{name: row[name] for name in LabelledPair.__slots__})


def main() -> None:
    """Do what is not done yet, and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.qa_accuracy", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=3, help="of a site (default 3)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only-report", action="store_true", help="of the pairs that are there")
    given = parser.parse_args()
    folder, workers = given.folder, given.workers
    if not given.only_report:
        fetch_all(SITES, folder / "sites")
        in_processes(look, [(folder, given.pages, n, workers) for n in range(workers)])
        in_processes(compare, [(folder, n, workers) for n in range(workers)])
        in_processes(compare_as_peers, [(folder, n, workers) for n in range(workers)])
    rows = read_rows(folder)
    print(f"{len({row['site'] for row in rows})} sites, {len(rows):,} pairs")
    print("\n".join(report(rows)))


if __name__ == "__main__":
    main()
