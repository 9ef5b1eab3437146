"""Readers and players by others, where `make tools` installed them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def _absent(what: str) -> None:
    pytest.skip(f"{what} is not installed: `make tools` does it")


@pytest.fixture(scope="session")
def peer_tools() -> Path:
    """The folder of the Python peers' commands (warcio, pywb, cdxj-indexer)."""
    from bench.peers import pins

    folder = pins.venv_tool("python").parent
    if not (folder / "wayback").is_file():
        _absent("pywb")
    return folder


@pytest.fixture(scope="session")
def jwarc() -> list[str]:
    """The command that runs jwarc."""
    from bench.peers import pins

    if shutil.which("java") is None:
        _absent("java")
    if not pins.jwarc_jar().is_file():
        _absent("jwarc")
    return ["java", "-jar", str(pins.jwarc_jar())]


@pytest.fixture(scope="session")
def plain_environment() -> dict[str, str]:
    """The environment without what would lead a client through a proxy."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
