"""Bits that flip, and what is still whole: by zlib and the library of Zstandard alone."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import zstandard
from archive_builders import frame, member

_MEMBER = b"\x1f\x8b\x08"
_START = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd")
_DICTIONARY = b"\x5d\x2a\x4d\x18"
_HEAD = re.compile(rb"WARC/1\.\d\r\n(.*?)\r\n\r\n", re.DOTALL)
_ADDRESS = (b"warc-target-uri", b"warc-date")
_REFERENCE = (b"warc-refers-to-target-uri", b"warc-refers-to-date")


FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("a.warc.gz", member),
    "zstd": ("a.warc.zst", frame),
    "zstd-without-checksum": ("a.warc.zst", partial(frame, checksum=False)),
    "plain": ("a.warc", bytes),
}
"""By how rot shows in them: the name of a file, and what makes of a record one in it."""


def flips(data: bytes, count: int, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The data with one bit flipped, at places spread over a part of it."""
    size = (len(data) if end is None else end) - start
    for number in range(count):
        yield flipped(data, start + size * number // count)


def flipped(data: bytes, at: int, seed: int = 0) -> bytes:
    """The data with one bit of the byte there flipped."""
    rotten = bytearray(data)
    rotten[at] ^= 1 << random.Random(at * 1000 + seed).randrange(8)
    return bytes(rotten)


def whole_contents(paths: Iterable[Path]) -> list[bytes]:
    """What members and frames hold that inflate to their end, those side by side together; of
    plain files all."""
    return [content for path in paths for content in _contents(path)]


def _contents(path: Path) -> Iterator[bytes]:
    data = path.read_bytes()
    if ".warc.gz" not in path.name and ".warc.zst" not in path.name:
        yield data
        return
    known = None
    if data.startswith(_DICTIONARY):
        known = zstandard.ZstdCompressionDict(data[8 : 8 + int.from_bytes(data[4:8], "little")])
    together, end = b"", 0
    for found in _START.finditer(data):
        if found.start() < end:
            continue
        is_gzip = found[0].startswith(_MEMBER)
        inflater = (
            zlib.decompressobj(31)
            if is_gzip
            else zstandard.ZstdDecompressor(dict_data=known).decompressobj()
        )
        try:
            content = inflater.decompress(data[found.start() :])
        except (zlib.error, zstandard.ZstdError):
            continue
        if not inflater.eof:
            continue
        if found.start() != end:
            yield together
            together = b""
        together += content
        end = len(data) - len(inflater.unused_data)
    yield together


def dangling_in(contents: Iterable[bytes]) -> set[tuple[bytes | None, ...]]:
    """URI and date that revisits refer to, and no full record has."""
    heads = [
        {
            name.strip().lower(): value.strip(b" <>")
            for line in head[1].split(b"\r\n")
            for name, _, value in [line.partition(b":")]
        }
        for content in contents
        for head in _HEAD.finditer(content)
    ]
    wanted, full = (
        {
            tuple(head.get(name) for name in names)
            for head in heads
            if (head.get(b"warc-type") == b"revisit") == is_revisit
        }
        for names, is_revisit in ((_REFERENCE, True), (_ADDRESS, False))
    )
    return wanted - full
