"""`dedupe` whose work on archive files is done by jobs: the same state, and it may die anywhere."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from agreement import check_references
from killing import KILLED, in_child
from scenes import Scene, copied_scene, write_crawl
from tasks_here import TasksHere

from pinakes.acts.waves import FileOutcome, NotWritten
from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import DigestMismatch, StoreUnavailable

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.large)])
def test_state_equals_a_run_without_jobs(
    landed: Scene, undisturbed: dict[str, object], runner: str
) -> None:
    report = landed.dedupe(runner=runner)
    assert not report.problems
    assert (report.refs.records, report.files) == (8, 2)
    assert landed.state() == undisturbed


@pytest.mark.parametrize("runner", [None, "here", "inline"])
def test_nothing_refers_to_a_record_behind_another_in_its_member(
    scene: Scene, runner: str | None
) -> None:
    """A file of the first crawl is one member, which begins with its warcinfo."""
    path = scene.crawls / "c1" / "part-0.warc.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), mtime=0))
    scene.land(1)
    scene.land(2)
    report = scene.dedupe(runner=runner)
    assert report.refs.records == check_references(scene) == 4
    assert report.decisions["process"]["full"] == {"unaddressable": 4}  # type: ignore[index]


@pytest.mark.parametrize("runner", [None, "inline"])
def test_trusted_digests(landed: Scene, undisturbed: dict[str, object], runner: str | None) -> None:
    report = landed.dedupe(runner=runner, sample_bytes=0.0)
    counts = report.decisions["resolve"]
    assert isinstance(counts, dict)
    assert (counts["compared_bytes"], counts["believed"]) == (0, counts["duplicates"])
    assert landed.state() == undisturbed


def test_a_store_in_frames_comes_out_the_same_by_jobs(
    landed_in_frames: Path, undisturbed_in_frames: dict[str, object], tmp_path: Path
) -> None:
    with copied_scene(landed_in_frames, tmp_path) as scene:
        assert scene.dedupe(runner="inline").refs.records == 8
        assert scene.state() == undisturbed_in_frames


@pytest.mark.parametrize("runner", [None, "here"])
def test_what_is_there_under_the_new_names_stays(landed: Scene, runner: str | None) -> None:
    """No act has left it: the rows may be older than the files."""
    for name in ("part-0.warc.gz", "part-1.warc.gz"):
        left = landed.archive.path_of(f"c2/g2/{name}")
        left.parent.mkdir(exist_ok=True)
        left.write_bytes(b"of a later version")
        landed.archive.path_of(sidecar_name(f"c2/g2/{name}")).write_bytes(b"and its sidecar")
    before = landed.state()
    problems = landed.dedupe(runner=runner).problems
    assert {problem.file for problem in problems} == {
        "c2/g2/part-0.warc.gz",
        "c2/g2/part-1.warc.gz",
    }
    assert landed.state()["stored"] == before["stored"]


def test_files_that_were_rewritten_before_are_read_as_they_are(
    scene: Scene, undisturbed: dict[str, object]
) -> None:
    scene.land(1)
    scene.dedupe(act="dedupe-b", runner="inline")
    scene.land(2)
    assert scene.dedupe(runner="inline").files == 2
    assert scene.state() == undisturbed
    # Crawl 3 repeats what is new in crawl 2, whose files are in their second generation.
    write_crawl(scene.crawls / "c3", 3, version=2)
    scene.land(3)
    report = scene.dedupe(act="dedupe-c", runner="inline")
    assert (report.refs.records, report.problems) == (12, [])
    assert check_references(scene) == 8 + 12


Fails = Callable[[str], None]


@pytest.fixture
def fails(landed: Scene, capfd: pytest.CaptureFixture[str]) -> Fails:
    """A run that ends with this error: in a process of its own, that its lease is let go of."""

    def check(error: str) -> None:
        assert in_child(lambda: landed.dedupe(runner="here")) not in (0, KILLED)
        assert error in capfd.readouterr().err

    return check


def test_a_job_that_fails_is_done_again(
    landed: Scene,
    fails: Fails,
    undisturbed: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as failing:

        def write(self: TasksHere, wave: str, *_: object) -> None:
            (landed.archive.folder / ".landing" / "dedupe-a" / wave).mkdir(parents=True)
            raise StoreUnavailable("the job failed")

        failing.setattr(TasksHere, "write", write)
        fails("StoreUnavailable: the job failed")
    assert [entry[2] for entry in landed.state()["files"]] == [1] * 4  # type: ignore[attr-defined]
    landed.dedupe(runner="here")
    assert landed.state() == undisturbed


def test_file_without_task_result_ends_the_run(
    landed: Scene,
    fails: Fails,
    undisturbed: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes = TasksHere.outcomes
    with monkeypatch.context() as silent:
        silent.setattr(TasksHere, "outcomes", lambda self, wave: islice(outcomes(self, wave), 1))
        fails("1 of 2 files have no result from any task")
    landed.dedupe(runner="here")
    assert landed.state() == undisturbed


def test_validation_findings_are_reported_and_block_the_commit(
    landed: Scene,
    fails: Fails,
    undisturbed: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = landed.state()
    write = TasksHere.write
    with monkeypatch.context() as broken:

        def write_badly(self: TasksHere, wave: str, *rest: object) -> None:
            """A record is lost on the way to where it lies."""
            write(self, wave, *rest)  # type: ignore[arg-type]
            [path, _] = (landed.archive.folder / ".landing").rglob("part-?.warc.gz")
            data = path.read_bytes()
            path.write_bytes(data[: data.rindex(b"\x1f\x8b\x08")])

        broken.setattr(TasksHere, "write", write_badly)
        fails("1 such finding in what tasks have written, and none of it is committed")
    [events] = (landed.folder / "store" / "runs").rglob("validation.jsonl")
    assert json.loads(events.read_text())["code"] == "missing"
    now = landed.state()
    assert (now["files"], now["stored"]) == (before["files"], before["stored"])
    landed.dedupe(runner="here")
    assert landed.state() == undisturbed


def test_file_that_cannot_be_rewritten_is_named_and_others_are_rewritten(
    landed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = TasksHere.outcomes
    problem = DigestMismatch("the new generation is not what it should be", file="c2/part-0")

    def one_fails(self: TasksHere, wave: str) -> Iterator[FileOutcome[RefsCount]]:
        first, *others = outcomes(self, wave)
        yield NotWritten(archive_file=first.archive_file, problem=problem)
        yield from others

    monkeypatch.setattr(TasksHere, "outcomes", one_fails)
    report = landed.dedupe(runner="here")
    assert (report.files, report.problems, dict(report.files_left)) == (1, [problem], {"failed": 1})
    check_references(landed)


def test_changed_task_output_is_not_made_current(
    landed: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file has the name that one of the new generations is to have."""
    name = "c2/g2/part-0.warc.gz"
    with landed.archive.create_aside("t") as aside:
        aside.file.write(b"another file")
        aside.publish(name)
    report = landed.dedupe(runner="here")
    assert report.files == 1
    [problem] = report.problems
    assert isinstance(problem, DigestMismatch)
    assert problem.file == name


@pytest.mark.parametrize("runner", [None, "here", "inline"])
def test_file_lost_after_the_decision_is_named(landed: Scene, runner: str | None) -> None:
    lost = "c2/part-0.warc.gz"
    content = landed.archive.path_of(lost).read_bytes()

    def lose(step: str) -> None:
        if step == "pinned":
            landed.archive.delete(lost)

    report = landed.dedupe(runner=runner, at=lose)
    [problem] = report.all_problems
    assert (problem.file, report.files, dict(report.files_left)) == (lost, 1, {"failed": 1})
    landed.archive.path_of(lost).write_bytes(content)
    check_references(landed)
    assert landed.dedupe(act="dedupe-again", runner=runner).files == 1


@pytest.mark.parametrize("runner", [None, "here", "inline"])
def test_file_lost_before_the_decision_is_named_unreadable(
    landed: Scene, runner: str | None
) -> None:
    """Its captures are no duplicates, and nobody's originals."""
    lost = "c1/part-0.warc.gz"
    landed.archive.delete(lost)
    report = landed.dedupe(runner=runner)
    assert {problem.file for problem in report.all_problems} == {lost}
    assert report.files == 1  # the one that has nothing in common with it


@pytest.mark.parametrize("runner", [None, "here", "inline"])
def test_file_that_rots_after_the_decision_is_not_what_was_stored(
    landed: Scene, runner: str | None
) -> None:
    name = "c2/part-0.warc.gz"
    path = landed.archive.path_of(name)

    def rot(step: str) -> None:
        if step == "pinned":
            content = bytearray(path.read_bytes())
            content[-20] ^= 1
            path.write_bytes(content)

    report = landed.dedupe(runner=runner, at=rot)
    problem, *left = report.problems
    assert (type(problem), problem.file) == (DigestMismatch, name)
    assert "stored" in problem.message
    # What they wrote before it was seen may be whole: it stays.
    assert [one.file for one in left] == ([] if runner is None else [name])
    assert all("tasks have written" in one.message for one in left)
    assert (report.files, dict(report.files_left)) == (1, {"failed": 1})
