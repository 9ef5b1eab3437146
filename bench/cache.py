"""Where the bench keeps what it builds: outside the clone, shared by all clones."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `$PINAKES_BENCH_CACHE`, or `pinakes/bench` in the user's cache folder; create it."""
    named = os.environ.get("PINAKES_BENCH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(named) if named else Path(base) / "pinakes" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
