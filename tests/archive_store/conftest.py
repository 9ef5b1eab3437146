"""The contracts and the server are plain modules beside these tests."""

import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.append(HERE)

pytest.register_assert_rewrite("archive_contract")
