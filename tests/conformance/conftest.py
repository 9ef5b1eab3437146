"""The builders are a plain module beside these tests; `check` runs the whole check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.append(HERE)

from pinakes.conformance.check import ConformanceCheck, ConformanceFinding  # noqa: E402
from pinakes.warc.source import open_source  # noqa: E402

Named = bytes | tuple[str, bytes]
Check = Callable[..., list[ConformanceFinding]]


def check_paths(*paths: Path) -> list[ConformanceFinding]:
    """Every finding about a set of files."""
    findings = []
    with ConformanceCheck() as check:
        for path in paths:
            with open_source(path) as source:
                findings += check.check_file(source)
        findings += check.check_references()
    return findings


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
