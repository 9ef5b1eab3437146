"""A made-up collection for jobs: manifest lines, and archives of the captures that are read.

A tenth of the lines have a body in an archive, those of two and two are equal.  All others are
alone with their digest, so that nobody reads them, and have no archive.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bench.captures import CAPTURES_A_FILE, body, capture, date, url
from pinakes.index.manifest import ManifestLine, format_line

READ = 10
"""One line in so many has a body."""


def write_lines(count: int, manifest: Path, archives: Path, *, decided: bool = False) -> int:
    """Write so many lines, and the archives they are about; bytes of these.

    `decided`: as they are when they have been resolved and processed.
    """
    archives.mkdir(parents=True)
    with manifest.open("w") as file:
        for number in range(0, count, READ * CAPTURES_A_FILE):
            last = min(count, number + READ * CAPTURES_A_FILE)
            file.writelines(_lines(number, last, archives, decided=decided))
    return sum(path.stat().st_size for path in archives.iterdir())


def _lines(first: int, end: int, archives: Path, *, decided: bool) -> Iterator[str]:
    """The lines of one archive, and of those beside it that are not there."""
    path = archives / f"{first // READ // CAPTURES_A_FILE:06d}.warc.gz"
    alone = "0 1" if decided else "-"
    with path.open("wb") as file:
        original: ManifestLine | None = None
        for number in range(first, end):
            if number % READ:
                yield (
                    f"alone/{path.name} {number} 700 {url(number)} {date(number)} "
                    f"sha1:{number:032d} {alone} size=2000 status=200 id=urn:x-bench:{number}\n"
                )
                continue
            line = _written(number, path, file)
            if decided:
                line = _decided(line, original)
                original = line if original is None else None
            yield f"{format_line(line)}\n"


def _written(number: int, path: Path, file: BinaryIO) -> ManifestLine:
    payload = body(number - number % (2 * READ))
    sha1 = hashlib.sha1(payload, usedforsecurity=False).digest()
    offset = file.tell()
    return ManifestLine(
        file=str(path),
        offset=offset,
        length=file.write(capture(number, payload)),
        target_uri=url(number),
        date=date(number),
        digest=f"sha1:{base64.b32encode(sha1).decode()}",
        size=len(payload),
        status=200,
        record_id=f"urn:x-bench:{number}",
    )


def _decided(line: ManifestLine, original: ManifestLine | None) -> ManifestLine:
    if original is None:
        return line._replace(hash_extension=0, copy_number=1)
    return line._replace(
        hash_extension=0,
        copy_number=2,
        original_uri=original.target_uri,
        original_date=original.date,
        original_file=original.file,
        original_offset=original.offset,
        original_length=original.length,
    )
