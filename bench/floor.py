"""The floor: what any tool must at least do.  Inflate with isal, then hash all payloads.

    python -m bench.floor [--digest sha1|sha256] [--one-pass] WARC ...

Members and payloads lie where bench.layout says: nothing is parsed or searched.  CRCs are
verified.  A batch of some 4 MiB is inflated, then its payloads are hashed; `--one-pass` hashes
each as soon as it is inflated, while the cache has it, and comes out some 10% lower.
"""

from __future__ import annotations

import argparse
import hashlib
import mmap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from isal import igzip_lib

from bench import layout

# Inflating everything (1.8 s) and hashing it all from memory (1.2 s) cost 3.0 s apart on the full
# corpus; batches of 4 MiB cost 2.95 s together, one payload at a time 2.65 s, 8 MiB and more 3.25 s
# (fresh pages each time, which is no part of the work).
BATCH_BYTES = 4 << 20
Payload = tuple[bytes, int, int]


def inflated(warc: Path) -> Iterator[Payload]:
    """Yield the inflated bytes of each member, with start and end of the payload in them."""
    numbers = iter(layout.load(warc))
    gzip = igzip_lib.DECOMP_GZIP
    with warc.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        while row := tuple(islice(numbers, layout.FIELDS)):
            offset, length, size, start, end = row
            member = data[offset : offset + length]
            # One byte of room more than needed: with none, isal makes its buffer twice as large.
            yield igzip_lib.decompress(member, flag=gzip, bufsize=size + 1), start, end


def batches(payloads: Iterator[Payload], most: int) -> Iterator[list[Payload]]:
    """Gather payloads into lists of more than `most` bytes (0: of one each)."""
    batch, held = [], 0
    for payload in payloads:
        batch.append(payload)
        held += len(payload[0])
        if held > most:
            yield batch
            batch, held = [], 0
    yield batch


def run(warcs: list[Path], digest: str, batch_bytes: int) -> tuple[int, int]:
    """Inflate and hash everything; return the number of payloads and their bytes."""
    make = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}[digest]
    count = total = 0
    for warc in warcs:
        for batch in batches(inflated(warc), batch_bytes):
            for member, start, end in batch:
                if end:
                    make(memoryview(member)[start:end]).digest()
                    count += 1
                    total += end - start
    return count, total


def main() -> None:
    """Run the floor over the files named and print what it hashed."""
    parser = argparse.ArgumentParser(prog="python -m bench.floor", description=__doc__)
    parser.add_argument("--digest", default="sha1", choices=("sha1", "sha256"))
    parser.add_argument("--one-pass", action="store_true")
    parser.add_argument("warcs", nargs="+", type=Path, metavar="WARC")
    args = parser.parse_args()
    count, total = run(args.warcs, args.digest, 0 if args.one_pass else BATCH_BYTES)
    print(f"{count} payloads, {total} bytes")


if __name__ == "__main__":
    main()
