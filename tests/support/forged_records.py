"""Records whose bodies differ under one size and checksum."""

from __future__ import annotations

import zlib
from pathlib import Path

from warc_sets import OTHER, PAGE, ArchiveFile, Rec, manifest_of, refer, write_set

from pinakes.index.manifest import ManifestLine

LATER = "2020-02-02T00:00:00Z"


def forged(data: bytes, like: bytes) -> bytes:
    """`data` with its last four bytes such that its CRC-32 is that of `like`."""
    table = []
    for number in range(256):
        value = number
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        table.append(value)
    by_top = {value >> 24: number for number, value in enumerate(table)}
    state = zlib.crc32(like) ^ 0xFFFFFFFF
    picked = []
    for _ in range(4):
        picked.append(by_top[state >> 24])
        state = (state ^ table[picked[-1]]) << 8 & 0xFFFFFFFF
    state = zlib.crc32(data[:-4]) ^ 0xFFFFFFFF
    patch = bytearray()
    for number in reversed(picked):
        patch.append((state ^ number) & 0xFF)
        state = state >> 8 ^ table[number]
    return data[:-4] + bytes(patch)


def forged_set(folder: Path) -> tuple[list[Path], list[ManifestLine]]:
    """Two bodies of one size and CRC-32, and a manifest that calls them equal."""
    records = [Rec(), Rec(uri="http://example.org/2", body=forged(OTHER, PAGE), date=LATER)]
    paths = write_set(folder, [ArchiveFile("a", records)])
    first, second = manifest_of(paths)
    return paths, [first._replace(copy_number=1), refer(second, first)]
