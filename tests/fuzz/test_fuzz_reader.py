"""Seconds of fuzzing in `make test`, minutes in `make test-large`; `make fuzz` takes longer."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REQUIRED = os.environ.get("PINAKES_REQUIRE_SHARED") == "1"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("atheris") is None and not REQUIRED, reason="NOT FUZZED: no atheris")
@pytest.mark.parametrize("seconds", [15, pytest.param(300, marks=pytest.mark.large)])
def test_the_reader_holds(repository: Path, tmp_path: Path, seconds: int) -> None:
    program = repository / "tests" / "support" / "fuzz_run.py"
    command = [sys.executable, str(program), f"--seconds={seconds}"]
    command.append(f"--findings={tmp_path / 'findings'}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 10)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert "stat::number_of_executed_units" in done.stderr
