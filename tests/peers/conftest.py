"""Readers and players by others, where `make tools` installed them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from wayback_server import installed_tools


def _absent(what: str) -> None:
    pytest.skip(f"{what} is not installed: `make tools` does it")


@pytest.fixture(scope="session")
def peer_tools() -> Path:
    """The folder of the Python peers' commands (warcio, pywb, cdxj-indexer)."""
    return installed_tools()


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
def jwarc_with_zstd(jwarc: list[str]) -> list[str]:
    """The same with zstd-jni: `java -jar` takes no further jar."""
    from bench.peers import pins

    if not pins.zstd_jni_jar().is_file():
        _absent("zstd-jni")
    jars = os.pathsep.join((jwarc[-1], str(pins.zstd_jni_jar())))
    return [jwarc[0], "-cp", jars, "org.netpreserve.jwarc.tools.WarcTool"]
