"""Archive files packed for maps: gigabytes a map and not a file, as a list of names each.

Pure.  A list is an input file of its own, so that each is one map's, whatever splits the
framework would make of longer ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

PACK_BYTES = 4 << 30
_PACK_FILES = 10_000


def pack_files(
    sizes: Iterable[tuple[str, int]], *, pack_bytes: int = PACK_BYTES
) -> Iterator[list[str]]:
    """Names with their sizes in bytes, in packs of about so many; order stays."""
    pack: list[str] = []
    room = pack_bytes
    for name, size in sizes:
        if pack and (size > room or len(pack) == _PACK_FILES):
            yield pack
            pack, room = [], pack_bytes
        pack.append(name)
        room -= size
    if pack:
        yield pack
