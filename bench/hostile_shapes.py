"""Whether what a file costs grows with its bytes, whatever its shape.

    python -m bench.hostile_shapes [--sizes 20000,60000,180000] [--only SHAPE]

Each shape is one file with that many of its odd pieces.  Prints CPU seconds by verb and size,
start-up taken off, and the power of its size by which the cost grew between the last two: 1 is
linear.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.cases import ROOT

_HEADER = (
    b"WARC/1.0\r\nWARC-Type: response\r\n"
    b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"
    b"WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Target-URI: http://example.org/%d\r\n"
    b"Content-Type: application/http; msgtype=response\r\n"
)
_HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


def record(number: int, *, more: bytes = b"", http: bytes = _HTTP, body: bytes = b"x") -> bytes:
    """A response; `more` are lines of its header."""
    block = http + b"\r\n" + body
    header = _HEADER % (number, number) + more + b"Content-Length: %d\r\n\r\n" % len(block)
    return header + block + b"\r\n\r\n"


def revisit_of_first() -> bytes:
    """A revisit that names its URI's digest, and no capture."""
    as_revisit = record(0).replace(b"Type: response", b"Type: revisit").replace(b"\r\n\r\nx", b"")
    digest = base64.b32encode(hashlib.sha1(b"x").digest())
    return as_revisit.replace(b"WARC-Date", b"WARC-Payload-Digest: sha1:%b\r\nWARC-Date" % digest)


def member(data: bytes) -> bytes:
    """One gzip member."""
    return gzip.compress(data, 1, mtime=0)


def between(piece: bytes) -> Callable[[int], bytes]:
    """So many of a piece, between two members."""
    return lambda n: member(record(0)) + piece * n + member(record(1))


def each(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """A piece for each of a tenth of the numbers: a record is larger than what is odd elsewhere."""
    return lambda n: b"".join(map(make, range(n // 10)))


SHAPES: Mapping[str, Callable[[int], bytes]] = {
    "folded lines": lambda n: member(record(0, more=b"X: a\r\n" + b" b\r\n" * n)),
    "many fields": lambda n: member(record(0, more=b"X: a\r\n" * n)),
    "folded lines of HTTP": lambda n: member(record(0, http=_HTTP + b" b\r\n" * n)),
    "chunks": lambda n: member(record(0, http=_CHUNKED, body=b"1\r\nx\r\n" * n + b"0\r\n\r\n")),
    "empty members": between(member(b"")),
    "a record over many members": lambda n: b"".join(
        member(record(0, body=b"x" * (n // 10))[at : at + 1]) for at in range(n // 10)
    ),
    "starts of members": between(b"\x1f\x8b\x08\0\0\0\0\0\0\3"),
    "stored within stored": between(b"\x1f\x8b\x08\0\0\0\0\0\0\3\0\xff\xff\0\0"),
    "version lines": lambda n: b"WARC/1.0\r\n" * n + record(1),
    "line ends": lambda n: record(0) + b"\r\n" * n + record(1),
    "members cut short": each(lambda number: member(record(number))[:-12]),
    "records cut short": each(lambda number: record(number)[:-40]),
    "lengths that lie": each(
        lambda number: record(number).replace(b"Content-Length: ", b"Content-Length: 9")
    ),
    "lengths to the end": each(
        lambda number: record(number).replace(b"Content-Length: ", b"Content-Length: 99999999")
    ),
    "all in one member": lambda n: member(each(record)(n)),
    "revisits of one URI": each(lambda number: member(record(0)) + member(revisit_of_first())),
}


def verbs(archive: str, out: Path) -> Iterator[tuple[str, list[str]]]:
    """What each verb is called with; one is given what those before it wrote."""
    manifest, decided, store = (str(out / name) for name in ("manifest", "decided", "store"))
    after = str(out / "after")
    yield "check", ["check", archive]
    yield "manifest", ["manifest", archive, "-o", manifest]
    yield "resolve", ["resolve", manifest, "--process", "-o", decided]
    yield "refs", ["refs", archive, "--manifest", decided, "-o", after, "--min-saving", "none"]
    yield "validate", ["validate", str(Path(archive).parent), after]
    yield "init", ["init", "--store", store]
    yield "ingest", ["ingest", "--store", store, "--crawl", "c", archive]
    yield "dedupe", ["dedupe", "--all", "--store", store]
    yield "fsck", ["fsck", "--full", "--store", store]


def cpu_seconds(arguments: list[str]) -> float:
    """Of `pinakes` with these arguments, whatever it says."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "pinakes.cli", "-q", *arguments],
        env=environment,
        capture_output=True,
        check=False,
    )
    after = os.times()
    spent = after.children_user + after.children_system
    return spent - before.children_user - before.children_system


def measure(shape: str, size: int) -> tuple[int, dict[str, float]]:
    """The file's bytes, and what each verb costs."""
    data = SHAPES[shape](size)
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "before" / ("a.warc.gz" if data.startswith(b"\x1f") else "a.warc")
        archive.parent.mkdir()
        archive.write_bytes(data)
        costs = {verb: cpu_seconds(call) for verb, call in verbs(str(archive), Path(name))}
    return len(data), costs


def main() -> None:
    """Measure and print a line for each shape and verb."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile_shapes", description=__doc__)
    parser.add_argument("--sizes", default="20000,60000,180000")
    parser.add_argument("--only", default="", help="only shapes whose name contains this")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    start = cpu_seconds(["--version"])
    print(f"{'shape':28} {'verb':9} {'MB':>6}  CPU s at {args.sizes}; grew by the power of")
    for shape in SHAPES:
        if args.only not in shape:
            continue
        found = [measure(shape, size) for size in sizes]
        for verb in found[0][1]:
            costs = [max(cost[verb] - start, 0.01) for _, cost in found]
            bytes_by = math.log(found[-1][0] / found[-2][0])
            power = math.log(costs[-1] / costs[-2]) / bytes_by
            told = "  ".join(f"{cost:7.2f}" for cost in costs)
            print(
                f"{shape:28} {verb:9} {found[-1][0] / 1e6:6.2f}  {told}  {power:5.2f}", flush=True
            )


if __name__ == "__main__":
    main()
