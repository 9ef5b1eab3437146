"""`pinakes dedupe -j N`: several processes rewrite files."""

from __future__ import annotations

import json
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
from pinakes.dedupe.run.batches import FileTask
from pinakes.dedupe.run.file_rewriting import FileRewriter
from pinakes.dedupe.run.rewriting_run import Committed

pytestmark = pytest.mark.slow
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")
Land = Callable[[str], Profile]


@pytest.fixture
def land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Land:
    """Two crawls in a store of this name; acts are named and dated alike in each."""
    for number in (1, 2):
        write_crawl(tmp_path / f"c{number}", number, pages=16, files=4)
    start_ms = time.time_ns() // 1_000_000

    def land(name: str) -> Profile:
        start_acts(monkeypatch, start_ms)
        profile = Profile({"store": str(tmp_path / name)}, monkeypatch)
        profile.run("init")
        for crawl in ("c1", "c2"):
            profile.run("ingest", str(tmp_path / crawl), "--crawl", crawl)
        return profile

    return land


def state(profile: Profile) -> dict[str, object]:
    with profile.stores as stores:
        return visible_state(stores.rows, stores.archive)


def test_what_several_rewrite_is_what_one_does(land: Land) -> None:
    alone = land("alone")
    assert alone.run(*DEDUPE)[0] == 0
    several = land("several")
    code, out = several.run(*DEDUPE, "-j", "2")
    assert (code, json.loads(out)["files_rewritten"]) == (0, 4)
    assert several.run("fsck", "--full")[0] == 0
    assert state(several) == state(alone)


def test_one_batch_after_the_other_where_there_is_little_room(land: Land) -> None:
    """Old generations are dropped between batches, when nothing is being written."""
    drop = ("--drop-old", "--grace", "0")
    alone = land("alone")
    all_four = json.loads(alone.run(*DEDUPE, *drop)[1].splitlines()[-1])["extra_bytes"]
    little = ("--max-extra-bytes", str(all_four * 3 // 4))
    stopped = land("stopped")
    report = json.loads(stopped.run(*DEDUPE, *little, "-j", "3")[1])
    assert (report["stopped"], report["files_rewritten"]) == (True, 2)
    several = land("several")
    code, out = several.run(*DEDUPE, *little, *drop, "-j", "3")
    assert code == 0
    told = [next(iter(json.loads(line))) for line in out.splitlines()]
    assert told == ["dropped"] * 4 + ["run"]
    assert several.run("fsck", "--full")[0] == 0
    assert state(several) == state(alone)


def test_one_that_rewrites_is_killed(
    land: Land,
    in_child: Callable[[Callable[[], object]], int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The run ends, and the same command goes on with it."""
    undisturbed = land("undisturbed")
    undisturbed.run(*DEDUPE)
    profile = land("store")
    rewrite = FileRewriter.rewrite
    died = tmp_path / "died"

    def die_at_the_second(self: FileRewriter, task: FileTask) -> Committed:
        committed = rewrite(self, task)
        with died.open("ab") as file:
            file.write(b".")
        if died.stat().st_size == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return committed

    with monkeypatch.context() as patched:
        patched.setattr(FileRewriter, "rewrite", die_at_the_second)
        patched.setenv("PINAKES_STORE", profile.settings["store"])
        # A process that ends: else it would still have the collection's lease.
        assert in_child(lambda: os._exit(main([*DEDUPE, "-j", "2"]))) == 4
    assert profile.run(*DEDUPE)[0] == 0
    assert profile.run("fsck", "--full")[0] == 0
    assert state(profile) == state(undisturbed)
