"""`pinakes dedupe -j N`: several processes compare payloads and rewrite files."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from killing import in_child
from store_profiles import Land, landing

from pinakes.application import dedupe_workers
from pinakes.cli import main
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide import contents
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.contents import compare_batch
from pinakes.dedupe.run.file_rewriting import FileRewriter
from pinakes.warc.file_progress import Advance

pytestmark = pytest.mark.slow
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")


@pytest.fixture
def land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Land:
    return landing(tmp_path, monkeypatch, pages=16)


def test_several_rewriters_equal_one(land: Land) -> None:
    alone = land("alone")
    assert alone.run(*DEDUPE)[0] == 0
    several = land("several")
    code, out = several.run(*DEDUPE, "-j", "2")
    assert (code, json.loads(out)["files_rewritten"]) == (0, 4)
    assert several.run("fsck", "--full")[0] == 0
    assert several.state() == alone.state()


def test_each_process_keeps_what_it_has_inflated(
    land: Land, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Records that share a member are inflated once, however many batches they are in."""
    begin = ArchiveBodies.__init__
    begun, batches = tmp_path / "begun", tmp_path / "batches"

    def note_beginning(self: ArchiveBodies, files: ArchiveFiles, *advance: Advance) -> None:
        begin(self, files, *advance)
        with begun.open("ab") as file:
            file.write(b".")

    def note_batch(*given: object) -> object:
        with batches.open("ab") as file:
            file.write(b".")
        return compare_batch(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(contents, "_MOST_AT_ONCE", 3)
    monkeypatch.setattr(dedupe_workers, "compare_batch", note_batch)
    monkeypatch.setattr(ArchiveBodies, "__init__", note_beginning)
    assert land("store").run(*DEDUPE, "-j", "2")[0] == 0
    assert batches.stat().st_size > 4
    assert begun.stat().st_size <= 3, "two processes, and this one"


def test_batches_run_in_turn_within_the_byte_limit(land: Land) -> None:
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
    events = [next(iter(json.loads(line))) for line in out.splitlines()]
    assert events == ["dropped"] * 4 + ["run"]
    assert several.run("fsck", "--full")[0] == 0
    assert several.state() == alone.state()


@pytest.mark.parametrize("at", ["rewrite", "open_body"])
def test_killed_process_is_taken_over(
    land: Land, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at: str
) -> None:
    """The run ends, and the same command goes on with it."""
    undisturbed = land("undisturbed")
    undisturbed.run(*DEDUPE)
    profile = land("store")
    of = FileRewriter if at == "rewrite" else ArchiveBodies
    work = getattr(of, at)
    died = tmp_path / "died"
    us = os.getpid()

    def die_at_the_second(self: object, given: object) -> object:
        done = work(self, given)
        with died.open("ab") as file:
            file.write(b".")
        if died.stat().st_size == 2:
            assert os.getppid() != us, "done by the command's own process"
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    with monkeypatch.context() as patched:
        patched.setattr(of, at, die_at_the_second)
        patched.setenv("PINAKES_STORE", profile.settings["store"])
        # A process that ends: else it would still have the collection's lease.
        assert in_child(lambda: os._exit(main([*DEDUPE, "-j", "2"]))) == 4
    assert died.stat().st_size >= 2
    assert profile.run(*DEDUPE)[0] == 0
    assert profile.run("fsck", "--full")[0] == 0
    assert profile.state() == undisturbed.state()
