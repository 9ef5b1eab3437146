"""Encoding of present values in HBase.  Pure.

For HBase's check-and-put an empty value is the same as none: a put on condition that there is no
cell would overwrite an empty cell.  So no empty value is stored: in store-clock families an empty
value is 0x00, and a value that begins with 0x00 gets another 0x00 before it.  Our cells are JSON
(docs/storage.md), and stored unchanged.
"""

from __future__ import annotations

_MARK = b"\0"


def encode_present(value: bytes) -> bytes:
    """The value as it is stored: never empty."""
    return _MARK + value if not value or value.startswith(_MARK) else value


def decode_present(stored: bytes) -> bytes:
    """The value as it was given."""
    return stored[1:] if stored.startswith(_MARK) else stored
