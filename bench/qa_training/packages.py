"""Sites that travel in packages: fetched once, by the package's own client, and unpacked.

    CACHE/NAME/...          what the package holds; links are followed in CACHE/shared, too

Nothing of a package is run: neither its scripts nor its installer.  Needs apt or npm.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinakes.errors import ConfigError, StoreUnavailable

SHARED = "shared"
_SHARED_PACKAGES = (
    "libjs-jquery",
    "libjs-jquery-ui",
    "libjs-sphinxdoc",
    "libjs-underscore",
    "libjs-bootstrap",
    "libjs-bootstrap4",
    "libjs-modernizr",
    "sphinx-rtd-theme-common",
    "fonts-font-awesome",
    "fonts-lato",
)
"""What documentation links to instead of having it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that holds a site; Debian's by `apt-get download`, npm's by `npm pack`."""

    name: str
    source: Literal["debian", "npm"]


def fetch_all(
    packages: Iterable[Package], cache: Path
) -> tuple[dict[str, Path], list[tuple[str, str]]]:
    """Folders by package, and those that could not be had, with the reason."""
    folders: dict[str, Path] = {}
    failed: list[tuple[str, str]] = []
    for name in _SHARED_PACKAGES:
        try:
            _fetch(Package(name=name, source="debian"), cache, cache / SHARED / name)
        except StoreUnavailable as error:
            failed.append((name, error.message))
    for package in packages:
        folder = cache / package.name.replace("/", "+")
        try:
            _fetch(package, cache, folder)
        except StoreUnavailable as error:
            failed.append((package.name, error.message))
        else:
            folders[package.name] = folder
    return folders, failed


def _fetch(package: Package, cache: Path, folder: Path) -> None:
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetching-") as scratch:
        aside, whole = Path(scratch), Path(scratch) / "whole"
        whole.mkdir()
        if package.source == "debian":
            _run(["apt-get", "download", "-q", package.name], aside)
            _run(["dpkg-deb", "-x", str(_only(aside, "*.deb")), str(whole)], aside)
        else:
            _run(["npm", "pack", "--silent", package.name], aside)
            with tarfile.open(_only(aside, "*.tgz")) as packed:
                packed.extractall(whole, filter="data")
        whole.rename(folder)


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise StoreUnavailable(f"{len(found)} files {pattern} came")
    return found[0]


def _run(command: list[str], folder: Path) -> None:
    if shutil.which(command[0]) is None:
        raise ConfigError(f"there is no {command[0]} on PATH: the sites are fetched with it")
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()[-2:]
        raise StoreUnavailable(f"{command[0]} could not: {' '.join(said)}"[:300])
