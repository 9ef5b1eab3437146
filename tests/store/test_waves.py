"""`--max-extra-bytes`: rewriting in waves, and what a wave that is over leaves behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from agreement import check_references
from killing import KILLED, deaths, in_child
from scenes import COLLECTION, At, Scene, copied_scene, in_scene, make_scene, write_crawl

from pinakes.cli import main
from pinakes.dedupe.run.run_report import WANTS_ROOM
from pinakes.errors import DigestMismatch

pytestmark = pytest.mark.slow

# Crawl 3 repeats what is new in crawl 2: its originals lie in files that are rewritten.
CRAWLS = (1, 2, 3)
REVISITS = 8 + 12
# One of the new generations of some 3 or 5 kB at a time, never two.
BOUND = 6000


@pytest.fixture(scope="module")
def landed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed scene with these crawls in the store, to be copied."""
    folder = tmp_path_factory.mktemp("landed")
    with make_scene(folder) as scene:
        write_crawl(scene.crawls / "c3", 3, version=2)
        for crawl in CRAWLS:
            scene.land(crawl)
    return folder


@pytest.fixture(params=[None, "here"], ids=["in-process", "by-tasks"])
def runner(request: pytest.FixtureRequest) -> str | None:
    """Who rewrites: the run itself, file by file, or tasks, a wave at a time."""
    param: str | None = request.param
    return param


def stored_bytes(scene: Scene) -> int:
    return sum(f.size for f in scene.archive.list() if not f.name.endswith(".parquet"))


def current(state: dict[str, object]) -> dict[str, object]:
    """A state without the old generations, in which waves may differ."""
    files = state["files"]
    assert isinstance(files, list)
    names = {name if n == 1 else name.replace("/", f"/g{n}/", 1) for name, _, n in files}
    stored = [pair for pair in state["stored"] if pair[0] in names]  # type: ignore[attr-defined]
    return {**state, "stored": stored, "sidecars": []}


@pytest.fixture(scope="module")
def undisturbed(landed_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with copied_scene(landed_folder, folder) as scene:
        assert scene.dedupe().refs.records == REVISITS
        return current(scene.state())


def test_run_drops_old_generations_to_stay_within_the_bound(
    landed: Scene, undisturbed: dict[str, object], runner: str | None
) -> None:
    before = stored_bytes(landed)
    most = before

    def watch(step: str) -> None:
        nonlocal most
        if step == "published":
            most = max(most, stored_bytes(landed))

    report = landed.dedupe(runner=runner, grace_ms=0, max_extra_bytes=BOUND, at=watch)
    assert (report.files, report.refs.records, report.is_stopped) == (4, REVISITS, False)
    assert before < most <= before + BOUND
    # Not without the bound: there all new generations lie beside the old ones.
    assert report.extra_bytes > BOUND
    assert not report.problems
    assert check_references(landed) == REVISITS
    assert current(landed.state()) == undisturbed
    assert stored_bytes(landed) < before


def test_run_stops_when_it_may_not_drop_and_continues_later(
    landed: Scene, undisturbed: dict[str, object], runner: str | None
) -> None:
    before = stored_bytes(landed)
    report = landed.dedupe(runner=runner, max_extra_bytes=BOUND)
    assert report.is_stopped
    assert report.files + report.files_left[WANTS_ROOM] == 4
    assert 0 < stored_bytes(landed) - before <= BOUND
    check_references(landed)
    # At once, or within the grace time, it may do no more.
    assert landed.dedupe(runner=runner, max_extra_bytes=BOUND).files == 0
    later = landed.dedupe(runner=runner, max_extra_bytes=BOUND, grace_ms=3_600_000)
    assert later.files == 0
    assert landed.dedupe(runner=runner, max_extra_bytes=BOUND, grace_ms=0).is_stopped is False
    assert check_references(landed) == REVISITS
    assert current(landed.state()) == undisturbed


def test_command_names_what_is_left(landed: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(landed.folder / "store")
    options = ["--min-file-saving", "0", "--max-extra-bytes", str(BOUND), "--grace", "0"]
    command = ["dedupe", "--all", "--store", store, "--collection", COLLECTION, *options]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "3 files are left for want of room" in said
    assert "--drop-old" in said
    # A generation is dropped in another millisecond than it was written in.
    time.sleep(0.002)
    assert main([*command, "--drop-old"]) == 0
    said = capsys.readouterr().out
    assert said.count("\ndropped ") + said.startswith("dropped ") == 4
    assert "want of room" not in said
    assert check_references(landed) == REVISITS


def test_file_that_never_fits_is_named_and_others_are_rewritten(
    landed: Scene, runner: str | None
) -> None:
    report = landed.dedupe(runner=runner, max_extra_bytes=1)
    assert report.files_left == {"larger than max-extra-bytes": 4}
    assert not report.is_stopped


# By every other step each kind is met in two of the four files; all in `make test-large`.
@pytest.mark.parametrize("stride", [2, pytest.param(1, marks=pytest.mark.large)])
def test_killed_at_every_step_and_run_again(
    tmp_path: Path,
    landed_folder: Path,
    undisturbed: dict[str, object],
    runner: str | None,
    stride: int,
) -> None:
    # Of the run itself 6; of four files 7 each, or 5 and 4 of the wave that each is.
    steps = 42 if runner else 34

    def dedupe(scene: Scene, at: At = lambda step: None) -> None:
        scene.dedupe(at=at, runner=runner, grace_ms=0, max_extra_bytes=BOUND)

    for step, folder, died in deaths(
        tmp_path, in_scene(dedupe), made=landed_folder, stride=stride, more_than=steps - 1
    ):
        with make_scene(folder, ()) as scene:
            if died:
                dedupe(scene)
            assert current(scene.state()) == undisturbed, f"killed at step {step}"
    assert step == steps


def test_written_wave_is_not_written_again(
    landed: Scene,
) -> None:
    def die(step: str) -> None:
        if step == "wave noted":
            os._exit(KILLED)

    assert in_child(lambda: landed.dedupe(runner="here", at=die)) == KILLED
    steps: list[str] = []
    assert landed.dedupe(runner="here", at=steps.append).refs.records == REVISITS
    waves = [step for step in steps if step.startswith("wave ")]
    assert waves == ["wave validated", "wave committed"]
    assert check_references(landed) == REVISITS


def test_damaged_wave_is_written_again(
    landed: Scene,
) -> None:
    def damage(step: str) -> None:
        if step == "wave noted":
            path = next(landed.archive.folder.glob(".landing/*/wave-*/_written/**/*.warc.gz"))
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)

    def fail() -> None:
        with pytest.raises(DigestMismatch, match="none of it is committed"):
            landed.dedupe(runner="here", at=damage)

    assert in_child(fail) == 0
    assert landed.dedupe(runner="here").refs.records == REVISITS
    assert check_references(landed) == REVISITS
