"""The hint where an extra is missing is a command that works where it is typed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.extras import describe_install, install_command

CLONE = Path("/a/clone of it")
OWN = CLONE / ".venv/bin/python3.11"
OTHER = Path("/venv/bin/python")
PIP = "/venv/bin/python -m pip install"


@pytest.mark.parametrize(
    ("tree", "origin", "python", "folder", "command"),
    [
        (CLONE, None, OWN, CLONE, "make dev-qa dev-jobs"),
        (CLONE, None, OWN, Path("/srv"), "make -C '/a/clone of it' dev-qa dev-jobs"),
        (CLONE, None, OTHER, CLONE, f"{PIP} -e '/a/clone of it[qa,jobs]'"),
        (None, "file:///a/clone", OTHER, CLONE, f"{PIP} 'pinakes[qa,jobs] @ file:///a/clone'"),
        (None, None, OTHER, CLONE, f"{PIP} 'pinakes[qa,jobs]'"),
    ],
    ids=["clone", "elsewhere", "another environment", "installed from a folder", "by its name"],
)
def test_install_command(
    tree: Path | None, origin: str | None, python: Path, folder: Path, command: str
) -> None:
    said = describe_install(("qa", "jobs"), tree=tree, origin=origin, python=python, folder=folder)
    assert said == command


def test_the_command_of_this_environment_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(install_command("qa"))
    dry = "-n" if words[0] == "make" else "--help"
    done = subprocess.run([*words, dry], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sys.executable == words[0] or "lock-$version-qa.txt" in done.stdout
