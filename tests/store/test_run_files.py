"""What a run leaves behind: its report; the working files of one that has not ended."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from fsck_here import fsck_lines
from killing import KILLED, in_child, kill_after, tree
from scenes import Scene

from pinakes.catalog.run_rows import put_run, set_run_state
from pinakes.cli import main
from pinakes.dedupe.run.run_files import DECIDED, GENERATIONS, ORIGINAL_KEYS, REPORT, RunFiles
from pinakes.hbase_schema.run_cells import RunFacts, RunState

pytestmark = pytest.mark.slow


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def dedupe(scene: Scene) -> int:
    store = str(scene.folder / "store")
    return main(["dedupe", "--all", "--store", store, "--collection", "news"])


def put_files(scene: Scene, run: str, state: str, files: Iterable[str]) -> Path:
    put_run(scene.rows, run, RunFacts(verb="dedupe", act_time_ms=1, software="tests"))
    set_run_state(scene.rows, run, RunState(state=state))
    folder = scene.folder / "store" / "runs" / run
    folder.mkdir(parents=True)
    for name in files:
        (folder / name).write_bytes(b"{}")
    return folder


def test_report_is_kept(scene: Scene) -> None:
    scene.land(1)
    scene.land(2)
    assert dedupe(scene) == 0
    [folder] = (scene.folder / "store" / "runs").iterdir()
    assert names(folder) == [REPORT]


def test_generations_as_an_older_version_noted_them(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    noted = {"c/a.warc.gz": 1, "c/b.warc.gz": 3, "c/c.warc.gz": "c/g2-gz/c.warc.zst"}
    files.write_json(GENERATIONS, noted)
    assert files.generations() == {
        "c/a.warc.gz": "c/a.warc.gz",
        "c/b.warc.gz": "c/g3/b.warc.gz",
        "c/c.warc.gz": "c/g2-gz/c.warc.zst",
    }
    assert files.old_generations().keys() == {"c/b.warc.gz", "c/c.warc.gz"}


@pytest.mark.parametrize("state", ["done", "stopped"])
@pytest.mark.parametrize("left", [[DECIDED], [GENERATIONS, ORIGINAL_KEYS], []])
def test_leftovers_of_a_dead_run_are_deleted(scene: Scene, state: str, left: list[str]) -> None:
    folder = put_files(scene, "dedupe-old", state, [*left, REPORT])
    going_on = put_files(scene, "dedupe-elsewhere", "running", [DECIDED, GENERATIONS])
    unknown = scene.folder / "store" / "runs" / "dedupe-mine"
    unknown.mkdir()
    (unknown / "notes").write_bytes(b"")
    assert dedupe(scene) == 0
    assert names(folder) == [REPORT]
    assert names(going_on) == sorted([DECIDED, GENERATIONS])
    assert names(unknown) == ["notes"]


def flipped_line(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


ROTS = {
    "a bit": flipped_line,
    "no ASCII": lambda data: bytes([data[0] | 128]) + data[1:],
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "first line gone": lambda data: data[data.index(b"\n") + 1 :],
    "last line gone": lambda data: data[: data[:-1].rindex(b"\n") + 1],
}


@pytest.mark.parametrize("rot", ROTS)
@pytest.mark.parametrize("name", [DECIDED, ORIGINAL_KEYS])
def test_what_a_run_goes_on_from_is_as_it_was_written(
    scene: Scene, name: str, rot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or nothing is done by it, until its folder is moved away."""
    scene.land(1)
    scene.land(2)
    pinned = kill_after("pinned")
    assert in_child(lambda: scene.dedupe(at=pinned)) == KILLED
    [folder] = (scene.folder / "store" / "runs").iterdir()
    path = folder / name
    path.write_bytes(ROTS[rot](path.read_bytes()))
    before = tree(scene.archive.folder)
    assert dedupe(scene) == 3
    assert f"{name}: damaged: these notes are not as they were written" in capsys.readouterr().err
    assert tree(scene.archive.folder) == before
    folder.rename(scene.folder / "away")
    assert dedupe(scene) == 0
    assert fsck_lines(scene) == []
