"""What no source file does, whoever writes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

# Put together here, so that this file keeps its own rules.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|home|Users)/(?!USER\b|you\b)[\w.]|/tmp/team\b")
REGISTRY_HOSTS = re.compile(
    "|".join(["py" + r"pi\.org", "python" + r"hosted\.org", r"--(?:extra-)?" + "index-url[ =]"])
)


def text_files(repository: Path, tree: list[Path]) -> Iterator[tuple[Path, str]]:
    for file in tree:
        try:
            yield file, (repository / file).read_text("utf-8")
        except UnicodeDecodeError:
            continue


def module_trees(repository: Path, sources: dict[str, Path]) -> Iterator[tuple[str, ast.Module]]:
    for name, file in sources.items():
        yield name, ast.parse((repository / file).read_text("utf-8"))


def environment_reads(module: ast.Module) -> list[int]:
    found = []
    for node in ast.walk(module):
        of_os = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if of_os and node.value.id == "os" and re.match(r"environb?$|getenvb?$|putenv$", node.attr):
            found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            found += [node.lineno for name in node.names if re.match(r"environ|getenv", name.name)]
    return found


def print_calls(module: ast.Module) -> list[int]:
    calls = (node for node in ast.walk(module) if isinstance(node, ast.Call))
    return [n.lineno for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"]


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("import os\nos.environ['X']", 1),
        ("import os\nos.getenv('X')", 1),
        ("from os import environ", 1),
        ("import os\nos.path.join('a')", 0),
    ],
)
def test_the_rule_finds_reads_of_the_environment(code: str, count: int) -> None:
    assert len(environment_reads(ast.parse(code))) == count


def test_only_config_reads_the_environment(repository: Path, sources: dict[str, Path]) -> None:
    readers = {
        name for name, module in module_trees(repository, sources) if environment_reads(module)
    }
    assert readers == {"pinakes.config"}


def test_nobody_prints_but_the_command_line(repository: Path, sources: dict[str, Path]) -> None:
    printers = {name for name, module in module_trees(repository, sources) if print_calls(module)}
    # Jobs are programs of their own, and mrjob's output is theirs.
    allowed = ("pinakes.cli.", "pinakes.mr_jobs.")
    assert [name for name in printers if not name.startswith(allowed)] == []


def test_nothing_imports_a_package_by_its_folder(
    repository: Path, sources: dict[str, Path]
) -> None:
    bare = []
    for name, module in module_trees(repository, sources):
        for node in ast.walk(module):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            tops = {imported.partition(".")[0] for imported in names}
            bare += [name] if tops & {"hbase_schema", "mr_jobs", "qa"} else []
    assert bare == []


def test_jobs_import_absolutely(repository: Path, sources: dict[str, Path]) -> None:
    relative = [
        name
        for name, module in module_trees(repository, sources)
        if name.startswith("pinakes.mr_jobs")
        and any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(module))
    ]
    assert relative == []


@pytest.mark.parametrize("pattern", [MACHINE_PATHS, REGISTRY_HOSTS], ids=["paths", "registries"])
def test_no_file_names_a_machine(
    repository: Path, tree: list[Path], pattern: re.Pattern[str]
) -> None:
    found = []
    for file, text in text_files(repository, tree):
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line) and file != Path("tests/house/test_source_rules.py"):
                found.append(f"{file}:{number}: {line.strip()[:100]}")
    assert found == []


def test_locks_name_neither_index_nor_folder(repository: Path) -> None:
    for lock in sorted((repository / "requirements").glob("lock-*.txt")):
        lines = lock.read_text().splitlines()
        assert [line for line in lines if "://" in line or line.startswith("-")] == [], lock
        pinned = [line for line in lines if re.match(r"[a-z0-9]", line, re.IGNORECASE)]
        assert pinned
        assert all(re.match(r"\S+==\S+( ;.*)? \\$", line) for line in pinned), lock
