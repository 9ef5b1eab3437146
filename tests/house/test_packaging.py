"""The wheel and the sdist hold what the tree holds, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(
    repository: Path, tree: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """An sdist of a copy of the tree, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("packaging")
    copy, dist = folder / "tree", folder / "dist"
    for file in tree:
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / file, copy / file)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [sdist], [wheel] = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return sdist, wheel


def test_the_wheel_holds_every_module_and_one_top_level_name(
    built: tuple[Path, Path], sources: dict[str, Path]
) -> None:
    names = zipfile.ZipFile(built[1]).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"pinakes"}
    expected = {
        f"{name.replace('.', '/')}/__init__.py"
        if file.name == "__init__.py"
        else f"{name.replace('.', '/')}.py"
        for name, file in sources.items()
    }
    assert {name for name in names if name.endswith(".py")} == expected
    data = {
        "py.typed",
        "access/shared.css",
        "access/pages/base.html",
        "access/pages/pages.css",
        "access/pages/suggest.js",
        "mr_jobs/study/study.html",
        "mr_jobs/study/study.css",
    }
    assert {f"pinakes/{name}" for name in data} <= set(names)


def test_the_wheel_says_what_it_needs(built: tuple[Path, Path]) -> None:
    wheel = zipfile.ZipFile(built[1])
    [folder] = {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    metadata = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
    needs = metadata.get_all("Requires-Dist") or []
    base = {need.split(";")[0].split(">")[0].strip() for need in needs if "extra ==" not in need}
    assert base == {
        "brotli",
        "deflate",
        "google-re2",
        "httptools",
        "isal",
        "jinja2",
        "markupsafe",
        "prometheus-client",
        "pyarrow",
        "rich",
        "shtab",
        "tomli",
        "uvloop",
        "warcio",
        "werkzeug",
        "zstandard",
    }
    extras = set(metadata.get_all("Provides-Extra") or [])
    assert {"jobs", "cluster", "spark", "qa", "test", "dev"} <= extras
    assert "pinakes = pinakes.cli:main" in wheel.read(f"{folder}/entry_points.txt").decode()
    assert any(name.endswith("LICENSE") for name in wheel.namelist())


def test_the_wheel_works_as_a_zip(built: tuple[Path, Path], tmp_path: Path) -> None:
    code = "from pinakes.cli import main; import pinakes.mr_jobs, sys; sys.exit(main(['--help']))"
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(built[1])!r}); {code}",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: pinakes")


def test_cluster_of_a_wheel_says_where_it_is(built: tuple[Path, Path], tmp_path: Path) -> None:
    code = "from pinakes.cli import main; sys.exit(main(['cluster', 'up', '--folder', 'x']))"
    code = f"import sys; sys.path.insert(0, {str(built[1])!r}); {code}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "is in a clone of the source only" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_sdist_holds_what_a_build_needs(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"setup.cfg", "pyproject.toml", "LICENSE", "README.md"} <= names
    assert "mr_jobs/__init__.py" in names
    assert "platform/pinakes/__init__.py" in names
    assert not {name for name in names if name.startswith("platform/pinakes/hbase_schema")}
