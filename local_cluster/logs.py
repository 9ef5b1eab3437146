"""The ends of the servers' logs."""

from __future__ import annotations

import os
from pathlib import Path

from local_cluster.layout import Layout

_MOST_BYTES = 1 << 20


def last_lines(layout: Layout, name: str, count: int) -> list[str]:
    """The last lines of a server's log and of its standard output; at most `count` of each.

    Reads one MiB at most.  Empty if it never ran.
    """
    lines = []
    for ending in ("log", "out"):
        lines += _tail(layout.logs / f"{name}.{ending}", count)
    return lines


def _tail(file: Path, count: int) -> list[str]:
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _MOST_BYTES))
            lines = stream.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return lines[-count:] if count > 0 else []
