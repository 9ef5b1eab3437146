"""What no source file does, whoever writes it."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# What stands in files is the same on every Python.
pytestmark = pytest.mark.slow

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


@pytest.fixture(scope="module")
def modules(repository: Path, tree: list[Path], sources: dict[str, Path]) -> dict[str, ast.Module]:
    """Everything that is packaged, and the servers for trying, parsed once for all rules."""
    beside = {
        f"local_cluster.{file.stem}": file
        for file in tree
        if file.parts[0] == "local_cluster" and file.suffix == ".py"
    }
    return {
        name: ast.parse((repository / file).read_text("utf-8"))
        for name, file in {**sources, **beside}.items()
    }


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


def test_only_config_reads_the_environment(modules: dict[str, ast.Module]) -> None:
    readers = {name for name, module in modules.items() if environment_reads(module)}
    assert readers == {"pinakes.config"}


def test_only_the_command_line_prints(modules: dict[str, ast.Module]) -> None:
    printers = {name for name, module in modules.items() if print_calls(module)}
    # Jobs are programs of their own, and mrjob's output is theirs.
    allowed = ("pinakes.cli.", "pinakes.mr_jobs.")
    assert [name for name in printers if not name.startswith(allowed)] == []


def namespace_readers(module: ast.Module) -> set[str]:
    """The outermost functions and classes that mention argparse's Namespace, as yet untyped."""
    return {
        getattr(top, "name", "the module")
        for top in module.body
        for node in ast.walk(top)
        if getattr(node, "attr", getattr(node, "id", None)) == "Namespace"
    }


@pytest.mark.parametrize(
    ("code", "readers"),
    [
        ("def run(arguments: argparse.Namespace): ...", {"run"}),
        ("class A:\n    def f(self, of: Namespace): ...", {"A"}),
        ("Act = Callable[[argparse.Namespace], int]", {"the module"}),
        ("def f(parser: argparse.ArgumentParser): ...", set()),
    ],
)
def test_the_rule_finds_readers_of_a_namespace(code: str, readers: set[str]) -> None:
    assert namespace_readers(ast.parse(code)) == readers


def test_verbs_make_typed_requests_of_their_arguments(modules: dict[str, ast.Module]) -> None:
    """Only `run` reads a Namespace, and functions `…_of` that make one typed value of it."""
    others = {
        f"{name}.{reader}"
        for name, module in modules.items()
        for reader in namespace_readers(module)
        if name.startswith(("pinakes.cli.verbs.", "pinakes.cli.frame."))
        and reader != "run"
        and not reader.endswith("_of")
    }
    assert others == set()


def test_nothing_imports_a_package_by_its_folder(modules: dict[str, ast.Module]) -> None:
    bare = []
    for name, module in modules.items():
        for node in ast.walk(module):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            tops = {imported.partition(".")[0] for imported in names}
            bare += [name] if tops & {"hbase_schema", "mr_jobs", "qa"} else []
    assert bare == []


def test_jobs_import_absolutely(modules: dict[str, ast.Module]) -> None:
    relative = [
        name
        for name, module in modules.items()
        if name.startswith("pinakes.mr_jobs")
        and any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(module))
    ]
    assert relative == []


def imported_names(module: ast.Module) -> set[str]:
    """The first part of the name of whatever is imported from elsewhere, at any depth."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"tomllib"}  # of 3.11


# Distributions whose module has another name.
MODULE_OF = {"google_re2": "re2", "opencv_python_headless": "cv2", "scikit_learn": "sklearn"}


def declared(repository: Path, *extras: str) -> set[str]:
    config = configparser.ConfigParser()
    config.read(repository / "setup.cfg")
    lists = [config["options"]["install_requires"]]
    lists += [config["options.extras_require"][extra] for extra in extras]
    lines = "\n".join(lists).split("\n")
    names = {re.split(r"[><=; ]", line.strip())[0].lower().replace("-", "_") for line in lines}
    return {MODULE_OF.get(name, name) for name in names}


def test_what_the_package_imports_is_declared(
    repository: Path, modules: dict[str, ast.Module]
) -> None:
    imported = {n for _, module in modules.items() for n in imported_names(module)}
    extras = ("jobs", "cluster", "spark", "study", "redis", "qa")
    assert imported - {"pinakes", "local_cluster"} - declared(repository, *extras) == set()


def test_what_tests_and_demo_import_is_declared(repository: Path, tree: list[Path]) -> None:
    own = {"pinakes", "bench", "demo", "local_cluster"} | {
        file.stem for file in tree if file.parts[0] == "tests"
    }
    imported = set()
    for file in tree:
        if file.suffix == ".py" and file.parts[0] in ("tests", "demo"):
            imported |= imported_names(ast.parse((repository / file).read_text("utf-8")))
    assert imported - own - declared(repository, "test", "jobs", "cluster", "spark", "qa") == set()


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
