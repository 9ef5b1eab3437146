"""Builders of archive files and manifests are plain modules beside these and other tests."""

import sys
from pathlib import Path

for name in ("dedupe", "mr_jobs", "rewrite", "store", "warc"):
    sys.path.append(str(Path(__file__).parent.parent / name))
