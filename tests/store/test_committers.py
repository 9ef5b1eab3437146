"""`pinakes dedupe --runner local -j N`: several processes commit what jobs have written."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from killing import in_child
from store_profiles import Land, landing

from pinakes.application import dedupe_workers
from pinakes.cli import main
from pinakes.dedupe.run.file_rewriting import commit_file

pytestmark = pytest.mark.large
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")


@pytest.fixture
def land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Land:
    return landing(tmp_path, monkeypatch, pages=24)


def test_several_committers_equal_one(land: Land) -> None:
    states = {}
    for name, words in {
        "inline": (),
        "three": ("--runner", "local", "-j", "3"),
    }.items():
        profile = land(name)
        assert profile.run(*DEDUPE, *words)[0] == 0
        assert profile.run("fsck", "--full")[0] == 0
        states[name] = profile.state()
    assert [entry[2] for entry in states["inline"]["files"]] == [1] * 4 + [2] * 4
    assert states["three"] == states["inline"]


def test_killed_committer_is_taken_over(
    land: Land,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The run ends, and the same command goes on with the same wave."""
    undisturbed = land("undisturbed")
    undisturbed.run(*DEDUPE)
    profile = land("store")
    died = tmp_path / "died"

    def die_at_the_third(*given: object) -> object:
        committed = commit_file(*given)  # type: ignore[arg-type]
        with died.open("ab") as file:
            file.write(b".")
        if died.stat().st_size == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return committed

    with monkeypatch.context() as patched:
        patched.setattr(dedupe_workers, "commit_file", die_at_the_third)
        patched.setenv("PINAKES_STORE", profile.settings["store"])
        # A process that ends: else it would still have the collection's lease.
        assert in_child(lambda: os._exit(main([*DEDUPE, "--runner", "local", "-j", "2"]))) == 4
    assert profile.run(*DEDUPE, "--runner", "local")[0] == 0
    assert profile.run("fsck", "--full")[0] == 0
    assert profile.state() == undisturbed.state()
