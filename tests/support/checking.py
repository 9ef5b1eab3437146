"""Runs the whole check over a set of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pinakes.conformance.check import ConformanceCheck, ConformanceFinding
from pinakes.warc.opening import open_source

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
