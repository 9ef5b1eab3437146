"""The tree as the house tests see it: tracked files, and those not ignored."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PACKAGE_FOLDERS = {
    "pinakes": "platform/pinakes",
    "pinakes.hbase_schema": "hbase_schema",
    "pinakes.mr_jobs": "mr_jobs",
    "pinakes.qa": "qa",
}


@pytest.fixture(scope="session")
def tree(repository: Path) -> list[Path]:
    """Every file of the project, relative; without git (an sdist) every file there is."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=repository, capture_output=True, check=True)
        names = [Path(name) for name in done.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(repository) for path in repository.rglob("*")]
    return sorted(name for name in names if (repository / name).is_file())


@pytest.fixture(scope="session")
def sources(tree: list[Path]) -> dict[str, Path]:
    """Module name to file, of everything that is packaged."""
    found = {}
    for file in tree:
        for package, folder in PACKAGE_FOLDERS.items():
            if file.suffix == ".py" and file.is_relative_to(folder):
                parts = file.relative_to(folder).with_suffix("").parts
                name = ".".join([package, *parts])
                found[name.removesuffix(".__init__")] = file
    return found
