"""Builders of stores and of archive files are plain modules beside these tests."""

import sys
from pathlib import Path

for folder in (Path(__file__).parent, Path(__file__).parent.parent / "warc"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
