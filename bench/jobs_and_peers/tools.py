"""Which tools are compared, the programs that they come with, and which version is installed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from bench.cases import pinakes as run_pinakes
from bench.peers import pins


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A column of the table.  `programs`: each by its first word in a command."""

    name: str
    version: Callable[[], str | None]
    """What is installed; None where it is absent."""
    programs: Mapping[str, tuple[str, ...]]
    env: Mapping[str, str]


def python_tool(name: str, package: str, programs: tuple[str, ...], where: Path) -> Tool:
    """A tool from PyPI, in one of the peers' environments; `warcat` is a module."""

    def version() -> str | None:
        pattern = f"lib/python*/site-packages/{package}-*.dist-info"
        found = [path.name for path in where.glob(pattern)]
        return found[0].removesuffix(".dist-info").rpartition("-")[2] if found else None

    argv: dict[str, tuple[str, ...]] = {
        program: (str(where / "bin" / program),) for program in programs
    }
    if programs == ("warcat",):
        argv = {"warcat": (str(where / "bin" / "python"), "-m", "warcat")}
    return Tool(name=name, version=version, programs=argv, env={})


def _pinakes() -> Tool:
    step = run_pinakes()
    version = metadata.version("pinakes")
    programs = {"pinakes": step.argv}
    return Tool(name="Pinakes", version=lambda: version, programs=programs, env=dict(step.env))


def _jwarc() -> Tool:
    def version() -> str | None:
        there = pins.jwarc_jar().is_file() and shutil.which("java") is not None
        return pins.JWARC_VERSION if there else None

    argv = ("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-jar", str(pins.jwarc_jar()))
    return Tool(name="jwarc", version=version, programs={"jwarc": argv}, env={})


_VENV, _ARCHIVERS = pins.venv_tool("warcio").parents[1], pins.archivers()
_WARCTOOLS = ("arc2warc", "warc2warc", "warcdump", "warcextract", "warcfilter", "warcindex")

TOOLS = (
    _pinakes(),
    python_tool("warcio", "warcio", ("warcio",), _VENV),
    python_tool("FastWARC", "fastwarc", ("fastwarc",), _ARCHIVERS),
    _jwarc(),
    python_tool("pywb", "pywb", ("cdx-indexer", "wb-manager", "wayback"), _VENV),
    python_tool("cdxj-indexer", "cdxj_indexer", ("cdxj-indexer",), _VENV),
    python_tool("wacz", "wacz", ("wacz",), _ARCHIVERS),
    python_tool(
        "warctools",
        "warctools",
        (*_WARCTOOLS, "warclinks", "warcpayload", "warcvalid"),
        _ARCHIVERS,
    ),
    python_tool("warcat", "[Ww]arcat", ("warcat",), _ARCHIVERS),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
