"""Values of the present, as HBase holds them.  Pure.

For HBase's check-and-put an empty value is the same as none: asked to put where there is
nothing, it would put over an empty cell.  So none is stored: in store-clock families an
empty value is 0x00, and one that begins with 0x00 has another before it.  Cells of ours are
JSON (docs/storage.md), and lie there as they are.
"""

from __future__ import annotations

_MARK = b"\0"


def encode_present(value: bytes) -> bytes:
    """The value as it is stored: never empty."""
    return _MARK + value if not value or value.startswith(_MARK) else value


def decode_present(stored: bytes) -> bytes:
    """The value as it was given."""
    return stored[1:] if stored.startswith(_MARK) else stored
