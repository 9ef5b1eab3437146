"""A verb that writes files, and the job that does the same."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from killing import tree

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit


def require_same(
    by_verb: Sequence[str], by_job: Sequence[str], to: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Both write the same files into `to`, with the same lines and warnings: these."""
    found = []
    for words in (by_verb, by_job):
        shutil.rmtree(to, ignore_errors=True)
        assert main(words) == Exit.SOME_FAILED
        told = capsys.readouterr()
        warnings = [line for line in told.err.splitlines() if "pinakes: warning: " in line]
        found.append((tree(to), sorted(told.out.splitlines()), sorted(warnings)))
    assert found[1] == found[0]
    return found[0]
