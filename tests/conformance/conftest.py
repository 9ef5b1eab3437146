"""The builders are a plain module beside these tests; `check` runs the whole check."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.append(HERE)

from checking import Check, Named, check_paths  # noqa: E402

from pinakes.conformance.check import ConformanceFinding  # noqa: E402


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Check files given as bytes, or as a name and bytes."""

    def run(*files: Named) -> list[ConformanceFinding]:
        paths = []
        for number, file in enumerate(files):
            suffix = ".warc.gz" if file[:1] == b"\x1f" else ".warc"
            name, data = file if isinstance(file, tuple) else (f"{number}{suffix}", file)
            paths.append(tmp_path / name)
            paths[-1].write_bytes(data)
        return check_paths(*paths)

    return run
