"""Measure everything in one run: `make bench`, or `python -m bench`.

    make bench ARGS="--corpus small-records --runs 3 --only manifest"

Prints one table; the same with every round's figures goes to results.json in the cache folder.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import corpus, layout
from bench.access.rounds import CAPTURES, GROUP
from bench.access.rounds import run as rounds_of_access
from bench.cache import cache_dir
from bench.cases import OURS, Case, on_corpus
from bench.peers import pins
from bench.peers.cases import PEERS
from bench.results import as_json, table
from bench.rounds import Rounds, say, start
from bench.zstd.rounds import GROUP as ZSTD
from bench.zstd.rounds import run as rounds_of_zstd

ACCESS_RUNS = 3
ALL = (*OURS[:2], *PEERS, *OURS[2:])


def machine() -> str:
    """Describe the machine in one line: processor, cores, system, Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {name.strip(): value.strip() for name, value in fields.items()}
    cores = sum(line.startswith("processor") for line in lines)
    hashing = "SHA extensions" if "sha_ni" in named.get("flags", "") else "no SHA extensions"
    cpu = f"{named.get('model name', 'unknown')}, model {named.get('model', '?')}"
    system = f"Linux {platform.release()}; Python {platform.python_version()}"
    return f"{cpu}, {cores} cores, {hashing}; {system}"


def commit() -> str:
    """Return the commit measured, `+` where the tree differs from it; `unknown` outside git."""
    run = ["git", "describe", "--always", "--dirty=+", "--abbrev=8"]
    here = Path(__file__).parent
    done = subprocess.run(run, cwd=here, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def chosen(only: str) -> list[Case]:
    """Return the cases whose group and name contain `only`."""
    return [case for case in ALL if only in f"{case.group}: {case.name}"]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--corpus", choices=corpus.CORPORA, default=corpus.FULL.name)
    parser.add_argument("--runs", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument(
        "--captures", type=int, default=CAPTURES, help=f"of {GROUP} (default {CAPTURES:,})"
    )
    return parser.parse_args()


def main() -> None:
    """Measure what was chosen."""
    args = arguments()
    cases, access, zstd = chosen(args.only), args.only in GROUP, args.only in ZSTD
    if args.list:
        names = [f"{case.group}: {case.name}" for case in cases]
        print("\n".join([*names, *[ZSTD] * zstd, *[GROUP] * access]))
        return
    if cases:
        on_a_corpus(args, cases)
    if zstd:
        rounds_of_zstd(corpus.first_crawl(args.corpus), runs=args.runs)
    if access:
        rounds_of_access(count=args.captures, runs=min(args.runs, ACCESS_RUNS))


def on_a_corpus(args: argparse.Namespace, cases: Sequence[Case]) -> None:
    """Build the corpus where it is missing, run the rounds, print the table."""
    folder = corpus.build(corpus.CORPORA[args.corpus])
    warcs = corpus.warcs(folder)
    records = sum(len(layout.load(warc)) // layout.FIELDS for warc in warcs)
    outcomes = [start(on_corpus(case, args.corpus)) for case in cases]
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="scratch-") as scratch:
        rounds = Rounds(warcs, Path(scratch), ALL)
        for number in range(1, args.runs + 1):
            for outcome in (outcome for outcome in outcomes if outcome.why_not is None):
                say(f"round {number} of {args.runs}: {outcome.case.name}")
                rounds.run(outcome)
    size = sum(warc.stat().st_size for warc in warcs)
    about = f"{folder.name}: {len(warcs)} files, {size / 1e6:.0f} MB, {records:,} records"
    about += f"; {args.runs} rounds, median (min–max)"
    print(f"{machine()}\ncommit {commit()}; {about}\n\n{table(outcomes, records)}")
    for name, why in pins.ABSENT:
        print(f"absent: {name}: {why}")
    cases_found = [as_json(outcome) for outcome in outcomes]
    found = {"machine": machine(), "commit": commit(), "corpus": about, "cases": cases_found}
    (cache_dir() / "results.json").write_text(json.dumps(found, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
