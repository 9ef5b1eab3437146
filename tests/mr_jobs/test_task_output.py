"""New files that a task writes: as on a disk, whatever becomes of an attempt."""

from __future__ import annotations

import multiprocessing
import os
import queue
import select
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from subprocess import check_call

import pytest
from archive_builders import dictionary, gzip_file
from failing_store import failing_archive
from killing import tree
from zstandard import ZstdCompressionDict

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, StoreUnavailable
from pinakes.mr_jobs.driver.orphans import tied_workers
from pinakes.mr_jobs.heartbeat import Heartbeat
from pinakes.mr_jobs.writing_job import TaskOutput
from pinakes.rewrite.new_file import UNCHANGED, WRITTEN
from pinakes.rewrite.recompress import GZIP, PLAIN, MemberForm, zstd_form
from pinakes.rewrite.recompress_file import Recompression, recompress_file, recompress_source
from pinakes.warc.opening import open_source
from pinakes.warc.source import Source

FORMS = {
    "zstd": zstd_form(9, ZstdCompressionDict(dictionary())),
    "gzip": GZIP,
    "plain": PLAIN,
}
ZSTD = FORMS["zstd"]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip_file())
    return path


@pytest.fixture
def to(tmp_path: Path) -> TaskOutput:
    return TaskOutput(
        folder=LocalArchiveStore(tmp_path / "folder"),
        place="hdfs://there/folder",
        out=LocalArchiveStore(tmp_path / "out"),
        inside="mark",
    )


def recompress(old: Path, form: MemberForm, to: TaskOutput) -> Recompression:
    with open_source(old) as source:
        return recompress_source(source, source.name, form, to)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_bytes_and_result_are_those_on_a_disk(
    form: MemberForm, old: Path, to: TaskOutput, tmp_path: Path
) -> None:
    (tmp_path / "wanted").mkdir()
    wanted = recompress_file(str(old), tmp_path / "wanted", form)
    result = recompress(old, form, to)
    name = Path(wanted.target).name
    assert tree(tmp_path / "out") == {f"mark/{name}": Path(wanted.target).read_bytes()}
    assert result.as_json() == {**wanted.as_json(), "target": f"hdfs://there/folder/{name}"}
    assert Recompression.from_json(result.as_json()) == result


def test_two_attempts_at_once_leave_the_same(old: Path, to: TaskOutput, tmp_path: Path) -> None:
    """Each has a folder of its own; that of one of them counts."""
    second = replace(to, out=LocalArchiveStore(tmp_path / "second"))
    results = []

    def meanwhile(_: Source) -> None:
        results.append(recompress(old, ZSTD, second))

    with open_source(old) as source:
        results.append(recompress_source(source, source.name, ZSTD, to, reads=meanwhile))
    assert [result.outcome for result in results] == [WRITTEN, WRITTEN]
    assert tree(tmp_path / "out") == tree(tmp_path / "second")


def test_an_equal_file_is_compared_and_left(old: Path, to: TaskOutput, tmp_path: Path) -> None:
    recompress(old, ZSTD, to)
    there = replace(to, folder=LocalArchiveStore(tmp_path / "out" / "mark"), inside="again")
    before = tree(tmp_path)
    result = recompress(old, ZSTD, there)
    assert result.outcome == UNCHANGED
    assert result.content is not None
    assert tree(tmp_path) == before
    path = tmp_path / "out" / "mark" / "a.warc.zst"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputRefused, match="exists already with other content"):
        recompress(old, ZSTD, there)
    assert list(tree(tmp_path / "out")) == ["mark/a.warc.zst"]


@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
def test_a_store_that_fails_at_any_call_has_all_or_nothing(
    applied: bool, old: Path, to: TaskOutput, tmp_path: Path
) -> None:
    recompress(old, ZSTD, to)
    wanted = tree(tmp_path / "out")
    for call in range(1, 99):
        out = LocalArchiveStore(tmp_path / str(call))
        failing = failing_archive(out, call, applied=applied)
        try:
            recompress(old, ZSTD, replace(to, out=failing))
        except StoreUnavailable:
            is_last = tree(out.folder) == wanted
            assert is_last or tree(out.folder) == {}
            continue
        break
    assert call == 5
    assert is_last == applied


def flipped(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


@pytest.mark.parametrize(
    ("form", "error"),
    [(PLAIN, DigestMismatch), (ZSTD, MalformedRecord), (GZIP, MalformedRecord)],
    ids=["plain", "zstd", "gzip"],
)
def test_what_a_disk_did_not_keep_is_not_published(
    form: MemberForm, error: type[Exception], old: Path, to: TaskOutput, tmp_path: Path
) -> None:
    def harm(_: Source) -> None:
        (aside,) = (tmp_path / "out" / ".landing").iterdir()
        aside.write_bytes(flipped(aside.read_bytes()))

    with open_source(old) as source, pytest.raises(error):
        recompress_source(source, source.name, form, to, reads=harm)
    assert tree(tmp_path / "out") == {}


def test_a_file_that_changes_meanwhile_is_not_published(
    old: Path, to: TaskOutput, tmp_path: Path
) -> None:
    def grow(_: Source) -> None:
        old.write_bytes(gzip_file() * 2)

    with open_source(old) as source, pytest.raises(InputRefused, match="changed"):
        recompress_source(source, source.name, ZSTD, to, reads=grow)
    assert tree(tmp_path / "out") == {}


# --- A task that works says so; one that hangs does not


TIMEOUT_S = 60


def test_heartbeat_reports_progress_of_a_long_task() -> None:
    said: queue.Queue[str] = queue.Queue()
    place = [0]
    with Heartbeat(said.put, every_s=0.001) as heartbeat:
        heartbeat.watch(lambda: place[0])
        place[0] = 1000
        assert said.get(timeout=TIMEOUT_S) == "1,000 bytes"
        heartbeat.watch(lambda: 5)
        assert said.get(timeout=TIMEOUT_S) == "1,005 bytes"
        beats = said.qsize()
        give_up = time.monotonic() + 0.2
        while time.monotonic() < give_up:  # some hundred beats, and nothing to tell
            assert said.qsize() == beats == 0
    assert heartbeat.done == 1005


def test_short_task_reports_nothing() -> None:
    said: list[str] = []
    with Heartbeat(said.append, every_s=3600) as heartbeat:
        heartbeat.watch(lambda: 7)
    assert said == []


# --- The tasks of a job with mrjob's runner `local` end when the process that runs it is killed


# It speaks late: a worker that is killed before it knows that its task has begun leaves it behind.
TASK = ["sh", "-c", "sleep 3; echo $$; exec sleep 300"]
LONG_S = 100.0


def test_tasks_end_when_their_driver_is_killed() -> None:
    read, write = os.pipe()

    def drive() -> None:
        with tied_workers(), multiprocessing.Pool(2) as pool:  # as mrjob makes it
            for _ in range(2):
                pool.apply_async(check_call, (TASK,), {"stdout": write})
            time.sleep(LONG_S)

    driver = multiprocessing.get_context("fork").Process(target=drive)
    driver.start()
    os.close(write)
    with open(read, "rb", buffering=0) as said:
        tasks = [_line(read) for _ in range(2)]
        driver.kill()
        driver.join()
        try:
            # It ends when the last of them has: they have its other end.
            assert select.select([said], [], [], LONG_S)[0]
            assert said.read() == b""
        except BaseException:
            for task in tasks:
                with suppress(ProcessLookupError):
                    os.kill(int(task), signal.SIGKILL)
            raise


def _line(number: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(number, 1)
        assert byte, "no task has said anything"
        line += byte
    return line
