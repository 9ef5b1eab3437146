"""Skips are loud; what `make test` leaves out, and divides among Pythons, is run somewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

pytestmark = pytest.mark.slow


def run_pytest(
    repository: Path,
    folder: Path,
    *options: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    """The tests in a folder, by this project's settings; with no plugin that is not asked for."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]
    config = ["-c", str(repository / "setup.cfg"), "--rootdir", str(folder)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}
    return subprocess.run([*command, *config], env={**clean, **own}, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("environment", "options", "code", "words"),
    [
        ({}, [], 0, "1 tests skipped for want of ../shared/data"),
        ({"PINAKES_REQUIRE_SHARED": "1"}, [], 1, "PINAKES_REQUIRE_SHARED=1, and there is no"),
        ({}, ["--no-skips"], 1, "1 skipped, and --no-skips was given"),
        ({}, ["-k", "not shared", "--no-skips"], 0, "1 passed"),
    ],
    ids=["skipped", "required", "no-skips", "nothing-skipped"],
)
def test_skipped_tests_are_counted_in_the_summary(
    repository: Path,
    tmp_path: Path,
    environment: dict[str, str],
    options: list[str],
    code: int,
    words: str,
) -> None:
    shutil.copy(repository / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_one.py").write_text(
        "import pytest\n"
        "def test_shared(shared_data): pass\n"
        "def test_own(): pass\n"
        "@pytest.mark.large\n"
        "def test_long(): assert False\n"
    )
    without = {"PINAKES_REQUIRE_SHARED": "", "PINAKES_SHARED": "/nowhere"}
    done = run_pytest(repository, tmp_path, *options, environment={**without, **environment})
    assert words in done.stdout
    assert done.returncode == code, done.stdout


def test_two_halves_are_the_whole_and_a_part_is_run_by_name(
    repository: Path, tmp_path: Path
) -> None:
    shutil.copy(repository / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_one.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('number', range(40))\n"
        "def test_fast(number): pass\n"
        "@pytest.mark.faults\n"
        "def test_a_part(): pass\n"
    )

    def names(*options: str) -> set[str]:
        done = run_pytest(repository, tmp_path, "-q", "--collect-only", *options)
        return {line for line in done.stdout.splitlines() if "::" in line}

    whole, one, other = names(), names("--half", "0"), names("--half", "1")
    assert len(whole) == 40
    assert (one | other, one & other) == (whole, set())
    assert 10 < len(one) < 30
    [part] = names("-m", "faults")
    assert part.endswith("::test_a_part")
