"""The attacker, its judge and the chain are plain modules beside these tests."""

import sys
from pathlib import Path

folder = str(Path(__file__).parent)
if folder not in sys.path:
    sys.path.append(folder)
