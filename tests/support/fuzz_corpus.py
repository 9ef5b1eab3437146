"""What the fuzzer starts from: generated records, and small files of the shared data.

Made anew in a folder of its own for each run; nothing of it is kept in the project.
"""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from archive_builders import (
    HTTP,
    arc_file,
    frame,
    frame_of_blocks,
    gzip_file,
    hinted_member,
    plain_file,
    skippable,
    stored_frame,
    three,
    warc,
    zstd_file,
)

ROOT = Path(__file__).resolve().parents[2]
LARGEST_BYTES = 8 << 10
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
DICTIONARY = """
"WARC/1.0\\x0d\\x0a"
"WARC/1.1\\x0d\\x0a"
"WARC-Type: response\\x0d\\x0a"
"Content-Length: "
"Content-Type: application/http\\x0d\\x0a"
"WARC-Target-URI: <http://a/>\\x0d\\x0a"
"Transfer-Encoding: chunked\\x0d\\x0a"
"HTTP/1.1 200 OK\\x0d\\x0a"
"\\x0d\\x0a\\x0d\\x0a"
"\\x0a\\x0a"
"\\x0d\\x0a "
"0\\x0d\\x0a\\x0d\\x0a"
"\\x1f\\x8b\\x08"
"BZh91AY&SY"
"\\x28\\xb5\\x2f\\xfd"
"\\x50\\x2a\\x4d\\x18"
"\\x5d\\x2a\\x4d\\x18"
"\\x37\\xa4\\x30\\xec"
"filedesc://a 0.0.0.0 20010101010101 text/plain 5\\x0a"
"http://a/ 1.1.1.1 20010101010101 text/html 5\\x0a"
"999999999999999999"
"""


def seeds(shared: Path | None) -> Iterator[bytes]:
    """Inputs of `fuzz_reader`: a byte that says how, and the bytes of a file."""
    from_lf = b"".join(three(line_end=b"\n"))
    made = [plain_file(), arc_file(), arc_file(version=2), warc(CHUNKED), from_lf]
    lying = [warc(HTTP, length=length) + warc(number=1) for length in (0, 400, "x", 10**17)]
    for data in [*made, *lying]:
        for how in (b"\0", b"\1", b"\2", b"\x2b", b"\x81", b"\x82", b"\x87"):
            yield how + data
    yield b"\0" + gzip_file()
    yield b"\0" + b"".join(map(hinted_member, three()))
    yield b"\0" + bz2.compress(plain_file())
    for known in (None, b""):
        yield b"\0" + zstd_file(known=known)
    yield b"\0" + zstd_file(compressed=True)
    # Without checksums, which no fuzzer gets past.
    yield b"\0" + b"".join(frame(record, checksum=False, size=False) for record in three())
    yield b"\0" + b"".join(stored_frame(record) + skippable(record) for record in three())
    yield b"\0" + b"".join(frame_of_blocks(record[:50], record[50:]) for record in three())
    for path in sorted((shared / "archives").rglob("*")) if shared else ():
        if path.is_file() and path.stat().st_size <= LARGEST_BYTES and _is_archive(path):
            data = path.read_bytes()
            yield b"\0" + data
            yield b"\2" + _inflated(data)[: 2 * LARGEST_BYTES]


def _is_archive(path: Path) -> bool:
    # A few KB of bzip2 may be a quarter of a gigabyte, and one is.
    known = {".warc", ".arc", ".wat", ".wet"}
    return path.suffix != ".bz2" and bool(known.intersection(path.suffixes))


def _inflated(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data


def write_corpus(folder: Path) -> int:
    """Write the seeds as files; their number."""
    shared = Path(os.environ.get("PINAKES_SHARED") or ROOT.parent / "shared" / "data")
    count = 0
    for count, seed in enumerate(seeds(shared if shared.is_dir() else None), 1):
        (folder / f"seed-{count:04}").write_bytes(seed)
    return count
