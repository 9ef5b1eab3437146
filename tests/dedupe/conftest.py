"""Builders are plain modules beside these tests, and beside those of the reader."""

import sys
from pathlib import Path

for name in ("dedupe", "warc"):
    folder = str(Path(__file__).parent.parent / name)
    if folder not in sys.path:
        sys.path.append(folder)
