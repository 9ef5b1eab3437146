"""Zstandard, level by level, beside the gzip that an archive has, with a dictionary and without.

    python -m bench.zstd [FILE…] [--corpus NAME] [--hold-out records|sites] [--levels 1-22]

Compresses records that the dictionary was not trained on: a quarter of the URLs, or of the sites.
FILE is a `.warc.gz` with a record in each member; without any, the first crawl of a corpus is taken
(the second has the same pages).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import corpus

from .held_out import GROUPINGS
from .rounds import LEVELS, SEED, TRAINED_FOR, run


def levels_of(text: str) -> list[int]:
    """`1-22` or `3,8,19`, as numbers."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.zstd", description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--corpus", choices=corpus.CORPORA, default=corpus.FULL.name)
    parser.add_argument("--hold-out", choices=GROUPINGS, default="records")
    parser.add_argument("--levels", type=levels_of, default=LEVELS, help="default 1-22")
    parser.add_argument("--runs", type=int, default=3, help="rounds of reading (default 3)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--trained-for", type=int, default=TRAINED_FOR, metavar="LEVEL",
        help=f"the level that the dictionary's size is chosen for (default {TRAINED_FOR})",
    )  # fmt: skip
    args = parser.parse_args()
    run(
        args.files or corpus.first_crawl(args.corpus),
        grouping=args.hold_out,
        levels=args.levels,
        runs=args.runs,
        seed=args.seed,
        trained_for=args.trained_for,
    )


if __name__ == "__main__":
    main()
