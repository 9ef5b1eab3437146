"""Make the shipped table and models anew: one command.

    python -m pinakes.qa.training --folder FOLDER --out OUT --version N [--beside TABLE]
        [--pages 3] [--workers 2]

Fetches packages into FOLDER/sites, looks at their pages (FOLDER/looks; half an hour to some
hours), compares them (FOLDER/pairs), and writes OUT/pairs.csv.gz and OUT/NAME.json.  A run that
was stopped goes on; after a change of features remove FOLDER/pairs.  Needs apt, npm, Chromium,
Firefox, and the extra `qa`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from pinakes.qa.judging.model import NAMES, encode_model

from .fitting import fit
from .labelled import LabelledPair, read_table, write_table
from .looks import look_at_all, read_looks
from .packages import fetch_all
from .pairs import Seeing, by_page, labelled_pairs
from .plan import FIRST, SECOND, plan_of
from .recorded import PackagedSite
from .sites import SITES

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
            found = [asdict(pair) for pair, _ in labelled_pairs(page, Seeing(folder / "looks"))]
            file.write_text(json.dumps(found))


def read_pairs(folder: Path) -> list[LabelledPair]:
    """All that were compared, in one order."""
    files = sorted((folder / "pairs").glob("*.json"))
    return [LabelledPair(**entry) for file in files for entry in json.loads(file.read_text())]


def in_processes(work: Callable[..., None], arguments: Sequence[tuple[object, ...]]) -> None:
    """Each in a process of its own."""
    processes = [multiprocessing.Process(target=work, args=one) for one in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit("a worker failed: see above")


def main() -> None:
    """Do what is not done yet."""
    parser = argparse.ArgumentParser(prog="python -m pinakes.qa.training", description=__doc__)
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
    pairs = [*(read_table(given.beside) if given.beside else ()), *read_pairs(folder)]
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "pairs.csv.gz", pairs)
    for name in NAMES:
        model, _ = fit(pairs, name, version=given.version, seed=SEED)  # type: ignore[arg-type]
        (out / f"{name}.json").write_bytes(encode_model(model))
        sys.stdout.write(json.dumps({"model": model.title, **model.training}) + "\n")


if __name__ == "__main__":
    main()
