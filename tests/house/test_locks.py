"""The locks hold what setup.cfg asks for, for every Python and extra, and fit together."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PIN = re.compile(r"(\S+)==(\S+)( ;.*)? \\$")
# All that setup.cfg uses of a requirement: `name>=1.2,<3; python_version < "3.11"`.
NEED = re.compile(r'([\w-]+)(?:>=([\d.]+))?(?:,<(\d+))?(?:; python_version (<|>=) "([\d.]+)")?\Z')


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def needs(lines: str, python: str) -> dict[str, tuple[str, str]]:
    """Name to least version and the one it stays below, of what is required on this Python."""
    found = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        match = NEED.match(line)
        assert match is not None, line
        name, least, below, sign, bound = match.groups()
        if sign is None or (numbers(python) < numbers(bound)) == (sign == "<"):
            found[name.lower()] = (least or "0", below or "99999")
    return found


def pins(lock: Path) -> dict[str, str]:
    return {m[1]: m[2] for m in map(PIN.match, lock.read_text().splitlines()) if m}


def lock_of(repository: Path, python: str, extra: str) -> Path:
    return repository / "requirements" / f"lock-{python}{extra and '-'}{extra}.txt"


def asked(repository: Path) -> Iterator[tuple[str, str]]:
    """Each lock's extra (none: the environment to work in), and the requirements that it holds."""
    config = configparser.ConfigParser()
    config.read(repository / "setup.cfg")
    base, extras = config["options"]["install_requires"], config["options.extras_require"]
    yield "", "\n".join([base, extras["test"], extras["dev"]])
    for extra in extras.keys() - {"test", "dev"}:
        yield extra, "\n".join([base, extras[extra]])


@pytest.mark.parametrize("python", VERSIONS)
def test_a_lock_holds_what_is_asked_for(repository: Path, python: str) -> None:
    for extra, lines in asked(repository):
        locked = pins(lock_of(repository, python, extra))
        wanted = needs(lines, python)
        assert wanted.keys() - locked.keys() == set(), (python, extra)
        for name, (least, below) in wanted.items():
            assert numbers(least) <= numbers(locked[name]) < numbers(below), (python, extra, name)


@pytest.mark.parametrize("python", VERSIONS)
def test_any_extras_fit_in_one_environment(repository: Path, python: str) -> None:
    together: dict[str, str] = {}
    for extra, _ in asked(repository):
        for name, version in pins(lock_of(repository, python, extra)).items():
            assert together.setdefault(name, version) == version, (python, extra, name)


def test_every_extra_can_be_installed(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text()
    extras = {extra for extra, _ in asked(repository) if extra}
    assert set(re.findall(r"dev-(\w+)", makefile)) == extras


def test_locks_name_neither_index_nor_folder(repository: Path) -> None:
    for lock in sorted((repository / "requirements").glob("lock-*.txt")):
        lines = lock.read_text().splitlines()
        assert [line for line in lines if "://" in line or line.startswith("-")] == [], lock
        pinned = [line for line in lines if re.match(r"[a-z0-9]", line, re.IGNORECASE)]
        assert pinned
        assert all(map(PIN.match, pinned)), lock
