"""Which files are landed, and under which names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from pinakes.ingest.inputs import Input, LeftOut, iter_inputs
from pinakes.ingest.watch import Seen, Status, Stillness, follow, is_complete, look_at
from pinakes.warc.file_names import is_archive_name


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.warc", True),
        ("a.warc.gz", True),
        ("a.arc.gz", True),
        ("a.warc.zst", True),
        ("A.WARC.GZ", True),
        ("a.warc.gz.open", False),
        ("a.cdx", False),
        ("crawl.log.gz", False),
        ("warc", False),
    ],
)
def test_names_of_archive_files(name: str, is_one: bool) -> None:
    assert is_archive_name(name) == is_one


def test_a_folder_gives_relative_paths_in_order_and_a_file_its_base_name(tmp_path: Path) -> None:
    for name in ("b/x.warc", "a/x.warc", "a.warc.gz", "a/log.txt", "b/y.warc.part"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    (tmp_path / "loop").symlink_to(tmp_path)
    left = LeftOut()
    found = list(iter_inputs([str(tmp_path), str(tmp_path / "a" / "log.txt")], left))
    assert [item.name for item in found] == ["a.warc.gz", "a/x.warc", "b/x.warc", "log.txt"]
    assert left.unfinished == [str(tmp_path / "b" / "y.warc.part")]
    assert (left.others, left.examples) == (
        2,
        [str(tmp_path / "loop"), str(tmp_path / "a" / "log.txt")],
    )
    assert list(iter_inputs(["no/such.warc"], left)) == [Input("no/such.warc", "such.warc")]


def test_a_folder_that_cannot_be_read_is_named_and_the_others_are(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(b"x")
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # longer than a path may be: not even root can list it by its name
        os.mkdir("d" * 250, dir_fd=inside)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(inside)
    left = LeftOut()
    found = list(iter_inputs([str(tmp_path)], left))
    assert [item.name for item in found] == ["x.warc"]
    [refusal] = left.refused
    assert refusal.file is not None
    assert refusal.file.startswith(f"{tmp_path}/{'d' * 250}/")
    assert "cannot be read: File name too long" in str(refusal)


# --- When a watched file lands: a clock and listings as arguments, nobody sleeps


RECORD = (
    b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://e.org/\r\n"
    b"WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:1>\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody\r\n\r\n"
)


def _seen(name: str, size: int = 1, mtime_ns: int = 1, inode: int = 1) -> Seen:
    return Seen(Input(name, name), Status(size, mtime_ns, inode))


@pytest.mark.parametrize(
    ("looks", "ready_at"),
    [
        pytest.param([(0, _seen("a")), (59, _seen("a")), (60, _seen("a"))], [60], id="still"),
        pytest.param([(0, _seen("a")), (90, _seen("a", size=2))], [], id="grew"),
        pytest.param(
            [(0, _seen("a")), (50, _seen("a", size=2)), (70, _seen("a", size=2))], [], id="anew"
        ),
        pytest.param([(0, _seen("a")), (60, _seen("a", mtime_ns=2))], [], id="touched"),
        pytest.param([(0, _seen("a")), (60, _seen("a", inode=2))], [], id="replaced"),
        pytest.param(
            [(0, _seen("a")), (60, _seen("a")), (120, _seen("a")), (180, _seen("a"))],
            [60],
            id="once",
        ),
        pytest.param(
            [(t, _seen("a", size=1 + (t > 60))) for t in (0, 60, 120, 180)],
            [60, 180],
            id="again-when-it-changed",
        ),
        pytest.param([(0, _seen("a")), (60, None), (70, _seen("a"))], [], id="was-gone"),
    ],
)
def test_what_has_settled(looks: list[tuple[int, Seen | None]], ready_at: list[int]) -> None:
    stillness = Stillness(60)
    ready = [
        now
        for now, seen in looks
        for _ in stillness.settled([seen] if seen is not None else [], now)
    ]
    assert ready == ready_at


def test_the_last_record_must_be_whole_at_every_cut(tmp_path: Path) -> None:
    whole = gzip.compress(RECORD, mtime=0) * 2
    member = len(whole) // 2
    path = tmp_path / "a.warc.gz"
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        assert is_complete(str(path)) == (cut in (member, len(whole))), cut


class _Stopped(Exception):
    pass


def test_a_watch_lands_what_stands_still_and_sleeps_between_looks(tmp_path: Path) -> None:
    done, cut = tmp_path / "done.warc", tmp_path / "cut.warc"
    done.write_bytes(RECORD)
    cut.write_bytes(RECORD[:-9])
    now = [0.0]
    slept: list[float] = []
    landed: list[str] = []
    left: list[str] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds
        if now[0] > 300:
            raise _Stopped
        if now[0] > 150 and cut.stat().st_size != len(RECORD):
            cut.write_bytes(RECORD)

    with pytest.raises(_Stopped):
        follow(
            lambda: look_at([Input(str(path), path.name) for path in (done, cut, tmp_path / "no")]),
            lambda item: (landed if is_complete(item.place) else left).append(item.name),
            settle_s=60,
            clock=lambda: now[0],
            sleep=sleep,
        )
    assert landed == ["done.warc", "cut.warc"]
    assert left == ["cut.warc"]
    assert min(slept) >= 1
