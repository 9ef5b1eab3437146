"""Our CDX server beside OutbackCDX and pywb's warcserver, over the same drawn captures.

    python -m bench.access [--captures N] [--runs N] [--seconds N] [--only CASE]
    python -m bench.access --cluster FOLDER/conf/pinakes.toml [--captures N] …

Each round asks every server the same queries, one server after the other, eight connections at a
time; a request costs what the server's processes took of CPU meanwhile.  The ratio is ours over
theirs of the same round, then the median.  Latency is asked for with one connection.  The lines
and our store are kept in the cache folder.  With `--cluster`, ours alone, over a cluster that
runs: in tables of its own, which are left there and named.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .on_cluster import run_on_cluster
from .rounds import CAPTURES, run


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.access", description=__doc__)
    parser.add_argument("--captures", type=int, default=CAPTURES, help="how many (default 10**6)")
    parser.add_argument("--runs", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--seconds", type=int, default=5, help="of load a round (default 5)")
    parser.add_argument("--only", default="", help="only queries whose name contains this")
    parser.add_argument("--cluster", type=Path, help="the settings of a cluster that runs")
    parser.add_argument("--tables", default="", help="prefix, without ':', of an earlier run's")
    args = parser.parse_args()
    if args.cluster is not None:
        run_on_cluster(
            args.cluster,
            count=args.captures,
            runs=args.runs,
            seconds=args.seconds,
            only=args.only,
            tables=args.tables,
        )
        return
    run(count=args.captures, runs=args.runs, seconds=args.seconds, only=args.only)


if __name__ == "__main__":
    main()
