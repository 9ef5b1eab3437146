"""Places in archive files as bytes that sort like the places.

Hadoop sorts lines by their bytes, and its fields end at a tab; so do the simulated runners.
"""

from __future__ import annotations

from pinakes.index.manifest import ManifestLine

Pair = tuple[bytes, bytes]
"""Key and value of a line between tasks."""

SEPARATOR = b"\x01"
"""Between fields of a sorted value: below every byte that `sortable` returns."""

_LAST_ESCAPED = 0x0F
_ESCAPE = b"\x02"
_UNESCAPED = {bytes([0x20 + byte]): bytes([byte]) for byte in range(_LAST_ESCAPED + 1)}


def sortable(text: str) -> bytes:
    """The text in UTF-8, without tab, line end, or separator; keeps the order."""
    data = text.encode("utf-8", "surrogateescape")
    if data.isascii() and text.isprintable():
        return data
    return b"".join(
        _ESCAPE + bytes([0x20 + byte]) if byte <= _LAST_ESCAPED else bytes([byte]) for byte in data
    )


def from_sortable(data: bytes) -> str:
    """Undo `sortable`."""
    first, *others = data.split(_ESCAPE)
    whole = first + b"".join(_UNESCAPED[part[:1]] + part[1:] for part in others)
    return whole.decode("utf-8", "surrogateescape")


def sortable_place(line: ManifestLine) -> bytes:
    """File, offset and offset in the member of a line."""
    return SEPARATOR.join((sortable(line.file), b"%020d%020d" % (line.offset, line.inner_offset)))
