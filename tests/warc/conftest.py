"""Builders and invariants are plain modules beside these tests; tests/fuzz uses them too."""

import sys
from pathlib import Path

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.append(HERE)
