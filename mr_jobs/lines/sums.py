"""Checksum of a file in a task, with heartbeats while it is read."""

from __future__ import annotations

import hashlib

from pinakes.warc.source import Source


def sha256_of_source(source: Source) -> str:
    """The SHA-256 of all its bytes, in hex."""
    state = hashlib.sha256()
    for piece in source.pieces(0, source.size):
        state.update(piece)
    return state.hexdigest()
