"""Builders of archive files and manifests are plain modules beside these and other tests."""

import sys
from pathlib import Path

for name in (
    "catalog",
    "dedupe",
    "ingest",
    "mr_jobs",
    "peers",
    "rewrite",
    "row_store",
    "store",
    "warc",
):
    sys.path.append(str(Path(__file__).parent.parent / name))
# What `bench` makes up is decided on here, too.
sys.path.append(str(Path(__file__).parents[2]))
