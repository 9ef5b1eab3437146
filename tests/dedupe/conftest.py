"""Builders are plain modules beside these tests, and beside those of reader and attacker."""

import sys
from pathlib import Path

for name in ("dedupe", "warc", "attack"):
    folder = str(Path(__file__).parent.parent / name)
    if folder not in sys.path:
        sys.path.append(folder)
