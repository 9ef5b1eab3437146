"""Rows alone, on a cluster that runs: does a capture cost more where there are more of them?

    python -m bench.rows FOLDER/conf/pinakes.toml [--captures N] [-j N]

Puts what landing would put of so many made-up captures, without archive files, and says after
each power of ten how many captures a second the last nine tenths of it took (their making
included, which is also timed alone), and how long answers take.  The tables are left there,
and named.  Quiet machines only; ten million captures take some 20 GB of disk.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from secrets import token_hex
from typing import Any

from bench.answers import say_answers, say_pages
from bench.captures import date, source_of, url
from bench.corpus import say
from bench.landing import Batch, Options, batches_of, configuration_of, options_of
from pinakes.catalog.presplits import KeySample
from pinakes.catalog.record_rows import row_key_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.ingest.overlapped import (
    PUTTING_THREADS,
    WAITING_CAPTURES,
    BackgroundWork,
    OverlappedRows,
)
from pinakes.profile import open_schema_admin, open_stores, schema_of
from pinakes.row_store.port import Put

FILE_CAPTURES = 10_000
FIRST = 100_000
SAMPLE = 20_000
REGIONS = 4


def name_of(file: int) -> str:
    return f"rows/{file:05d}.warc.gz"


def row(number: int, archive_file: str) -> SidecarRow:
    """The row of a made-up capture; of its body the digests are made up, too."""
    uri, when, ordinal = url(number), date(number), number % FILE_CAPTURES
    content = b"%d" % source_of(number)
    size = 500 + source_of(number) * 7919 % 3000
    return SidecarRow(
        ordinal=ordinal,
        row_key=row_key_of(uri, when, archive_file, ordinal),
        type="response",
        record_id=f"urn:x-bench:{number}",
        target_uri=uri,
        date=when,
        status=200,
        method=None,
        media_type="text/plain",
        offset=ordinal * 1100,
        length=1100,
        inner_offset=0,
        content_length=size + 80,
        payload_size=size,
        sha1=hashlib.sha1(content).digest(),
        sha256=hashlib.sha256(content).digest(),
        dechunked_sha1=None,
        dechunked_sha256=None,
        declared=None,
        verified_over=None,
        skip=None,
        findings=None,
        refers_uri=None,
        refers_date=None,
        refers_id=None,
        concurrent_to=None,
    )


def batches(files: Iterator[int]) -> Iterator[Batch]:
    """What landing these files would put."""
    for file in files:
        name = name_of(file)
        first = file * FILE_CAPTURES
        yield from batches_of((row(first + n, name) for n in range(FILE_CAPTURES)), name)


def put(options: Options, files: range, barrier: Barrier, answers: Any) -> None:
    """Make these rows, then make them again and put them; says how long each took."""
    with open_stores(configuration_of(options)) as stores:
        begin = time.perf_counter()
        made = sum(len(puts) for _, puts in batches(iter(files[:5])))
        making_s = (time.perf_counter() - begin) / min(5, len(files)) * len(files)
        assert made
        barrier.wait()
        begin = time.perf_counter()
        with BackgroundWork[tuple[str, list[Put]]](
            lambda batch: stores.rows.mutate(*batch),
            room=WAITING_CAPTURES,
            threads=PUTTING_THREADS,
        ) as behind:
            sink = OverlappedRows(behind)
            for table, puts in batches(iter(files)):
                sink.put(table, puts)
            sink.finish()
        answers.put((time.perf_counter() - begin, making_s))


def put_all(options: Options, files: range, jobs: int) -> tuple[float, float]:
    """Seconds that these files took, of the slowest process, and that making them takes."""
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(jobs), context.SimpleQueue()
    workers = [
        context.Process(target=put, args=(options, files[part::jobs], barrier, answers))
        for part in range(jobs)
    ]
    for worker in workers:
        worker.start()
    told = [answers.get() for _ in workers]
    for worker in workers:
        worker.join()
    return max(put_s for put_s, _ in told), max(making_s for _, making_s in told)


def sample(captures: int) -> list[SidecarRow]:
    """Rows spread over all of them."""
    step = max(1, captures // SAMPLE)
    numbers = range(0, captures, step)
    return [row(n, name_of(n // FILE_CAPTURES)) for n in numbers]


def make(options: Options, captures: int) -> None:
    """Tables, in regions by a sample."""
    keys = {"captures": KeySample(), "digests": KeySample()}
    for one in sample(captures):
        for table, puts in batches_of([one], "rows/x.warc.gz"):
            for found in puts:
                keys[table].add(found.row)
    splits = {table: sampled.split_keys(REGIONS) for table, sampled in keys.items()}
    configuration = configuration_of(options)
    with open_schema_admin(configuration, splits=splits) as admin:
        admin.apply(schema_of(configuration))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("configuration", type=Path)
    parser.add_argument("--captures", type=int, default=10_000_000)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    options = options_of(arguments.configuration, f"bench{token_hex(3)}")
    say(f"rows alone, -j {arguments.jobs}, {options['hbase_prefix']}")
    make(options, arguments.captures)
    done, upto = 0, FIRST
    while done < arguments.captures:
        files = range(done // FILE_CAPTURES, upto // FILE_CAPTURES)
        seconds, making_s = put_all(options, files, arguments.jobs)
        count = upto - done
        say(
            f"{done:,} to {upto:,} captures: {seconds:.1f} s, {count / seconds:,.0f} captures/s, "
            f"{1e6 * seconds / count:.0f} us a capture, {1e6 * making_s / count:.0f} of them to "
            "make it"
        )
        with open_stores(configuration_of(options)) as stores:
            say_answers(stores.rows, sample(upto))
        done, upto = upto, min(10 * upto, arguments.captures)
    with open_stores(configuration_of(options)) as stores:
        # Half the files there are; the others go on being seen.
        say_pages(stores.rows, [name_of(number) for number in range(0, done // FILE_CAPTURES, 2)])


if __name__ == "__main__":
    main()
