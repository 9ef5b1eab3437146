"""Where things lie: see CONTRIBUTING.md, "Layout"."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

FORBIDDEN_NAMES = {"util", "helper", "manager", "common", "misc", "data", "info", "handle"}


def test_platform_is_not_a_package(repository: Path) -> None:
    # With an __init__.py it would hide the standard library's platform from whatever runs here.
    assert not (repository / "platform" / "__init__.py").exists()
    assert not (repository / "tests" / "platform").exists()
    code = "import platform, uuid; print(platform.python_version())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ".".join(map(str, sys.version_info[:3]))


def test_test_folders_are_not_packages_and_test_files_have_unique_names(tree: list[Path]) -> None:
    tests = [file for file in tree if file.parts[0] == "tests" and file.suffix == ".py"]
    assert [file for file in tests if file.name == "__init__.py"] == []
    names = Counter(file.name for file in tests if file.name.startswith("test_"))
    assert [name for name, count in names.items() if count > 1] == []


def test_shared_test_modules_lie_in_one_folder_and_hide_no_module(tree: list[Path]) -> None:
    tests = [file for file in tree if file.parts[0] == "tests" and file.suffix == ".py"]
    shared = [f for f in tests if not f.name.startswith("test_") and f.name != "conftest.py"]
    assert {file.parent for file in shared} == {Path("tests/support")}
    # It comes first on the path.
    others = sys.stdlib_module_names | packages_distributions().keys()
    assert [file.name for file in shared if file.stem in others] == []


def test_every_package_is_listed_in_setup_cfg(repository: Path, sources: dict[str, Path]) -> None:
    config = configparser.ConfigParser()
    config.read(repository / "setup.cfg")
    listed = config["options"]["packages"].split()
    packages = {name for name, file in sources.items() if file.name == "__init__.py"}
    assert listed == sorted(listed)
    assert set(listed) == packages


def test_every_module_lies_in_a_package(sources: dict[str, Path]) -> None:
    packages = {name for name, file in sources.items() if file.name == "__init__.py"}
    lost = [
        name for name in sources if name != "pinakes" and name.rpartition(".")[0] not in packages
    ]
    assert lost == []


def test_every_module_says_what_it_is_for(repository: Path, sources: dict[str, Path]) -> None:
    silent = [
        name
        for name, file in sources.items()
        if not ast.get_docstring(ast.parse((repository / file).read_text("utf-8")))
    ]
    assert silent == []


def test_no_module_has_a_vague_name(sources: dict[str, Path]) -> None:
    vague = [
        name
        for name in sources
        if FORBIDDEN_NAMES & {re.sub(r"s\Z", "", word) for word in name.split(".")[-1].split("_")}
    ]
    assert vague == []


def test_links_for_mypy_and_editors_are_ignored_by_git(tree: list[Path]) -> None:
    for name in ("hbase_schema", "mr_jobs", "qa"):
        assert Path("platform/pinakes") / name not in tree
        assert [file for file in tree if file.is_relative_to(f"platform/pinakes/{name}")] == []


def test_the_layers_are_documented_as_they_are_checked(repository: Path) -> None:
    config = configparser.ConfigParser()
    config.read(repository / "setup.cfg")
    checked = config["importlinter:contract:layers"]["layers"].strip()
    page = (repository / "CONTRIBUTING.md").read_text("utf-8")
    assert re.sub(r"[()]|^#.*\n", "", checked, flags=re.MULTILINE) in page
