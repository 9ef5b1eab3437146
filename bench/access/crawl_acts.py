"""Commit and purge of a crawl, beside the same in a Redis with the hashes of Browsertrix.

Two crawls of made-up pages; every other page of the second is one of the first, which `dedupe` has
made a revisit.  The first crawl is committed, then purged, and what refers to it made full again.
Redis merges its hash into `alldupes`; to purge it deletes that, and merges the other crawl's anew,
as Browsertrix's indexer does.  It has no files, and what refers to the crawl is left dangling.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.cache import cache_dir
from bench.captures import CAPTURES_A_FILE, body, capture
from bench.measure import spread
from bench.results import laid_out
from bench.rounds import say
from pinakes.acts.actor import Actor
from pinakes.config import Configuration, load_configuration
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import PROMOTE, PurgeRequest
from pinakes.ingest.commit import commit_crawl
from pinakes.profile import open_stores

from .lookups import GROUP, REDIS, RedisByLines, redis
from .servers import OURS

CAPTURES = 20_000
"""Of each crawl."""
HEAD = ("act", "of", "captures a second", "seconds")
_MERGED = b"alldupes"


def bodies(crawl: int) -> list[bytes]:
    """The bodies of a crawl, in the order of its captures."""
    first = [body(2 * CAPTURES + number) for number in range(CAPTURES)]
    if not crawl:
        return first
    return [first[n] if n % 2 else body(9 * CAPTURES + n) for n in range(CAPTURES)]


def _make(folder: Path) -> Configuration:
    """A store with both crawls, deduplicated."""
    run = [sys.executable, "-m", "pinakes.cli", "-q"]
    store = ["--store", str(folder / "store")]
    subprocess.run([*run, "init", *store], check=True, stdout=subprocess.DEVNULL)
    for crawl in (0, 1):
        files = folder / f"c{crawl}"
        files.mkdir(parents=True)
        records = [
            capture(crawl * CAPTURES + number, content)
            for number, content in enumerate(bodies(crawl))
        ]
        for at in range(0, CAPTURES, CAPTURES_A_FILE):
            path = files / f"{at}.warc.gz"
            path.write_bytes(b"".join(records[at : at + CAPTURES_A_FILE]))
        ingest = ["ingest", str(files), "--crawl", f"c{crawl}", *store]
        subprocess.run([*run, *ingest], check=True, stdout=subprocess.DEVNULL)
    dedupe = [*run, "dedupe", "--all", *store]
    subprocess.run(dedupe, check=True, stdout=subprocess.DEVNULL)
    return load_configuration(options={"store": folder / "store"}, environment={}, folder=folder)


def _ours(folder: Path) -> dict[str, float]:
    """Seconds of each act, in this process."""
    with open_stores(_make(folder)) as stores:
        purger = Purger(stores.rows, stores.archive, stores.runs_folder, Actor(), software="bench")
        return {
            "commit": _timed(lambda: commit_crawl(stores.rows, stores.archive, "c0", Actor())),
            "purge": _timed(lambda: purger.purge(PurgeRequest(crawl="c0", references=PROMOTE))),
        }


def _redis(folder: Path) -> dict[str, float]:
    with redis(folder) as (_, port):
        client = RedisByLines(port)
        keys = [[hashlib.sha256(one).hexdigest() for one in bodies(crawl)] for crawl in (0, 1)]

        def merge(crawl: int) -> None:
            name = b"c%d" % crawl
            client.pipeline((b"HSETNX", _MERGED, key.encode("ascii"), name) for key in keys[crawl])

        def purge() -> None:
            client.pipeline([(b"DEL", _MERGED), (b"DEL", b"h:c0")])
            merge(1)

        for crawl in (0, 1):
            client.pipeline(
                (b"HSET", b"h:c%d" % crawl, key.encode("ascii"), b"0 20200101000000 http://x/ 9")
                for key in keys[crawl]
            )
        merge(1)
        return {"commit": _timed(lambda: merge(0)), "purge": _timed(purge)}


def _timed(act: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    act()
    return time.perf_counter() - began_s


def run(*, runs: int) -> None:
    """Measure, and print one table."""
    say(f"{GROUP}: commit and purge of {CAPTURES:,} captures")
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="acts-") as scratch:
            for name, measure in ((OURS, _ours), (REDIS, _redis)):
                for act, seconds in measure(Path(scratch, name)).items():
                    found.setdefault((act, name), []).append(seconds)
    rows = []
    for (act, name), seconds in sorted(found.items()):
        rate = spread([CAPTURES / each for each in seconds])
        said = f"{rate.middle:,.0f} ({rate.least:,.0f}–{rate.most:,.0f})"
        rows.append((act, name, said, f"{median(seconds):.3f}"))
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    print(f"\ncommit and purge of a crawl of {CAPTURES:,} captures; {runs} rounds\n")
    print("\n".join(laid_out(line, widths) for line in (HEAD, rule, *rows)))
