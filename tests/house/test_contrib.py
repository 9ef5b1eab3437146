"""What contrib/ ships: systemd takes the units, the image can be made, and both call `pinakes`."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pinakes.cli.command import build_parser
from pinakes.config import load_configuration

PROGRAM = "/opt/pinakes/bin/pinakes"
EXPANDED = {"%i": "news-2026", "$$(date +%%F)": "2026-01-01"}


@pytest.fixture(scope="module")
def units(repository: Path) -> dict[str, str]:
    """Each unit's text, by the name of an instance."""
    folder = repository / "contrib" / "systemd"
    return {
        file.name.replace("@.", "@news-2026."): file.read_text("utf-8")
        for file in sorted(folder.iterdir())
    }


def setting(unit: str, section: str, name: str) -> str:
    parser = configparser.ConfigParser(interpolation=None, strict=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(unit)
    return parser.get(section, name)


def test_systemd_takes_the_units(units: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("for want of systemd-analyze")
    for name, unit in units.items():
        # It looks for the program, which is not installed here, and for the manual.
        (tmp_path / name).write_text(unit.replace(PROGRAM, "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_their_commands_are_calls(units: dict[str, str]) -> None:
    called = []
    for unit in (unit for name, unit in units.items() if name.endswith(".service")):
        command = setting(unit, "Service", "ExecStart")
        for written, expanded in EXPANDED.items():
            command = command.replace(written, expanded)
        words = shlex.split(command.removeprefix("/bin/sh -c ").strip("'").removeprefix("exec "))
        assert words[0] == PROGRAM
        called.append(build_parser().parse_args(words[1:]).verb)
    assert sorted(called) == ["backup", "fsck", "ingest", "serve"]


def test_a_stopped_unit_has_not_failed_and_a_timer_has_a_service(units: dict[str, str]) -> None:
    for name, unit in units.items():
        if name.endswith(".timer"):
            assert name.replace(".timer", ".service") in units
        else:
            assert setting(unit, "Service", "SuccessExitStatus") == "5"
            assert setting(unit, "Service", "ProtectSystem") == "strict"


def instructions(repository: Path) -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile, and what stands behind it."""
    text = (repository / "contrib" / "docker" / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [
        (name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line)
    ]


def build_stage(repository: Path) -> list[tuple[str, str]]:
    """What stands between the first FROM and the second."""
    found = instructions(repository)
    last = [n for n, (name, _) in enumerate(found) if name == "FROM"][1]
    return found[1:last]


def test_the_image_copies_what_is_there_and_not_ignored(repository: Path, tree: list[Path]) -> None:
    ignored = repository / "contrib" / "docker" / "Dockerfile.dockerignore"
    kept = [line[1:] for line in ignored.read_text().splitlines() if line.startswith("!")]
    copies = [shlex.split(rest)[:-1] for name, rest in build_stage(repository) if name == "COPY"]
    assert {source.partition("/")[0] for sources in copies for source in sources} == set(kept)
    for sources in copies:
        for source in sources:
            assert any(file.is_relative_to(source) for file in tree), source


def packages_of_here(folder: Path) -> dict[str, str]:
    """Variables by which pip finds what is installed here, but for Pinakes and what builds it."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(r"_*(editable|pinakes|pip|pkg_resources|setuptools|wheel)", path.name):
            (folder / path.name).symlink_to(path)
    return {"PYTHONPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_bare", [False, pytest.param(True, marks=pytest.mark.large)], ids=["linked", "bare"]
)
def test_the_commands_of_the_image_install_pinakes(
    repository: Path, tree: list[Path], tmp_path: Path, is_bare: bool
) -> None:
    """Its first stage, in a folder, with the Python that the image has.

    What the locks name is installed again for `make test-large` alone: it is half a gigabyte.
    """
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the image has Python 3.11")
    source, installed = tmp_path / "src", tmp_path / "installed"
    here = {} if is_bare else packages_of_here(tmp_path / "here")
    for name, rest in build_stage(repository):
        if name == "COPY":
            *sources, _ = shlex.split(rest)
            for file in (f for f in tree if any(f.is_relative_to(s) for s in sources)):
                (source / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(repository / file, source / file)
        elif name == "RUN":
            command = rest.replace("/opt/pinakes", str(installed)).replace("--no-cache-dir ", "")
            command = re.sub(r"^python ", f"{sys.executable} ", command)
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=source,
                env={**os.environ, **here},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("pinakes ")


def test_the_image_and_compose_call_pinakes_as_it_is(repository: Path) -> None:
    compose = (repository / "contrib" / "docker" / "compose.yaml").read_text("utf-8")
    found = dict(instructions(repository))
    assert found["ENTRYPOINT"] == '["pinakes"]'
    assert found["USER"] == "pinakes"
    calls = re.findall(r"^    command: (.*)", compose, re.MULTILINE)
    verbs = [build_parser().parse_args(json.loads(call)).verb for call in [found["CMD"], *calls]]
    assert verbs == ["serve", "init", "serve"]
    settings = dict(pair.split("=", 1) for pair in shlex.split(found["ENV"]))
    named = {name: value for name, value in settings.items() if name.startswith("PINAKES_")}
    assert load_configuration(environment=named).store == Path(settings["PINAKES_STORE"])
    assert settings["PINAKES_STORE"].startswith(f"{found['VOLUME']}/")
    assert f"- store:{found['VOLUME']}\n" in compose
    [dockerfile] = re.findall(r"dockerfile: (.*)", compose)
    assert (repository / dockerfile).is_file()
