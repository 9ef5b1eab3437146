"""Builders of stores and of archive files are plain modules beside this and other tests."""

import sys
from pathlib import Path

for name in ("catalog", "ingest", "row_store", "warc"):
    folder = str(Path(__file__).parent.parent / name)
    if folder not in sys.path:
        sys.path.append(folder)
