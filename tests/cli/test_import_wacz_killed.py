"""`import-wacz --purge-removed` that died, and the same command again."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import count
from pathlib import Path

import pytest
from importing import entry_of, write_manifest, write_wacz
from killing import KILLED, in_child, kill_at
from landed_stores import page
from scenes import make_scene
from verbs_here import call_here

from pinakes.acts.actor import Actor
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import FORCE, PROMOTE, PurgeRequest

URI = "http://example.org/"


def called(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call_here(folder, *arguments, "--store", "store")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawls b and c refer to a; a manifest that names c only."""
    folder = tmp_path_factory.mktemp("made")
    assert called(folder, "init").returncode == 0
    paths = [folder / "in" / f"{name}.wacz" for name in "abc"]
    for year, path in enumerate(paths, 2021):
        body = bytes(range(256)) * 20
        write_wacz(path, page(f"{URI}{path.stem}", body, date=f"{year}-01-01T00:00:00Z"))
    entries = [entry_of(path) for path in paths]
    manifest = write_manifest(folder / "in" / "m.json", entries)
    assert called(folder, "import-wacz", str(manifest)).returncode == 0
    assert called(folder, "dedupe", "--all", "--min-file-saving", "0").returncode == 0
    write_manifest(manifest, entries[2:])
    return folder


def purge_and_die(folder: Path, crawl: str, references: str, step: int) -> int:
    """The child's exit code: as the verb when it is killed at a step of this crawl's purge."""

    def work() -> None:
        with make_scene(folder, ()) as scene:
            runs = folder / "store" / "runs"
            purger = Purger(
                scene.rows, scene.archive, runs, Actor(), software="tests", at=kill_at(step)
            )
            purger.purge(PurgeRequest(crawl=crawl, references=references))

    return in_child(work)


def states(folder: Path) -> dict[str, str]:
    listed = called(folder, "crawl", "list", "--json").stdout.splitlines()
    return {line["crawl"]: line["state"] for line in map(json.loads, listed)}


@pytest.mark.slow
@pytest.mark.parametrize("crawl", ["a", "b"])
@pytest.mark.parametrize(
    ("references", "stride"),
    [
        (PROMOTE, 5),
        (FORCE, 5),
        *(pytest.param(r, 1, marks=pytest.mark.large) for r in (PROMOTE, FORCE)),
    ],
)
def test_the_same_command_completes_it(
    made: Path, tmp_path: Path, crawl: str, references: str, stride: int
) -> None:
    """Also where the crawl that is half out comes after others, or is in no list any more."""
    for step in count(step=stride):
        folder = tmp_path / str(step)
        shutil.copytree(made, folder)
        code = purge_and_die(folder, crawl, references, step)
        again = ("--purge-removed", "--references", references)
        done = called(folder, "import-wacz", str(folder / "in" / "m.json"), *again)
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        assert states(folder) == {"a": "purged", "b": "purged", "c": "open"}
        checked = called(folder, "fsck", "--full")
        unfinished = [line for line in checked.stdout.splitlines() if ": reference:" not in line]
        assert unfinished == [], step
        shutil.rmtree(folder)
        if code == 0:
            break
        assert code == KILLED
    assert step >= 10


def test_a_purge_of_what_is_still_named_is_left_to_whoever_began_it(
    made: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "store of three"
    shutil.copytree(made, folder)
    assert purge_and_die(folder, "c", FORCE, 1) == KILLED
    manifest = str(folder / "in" / "m.json")
    done = called(folder, "import-wacz", manifest, "--purge-removed")
    assert (done.returncode, "`pinakes crawl purge c`" in done.stderr) == (3, True)
    assert states(folder) == {"a": "open", "b": "open", "c": "open"}
