"""What contrib/ ships: systemd takes the units, and their commands are calls of `pinakes`."""

from __future__ import annotations

import configparser
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pinakes.cli.command import build_parser

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
