"""Finished lines, passed through the remaining steps of a job."""

from __future__ import annotations

from hashlib import blake2b

from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.lines.bodies import line_text

SETTLED = b"="
"""The prefix of their keys."""

_SPREAD_BYTES = 2


def settled(line: ManifestLine) -> tuple[bytes, bytes]:
    """Such a line, with a key that spreads them over the reducers."""
    text = line_text(line)
    return SETTLED + blake2b(text, digest_size=_SPREAD_BYTES).hexdigest().encode(), text
