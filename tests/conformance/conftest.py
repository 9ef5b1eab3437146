"""`check` runs the whole check."""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import Check, Named, check_paths

from pinakes.conformance.check import ConformanceFinding


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
