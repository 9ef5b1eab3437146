"""The demo's crawls, and verbs on a store of any profile, whose acts are named by number."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from readers import visible_state
from scenes import write_crawl

from pinakes.acts.actor import Actor
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.hbase_schema.tables import declared_schema
from pinakes.profile import Stores, open_stores


def demo_crawls(folder: Path, repository: Path) -> tuple[Path, Path]:
    """The demo's two crawls."""
    files = []
    for number, name in ((1, "first"), (2, "second")):
        command = [sys.executable, "-m", "demo.crawl", str(number), str(folder / name)]
        subprocess.run(command, cwd=repository, check=True, capture_output=True)
        files.append(folder / name / f"library-{number}.warc.gz")
    return files[0], files[1]


@dataclass(frozen=True)
class Profile:
    """A profile's settings, and its verbs."""

    settings: dict[str, str]
    monkeypatch: pytest.MonkeyPatch

    def run(self, *argv: str) -> tuple[int, str]:
        """A verb's exit code and what it printed on standard output."""
        printed = io.StringIO()
        with self.monkeypatch.context() as patched, redirect_stdout(printed):
            for name, value in self.settings.items():
                patched.setenv(f"PINAKES_{name.upper()}", value)
            with redirect_stderr(io.StringIO()) as said:
                code = main([*argv, "--json"])
        assert code in (0, 1), said.getvalue()
        return code, printed.getvalue()

    def state(self) -> dict[str, object]:
        """Everything a reader can see in its store, without names of acts, times and tokens."""
        with self.stores as stores:
            return visible_state(stores.rows, stores.archive)

    @property
    def stores(self) -> Any:
        options: dict[str, object] = dict(self.settings)
        return open_stores(load_configuration(options=options, environment={}, folder=Path("/")))


def rows_of(stores: Stores) -> dict[str, list[object]]:
    """Every fact of every table, with its time; of the present what two stores share."""
    found: dict[str, list[object]] = {}
    for table in declared_schema().tables:
        facts = [family.name.encode() for family in table.families if family.act_time]
        if facts:
            found[table.name] = list(stores.rows.scan(table.name, columns=facts))
        found[f"{table.name} l"] = [row.key for row in stores.rows.scan(table.name)]
    return found


def files_of(stores: Stores) -> dict[str, bytes]:
    contents = {}
    for name, _ in stores.archive.list():
        with closing(stores.archive.open(name)) as file:
            contents[name] = file.read()
    return contents


def start_acts(monkeypatch: pytest.MonkeyPatch, start_ms: int) -> None:
    """From now on acts are named by their number, and dated by it.

    How often a clock is looked at depends on how long things take; how many acts there are
    does not.
    """
    acts: list[str] = []

    def new_act(self: Actor, verb: str) -> str:
        acts.append(f"{verb}-{len(acts)}")
        return acts[-1]

    monkeypatch.setattr(Actor, "new_act", new_act)
    monkeypatch.setattr(Actor, "now_ms", lambda self: start_ms + 1000 * len(acts))


Land = Callable[[str], Profile]


def landing(folder: Path, monkeypatch: pytest.MonkeyPatch, *, pages: int) -> Land:
    """Land two crawls in a store of this name; acts are named and dated alike in each."""
    for number in (1, 2):
        write_crawl(folder / f"c{number}", number, pages=pages, files=4)
    start_ms = time.time_ns() // 1_000_000

    def land(name: str) -> Profile:
        start_acts(monkeypatch, start_ms)
        profile = Profile({"store": str(folder / name)}, monkeypatch)
        profile.run("init")
        for crawl in ("c1", "c2"):
            profile.run("ingest", str(folder / crawl), "--crawl", crawl)
        return profile

    return land
