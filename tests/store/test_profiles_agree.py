"""One chain on both profiles: the demo's crawls, and everything that comes of them, compared.

Acts are named and dated alike on both, since names and times of acts stand in what is written.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from shared_cluster import RunningCluster

from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.acts import Actor
from pinakes.profile import Stores, open_stores

DRAWN = "http://library.example.org/scroll/7.html"


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> tuple[Path, Path]:
    return demo_crawls(tmp_path_factory.mktemp("crawls"), repository)


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

    @property
    def stores(self) -> Any:
        options: dict[str, object] = dict(self.settings)
        return open_stores(load_configuration(options=options, environment={}, folder=Path("/")))


def chain(profile: Profile, first: Path, second: Path) -> list[tuple[int, str]]:
    """What the demo does with a store, and more: a crawl is removed, and landed again."""
    done = [
        profile.run("ingest", str(first), "--crawl", "first"),
        profile.run("ingest", str(second), "--crawl", "second"),
        profile.run("timeline", DRAWN),
        profile.run("crawl", "show", "second"),
        profile.run("dedupe", "--all", "--plan"),
        profile.run("dedupe", "--all"),
        profile.run("timeline", DRAWN),
        profile.run("lookup", DRAWN),
        profile.run("fsck"),
    ]
    capture = json.loads(done[2][1].splitlines()[-1])["capture"]
    done.append(profile.run("show", capture))
    done.append(profile.run("show", f"second/{second.name}:0"))
    done.append(profile.run("crawl", "commit", "second"))
    done.append(profile.run("crawl", "remove", "second"))
    done.append(profile.run("timeline", DRAWN))
    assert len(done[-1][1].splitlines()) == 1
    done.append(profile.run("ingest", str(second), "--crawl", "second"))
    done.append(profile.run("timeline", DRAWN))
    assert len(done[-1][1].splitlines()) == 2
    done.append(profile.run("dedupe", "--all"))
    done.append(profile.run("fsck"))
    return done


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


def test_the_chain_is_the_same_on_both_profiles(
    cluster: RunningCluster,
    crawls: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"agree{token_hex(4)}"
    profiles = {
        "embedded": {"profile": "embedded", "store": str(tmp_path / "embedded")},
        "cluster": {"store": str(tmp_path / "cluster"), **cluster.settings(name)},
    }
    said, rows, files, reports = {}, {}, {}, {}
    start_ms = time.time_ns() // 1_000_000  # captures from after their landing are not compared
    for kind, settings in profiles.items():
        start_acts(monkeypatch, start_ms)
        profile = Profile(settings, monkeypatch)
        assert profile.run("init")[0] == 0
        said[kind] = chain(profile, *crawls)
        with profile.stores as stores:
            rows[kind], files[kind] = rows_of(stores), files_of(stores)
            reports[kind] = [p.read_bytes() for p in stores.runs_folder.rglob("report.json")]
    for one, other in zip(said["embedded"], said["cluster"], strict=True):
        assert one == other
    assert files["embedded"].keys() == files["cluster"].keys()
    assert "second/g2/library-2.warc.gz" in files["cluster"]
    for file, content in files["embedded"].items():
        assert files["cluster"][file] == content, file
    for table, found in rows["embedded"].items():
        assert rows["cluster"][table] == found, table
    assert reports["embedded"] == reports["cluster"] != []
