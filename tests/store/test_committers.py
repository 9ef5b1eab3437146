"""`pinakes dedupe --runner local -j N`: several processes commit what jobs have written."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from readers import visible_state
from scenes import write_crawl
from store_profiles import Profile, start_acts

from pinakes.cli import main
from pinakes.dedupe.run.file_commit import Committed, FileCommitter
from pinakes.dedupe.run.tasks import FileOutcome

pytestmark = pytest.mark.large
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")


@pytest.fixture
def crawls(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "a", tmp_path / "b"]
    for number, folder in enumerate(folders, 1):
        write_crawl(folder, number, pages=24, files=4)
    return folders


@pytest.fixture
def in_store(
    tmp_path: Path, crawls: list[Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Profile]:
    """Both crawls in a store of this name; acts are named and dated alike in each."""
    start_ms = time.time_ns() // 1_000_000

    def land(name: str) -> Profile:
        start_acts(monkeypatch, start_ms)
        profile = Profile({"store": str(tmp_path / name)}, monkeypatch)
        profile.run("init")
        for folder in crawls:
            profile.run("ingest", str(folder), "--crawl", folder.name)
        return profile

    return land


def state(profile: Profile) -> dict[str, object]:
    with profile.stores as stores:
        return visible_state(stores.rows, stores.archive)


def test_what_several_commit_is_what_one_does(in_store: Callable[[str], Profile]) -> None:
    states = {}
    for name, words in {
        "inline": (),
        "three": ("--runner", "local", "-j", "3"),
    }.items():
        profile = in_store(name)
        assert profile.run(*DEDUPE, *words)[0] == 0
        assert profile.run("fsck", "--full")[0] == 0
        states[name] = state(profile)
    assert [entry[2] for entry in states["inline"]["files"]] == [1] * 4 + [2] * 4
    assert states["three"] == states["inline"]


def test_one_that_commits_is_killed(
    in_store: Callable[[str], Profile],
    in_child: Callable[[Callable[[], object]], int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The run ends, and the same command goes on with the same wave."""
    undisturbed = in_store("undisturbed")
    undisturbed.run(*DEDUPE)
    profile = in_store("store")
    commit = FileCommitter.commit
    died = tmp_path / "died"

    def die_at_the_third(self: FileCommitter, outcome: FileOutcome) -> Committed:
        committed = commit(self, outcome)
        with died.open("ab") as file:
            file.write(b".")
        if died.stat().st_size == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return committed

    with monkeypatch.context() as patched:
        patched.setattr(FileCommitter, "commit", die_at_the_third)
        patched.setenv("PINAKES_STORE", profile.settings["store"])
        # A process that ends: else it would still have the collection's lease.
        assert in_child(lambda: os._exit(main([*DEDUPE, "--runner", "local", "-j", "2"]))) == 4
    assert profile.run(*DEDUPE, "--runner", "local")[0] == 0
    assert profile.run("fsck", "--full")[0] == 0
    assert state(profile) == state(undisturbed)
