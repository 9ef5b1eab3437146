"""A made-up collection for jobs: manifest lines, and archives of the captures that are read.

A tenth of the lines have a body in an archive, those of two and two are equal.  All others are
alone with their digest, so that nobody reads them, and have no archive.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

from bench.captures import CAPTURES_A_FILE, body, capture, date, url

READ = 10
"""One line in so many has a body."""


def write_lines(count: int, manifest: Path, archives: Path) -> int:
    """Write so many lines, and the archives they are about; bytes of these."""
    archives.mkdir(parents=True)
    with manifest.open("w") as file:
        for number in range(0, count, READ * CAPTURES_A_FILE):
            last = min(count, number + READ * CAPTURES_A_FILE)
            file.writelines(_lines(number, last, archives))
    return sum(path.stat().st_size for path in archives.iterdir())


def _lines(first: int, end: int, archives: Path) -> Iterator[str]:
    """The lines of one archive, and of those beside it that are not there."""
    path = archives / f"{first // READ // CAPTURES_A_FILE:06d}.warc.gz"
    with path.open("wb") as file:
        for number in range(first, end):
            if number % READ:
                name, offset, length, size = f"alone/{path.name}", number, 700, 2000
                digest = f"sha1:{number:032d}"
            else:
                payload = body(number - number % (2 * READ))
                name, offset, size = str(path), file.tell(), len(payload)
                length = file.write(capture(number, payload))
                sha1 = hashlib.sha1(payload, usedforsecurity=False).digest()
                digest = f"sha1:{base64.b32encode(sha1).decode()}"
            yield (
                f"{name} {offset} {length} {url(number)} {date(number)} {digest} -"
                f" size={size} status=200 id=urn:x-bench:{number}\n"
            )
