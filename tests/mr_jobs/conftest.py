"""Builders of archive files and manifests are plain modules beside other tests."""

import sys
from pathlib import Path

for name in ("dedupe", "rewrite", "warc"):
    sys.path.append(str(Path(__file__).parent.parent / name))
