"""Archive files of many small captures, made up: for rates by the record, not by the byte.

    python -m bench.captures FOLDER CAPTURES

Bodies are words, half a kilobyte to three and a half, about a tenth of them seen before; each 500
URLs have a host.  The same numbers make the same bytes.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from bench.corpus import say

CAPTURES_A_FILE = 10_000
_REPEATED = 10
_BEGIN = datetime(2020, 1, 1, tzinfo=timezone.utc)
_WORDS = [f"{word}{number}" for word in ("codex", "volumen", "papyrus") for number in range(300)]
_TEXT = " ".join(random.Random(1).choices(_WORDS, k=200_000)).encode()
_SPREAD = 0x9E3779B97F4A7C15
"""Times a number, modulo 2**64: another number, as if by chance, and never the same one twice."""


def _scattered(number: int) -> int:
    return number * _SPREAD % (1 << 64) >> 20


def url(number: int) -> str:
    """Where a capture is from."""
    host = _scattered(number // 500 + 1)
    return f"http://site-{host:011x}.example.org/leaf/{number % 500}?n={number}"


def date(number: int) -> str:
    """When."""
    return (_BEGIN + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ")


def source_of(number: int) -> int:
    """The capture whose body it has: every tenth one that of another, up to 90 before it."""
    return number if number % _REPEATED else number - number % 100


def body(source: int) -> bytes:
    """What a capture holds, if it has a body of its own."""
    begin = _scattered(source + 1) % (len(_TEXT) - 4096)
    size = 500 + _scattered(source + 7) % 3000
    return b"%d " % source + _TEXT[begin : begin + size]


def capture(number: int, payload: bytes) -> bytes:
    """One response record, in a gzip member of its own."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(
        payload
    )
    header = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x-bench:{number}>\r\n"
        f"WARC-Date: {date(number)}\r\nWARC-Target-URI: {url(number)}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(head) + len(payload)}\r\n\r\n"
    ).encode()
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(header + head + payload + b"\r\n\r\n") + packer.flush()


def write_captures(folder: Path, captures: int) -> Iterator[Path]:
    """Files of so many captures; those that are there are taken as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, captures, CAPTURES_A_FILE):
        count = min(CAPTURES_A_FILE, captures - first)
        path = folder / f"{first // CAPTURES_A_FILE:05d}-{count}.warc.gz"
        if not path.exists():
            aside = path.with_suffix(".part")
            with aside.open("wb") as file:
                for number in range(first, first + count):
                    file.write(capture(number, body(source_of(number))))
            aside.rename(path)
        yield path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("captures", type=int)
    arguments = parser.parse_args()
    paths = list(write_captures(arguments.folder, arguments.captures))
    say(f"{len(paths)} files, {sum(path.stat().st_size for path in paths):,} bytes")


if __name__ == "__main__":
    main()
