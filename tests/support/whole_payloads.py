"""Which payloads the files of a folder hold whole: by zlib and the library of Zstandard alone."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

import zstandard
from judge import frame_contents, pieces

_FULL = re.compile(rb"^WARC/\d\.\d\r\nWARC-Type: (response|resource)\r\n")
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")


def whole_payloads(folder: Path) -> set[str]:
    """The SHA-256 of the stored bodies of all full records, of all generations, below a folder."""
    return {found for path in sorted(folder.rglob("*.warc*")) for found in payloads_of(path)}


def payloads_of(path: Path) -> set[str]:
    """The same of one file; damaged members hold none, and sidecars neither."""
    if path.suffix == ".parquet" or not path.is_file():
        return set()
    return {
        hashlib.sha256(block.partition(b"\r\n\r\n")[2]).hexdigest()
        for record in _members(path.read_bytes())
        if _FULL.match(record)
        for head, _, rest in [record.partition(b"\r\n\r\n")]
        for length in [int(_LENGTH.search(head + b"\r\n")[1])]  # type: ignore[index]
        for block in [rest[:length]]
        if len(block) == length
    }


def _members(data: bytes) -> list[bytes]:
    if data[:4] in (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18"):
        found: list[bytes] = []
        with suppress(zstandard.ZstdError):  # what came before the damage counts
            found.extend(frame_contents(data))
        return found
    if data.startswith(b"WARC/"):
        return _plain_records(data)
    return [content for is_member, content in pieces(data) if is_member]


def _plain_records(data: bytes) -> list[bytes]:
    found = []
    while data.startswith(b"WARC/"):
        head = data.partition(b"\r\n\r\n")[0]
        length = _LENGTH.search(head + b"\r\n")
        size = len(head) + 4 + int(length[1]) if length else len(data)
        found.append(data[:size])
        data = data[size:].lstrip(b"\r\n")
    return found


def flip(path: Path, at: int, bit: int = 0) -> None:
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def swap(one: Path, other: Path) -> None:
    """Let two files change places."""
    aside = one.with_suffix(".aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
