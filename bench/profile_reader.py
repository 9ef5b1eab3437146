"""Where the reader's time goes, on real files.

    python bench/profile_reader.py [--cprofile] [--repeat N] WARC ...

Prints CPU time a record for growing parts of the work, each in a pass of its own (the least
of N), beside the floor in one pass in this same process; `--cprofile` also prints
the functions that cost most.  cProfile makes small functions look dearer than they are: compare
with the passes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]

from isal import igzip_lib  # noqa: E402

from bench import floor, layout  # noqa: E402
from pinakes.warc.opening import open_source  # noqa: E402
from pinakes.warc.reader import iter_records  # noqa: E402
from pinakes.warc.record import Record  # noqa: E402


def records(warcs: list[Path]) -> Iterator[Record]:
    """Read every record; damaged stretches are left out."""
    for warc in warcs:
        with open_source(str(warc)) as source:
            yield from (item for item in iter_records(source) if isinstance(item, Record))


def inflate(warcs: list[Path]) -> None:
    """Inflate each member with isal, in pieces, finding its end."""
    for warc in warcs:
        data = memoryview(warc.read_bytes())
        at = 0
        while at < len(data):
            inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
            fed = at
            while not inflater.eof:
                piece = data[fed : fed + 16384]
                inflater.decompress(piece)
                fed += len(piece)
            at = fed - len(inflater.unused_data)


def read(warcs: list[Path]) -> None:
    """Read every record and look at nothing."""
    for _ in records(warcs):
        pass


def read_types(warcs: list[Path]) -> None:
    """Read every record's type, URI and date."""
    for record in records(warcs):
        _ = record.type, record.target_uri, record.date_text


def read_http(warcs: list[Path]) -> None:
    """Read, of responses, URI, date and HTTP status."""
    for record in records(warcs):
        if record.type == "response":
            _ = record.target_uri, record.date_text, record.http and record.http.status


def read_digests(warcs: list[Path]) -> None:
    """Read, of responses, URI, date, HTTP status and the payload's sha1."""
    for record in records(warcs):
        if record.type == "response":
            _ = record.target_uri, record.date_text, record.http and record.http.status
            record.payload_digest("sha1")


PASSES: dict[str, Callable[[list[Path]], object]] = {
    "the floor, one pass, offsets known": lambda warcs: floor.run(warcs, "sha1", 0),
    "the floor, in batches": lambda warcs: floor.run(warcs, "sha1", floor.BATCH_BYTES),
    "inflate, 16 KiB pieces, end found": inflate,
    "iter_records": read,
    "  + type, target_uri, date": read_types,
    "  responses: + target_uri, date, status": read_http,
    "  responses: + payload_digest(sha1)": read_digests,
}


def least_cpu(work: Callable[[list[Path]], object], warcs: list[Path], repeat: int) -> float:
    """Return the least CPU time of `repeat` passes."""
    times = []
    for _ in range(repeat):
        begun = time.process_time()
        work(warcs)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    """Run the passes over the files named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cprofile", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("warcs", nargs="+", type=Path, metavar="WARC")
    args = parser.parse_args()
    count = sum(len(layout.load(warc)) // layout.FIELDS for warc in args.warcs)
    least = {name: least_cpu(work, args.warcs, args.repeat) for name, work in PASSES.items()}
    base = least["the floor, in batches"]
    print(f"{count} records; CPU, least of {args.repeat}")
    for name, cpu in least.items():
        print(
            f"{cpu:8.3f} s  {cpu / count * 1e6:7.1f} us/record  {cpu / base:5.2f} x floor  {name}"
        )
    if args.cprofile:
        profile = cProfile.Profile()
        profile.runcall(read_digests, args.warcs)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
