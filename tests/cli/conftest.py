"""Builders of stores and of archive files, and work for processes, are plain modules."""

import sys
from pathlib import Path

for name in ("catalog", "cli", "dedupe", "warc"):
    folder = str(Path(__file__).parent.parent / name)
    if folder not in sys.path:
        sys.path.append(folder)
