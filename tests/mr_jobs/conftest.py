"""Builders of archive files are plain modules beside other tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "warc"))
