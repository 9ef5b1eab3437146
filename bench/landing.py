"""Landing on a cluster that runs, beside the same mutations replayed: what share is reached?

    python -m bench.landing FOLDER/conf/pinakes.toml [--captures N,N] [-j N] [--folder DIR]

For each number of captures, in tables and a folder of its own, which are left there and named:

- `replay`: what landing puts into `captures` and `digests`, made ready beforehand and put by as
  many processes as land, with as many threads each.  That is the ceiling: no parsing, no
  digests, no files;
- `land`: `pinakes ingest -j N`, from the start of the process to its end, and its share of it;
- answers, with everything there: a capture by its key, the timeline of a URL, and the lookup of
  1,000 digests in one call.

`--folder` has archive files to land in place of made-up ones.  Quiet machines only.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from multiprocessing.synchronize import Barrier
from pathlib import Path
from secrets import token_hex
from typing import Any

from bench.answers import say_answers
from bench.cache import cache_dir
from bench.captures import write_captures
from bench.corpus import say
from pinakes.catalog.presplits import sampled_splits
from pinakes.catalog.record_rows import capture_cells, digest_rows
from pinakes.catalog.requests import iter_rows
from pinakes.catalog.sidecar import SidecarRow
from pinakes.config import Configuration, load_configuration
from pinakes.ingest.overlapped import PUTTING_THREADS, OverlappedRows
from pinakes.profile import open_schema_admin, open_stores, schema_of
from pinakes.row_store.port import Put
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

COLLECTION = "default"
WINDOW_FILES = 4
"""Files whose mutations are in memory at a time, of each process."""

Options = dict[str, object]
Batch = tuple[str, list[Put]]


def options_of(file: Path, name: str) -> Options:
    """The settings of a store of this name on the cluster of this configuration."""
    values: Options = dict(load_configuration(file, environment={}).values())
    values["hbase_prefix"] = f"{name}:"
    values["hdfs"] = f"{str(values['hdfs']).rpartition('/')[0]}/{name}"
    return values


def configuration_of(options: Options) -> Configuration:
    return load_configuration(options=options, environment={}, folder=Path("/"))


def rows_of(path: Path, crawl: str) -> Iterator[SidecarRow]:
    """The rows of the captures in a file, as landing has them."""
    with open_source(path) as source:
        items = iter_records(source, digests=("sha1", "sha256"))
        records = (item for item in items if isinstance(item, Record))
        now = datetime.now(timezone.utc)
        for row in iter_rows(records, archive_file=f"{crawl}/{path.name}", landed=now):
            if row.row_key is not None:
                yield row


def batches_of(rows: Iterable[SidecarRow], archive_file: str) -> Iterator[Batch]:
    """What landing a file of these captures puts, in its batches."""
    captures: list[Put] = []
    digests: list[Put] = []
    for row in rows:
        assert row.row_key is not None
        captures.append(Put(row.row_key, capture_cells(row, archive_file), 1))
        digests += [Put(key, cells, 1) for key, cells in digest_rows(row, archive_file, COLLECTION)]
        if len(captures) == OverlappedRows.batch_rows:
            yield "captures", captures
            yield "digests", digests
            captures, digests = [], []
    yield "captures", captures
    yield "digests", digests


def sample(paths: Sequence[Path]) -> Iterator[SidecarRow]:
    """Some rows, spread over all files."""
    for path in paths[:: max(1, len(paths) // 20)]:
        found = list(rows_of(path, "bench"))
        yield from found[:: max(1, len(found) // 1000)]


def replay(options: Options, paths: Sequence[Path], barrier: Barrier, answers: Any) -> None:
    """Put what these files would; says how long each window took, and the puts of captures."""
    with (
        open_stores(configuration_of(options)) as stores,
        ThreadPoolExecutor(PUTTING_THREADS) as threads,
    ):
        for first in range(0, len(paths), WINDOW_FILES):
            window = paths[first : first + WINDOW_FILES]
            batches = [
                batch
                for path in window
                for batch in batches_of(rows_of(path, "replay"), f"replay/{path.name}")
            ]
            barrier.wait()
            begin = time.perf_counter()
            list(threads.map(lambda batch: stores.rows.mutate(*batch), batches))
            seconds = time.perf_counter() - begin
            answers.put((seconds, sum(len(p) for table, p in batches if table == "captures")))
            barrier.wait()


def replayed(options: Options, paths: Sequence[Path], jobs: int) -> tuple[float, int]:
    """Seconds that putting took, all windows together, and captures."""
    context = multiprocessing.get_context("spawn")
    parts = [list(paths[number::jobs]) for number in range(jobs)]
    windows = -(-len(parts[-1]) // WINDOW_FILES)
    parts = [part[: windows * WINDOW_FILES] for part in parts]  # as many windows in each
    barrier, answers = context.Barrier(jobs), context.SimpleQueue()
    workers = [
        context.Process(target=replay, args=(options, part, barrier, answers)) for part in parts
    ]
    for worker in workers:
        worker.start()
    seconds, captures = 0.0, 0
    for _ in range(windows):
        told = [answers.get() for _ in range(jobs)]
        seconds += max(one for one, _ in told)
        captures += sum(count for _, count in told)
    for worker in workers:
        worker.join()
    return seconds, captures


def make(options: Options, one: Path) -> None:
    """Tables with regions, as a new store would have them."""
    configuration = configuration_of(options)
    splits = sampled_splits([str(one)], collection=COLLECTION, regions=4)
    with open_schema_admin(configuration, splits=splits) as admin:
        admin.apply(schema_of(configuration))


def land(options: Options, folder: Path, jobs: int) -> tuple[float, int]:
    """Seconds of a whole `pinakes ingest`, and the captures that it landed."""
    given = {name: str(value) for name, value in options.items() if value is not None}
    settings = {f"PINAKES_{name.upper()}": value for name, value in given.items()}
    verb = ["ingest", str(folder), "--crawl", "bench", "--jobs", str(jobs)]
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pinakes.cli", "-q", "--json", *verb],
        check=True,
        capture_output=True,
        env={**os.environ, **settings},
    )
    seconds = time.perf_counter() - begin
    return seconds, sum(json.loads(line)["captures"] for line in done.stdout.splitlines())


def measure(file: Path, folder: Path, paths: Sequence[Path], jobs: int) -> None:
    size = sum(path.stat().st_size for path in paths)
    name = f"bench{token_hex(3)}"
    ceiling, store = options_of(file, f"{name}r"), options_of(file, f"{name}l")
    for options in (ceiling, store):
        make(options, paths[0])
    seconds, captures = replayed(ceiling, paths, jobs)
    say(f"{len(paths)} files, {size / 1e6:,.0f} MB, {captures:,} captures, -j {jobs}, {name}")
    say(f"  replay: {seconds:.1f} s, {captures / seconds:,.0f} captures/s")
    took, landed = land(store, folder, jobs)
    share = (landed / took) / (captures / seconds)
    say(
        f"  land: {took:.1f} s, {landed / took:,.0f} captures/s, {size / took / 1e6:.1f} MB/s; "
        f"{1e6 * took / landed:.0f} us a capture; {share:.0%} of the replay's rate"
    )
    with open_stores(configuration_of(store)) as stores:
        say_answers(stores.rows, list(sample(paths)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("configuration", type=Path)
    parser.add_argument("--captures", default="100000", help="how many; several with commas")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="land these archive files")
    arguments = parser.parse_args()
    if arguments.folder:
        paths = sorted(arguments.folder.glob("*.warc.gz"))
        measure(arguments.configuration, arguments.folder, paths, arguments.jobs)
        return
    for text in arguments.captures.split(","):
        folder = cache_dir() / f"captures-{int(text)}"
        paths = list(write_captures(folder, int(text)))
        measure(arguments.configuration, folder, paths, arguments.jobs)


if __name__ == "__main__":
    main()
