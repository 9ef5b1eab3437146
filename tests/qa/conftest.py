"""Builders of stores, scenes and archive files are plain modules beside other tests."""

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
for folder in ("qa", "catalog", "store", "warc", "dedupe", "ingest", "row_store"):
    if str(TESTS / folder) not in sys.path:
        sys.path.append(str(TESTS / folder))

from scene_fixtures import landed, scene  # noqa: E402, F401
