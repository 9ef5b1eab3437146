"""Files that appear whole: what is there is replaced on request alone, and never cut short."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pinakes.archive_store.local.whole_files import hidden_name, keep_as, written_aside
from pinakes.errors import Conflict, InputRefused


def write(target: Path, data: bytes, *, replace: bool = False) -> None:
    with written_aside(target, replace=replace) as file:
        file.write(data)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("replace", [False, True])
def test_a_new_file_is_published(tmp_path: Path, replace: bool) -> None:
    write(tmp_path / "a", b"1", replace=replace)
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"1")


def test_a_file_is_replaced_on_request_alone(tmp_path: Path) -> None:
    write(tmp_path / "a", b"1")
    with pytest.raises(InputRefused, match="not replaced"):
        write(tmp_path / "a", b"2")
    assert (tmp_path / "a").read_bytes() == b"1"
    write(tmp_path / "a", b"3", replace=True)
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"3")


@pytest.mark.parametrize("replace", [False, True])
def test_an_error_publishes_nothing(tmp_path: Path, replace: bool) -> None:
    (tmp_path / "b").write_bytes(b"1")
    with pytest.raises(ValueError, match="ours"), written_aside(tmp_path / "a", replace=replace):
        raise ValueError("ours")
    assert names(tmp_path) == ["b"]


LIMITED = """
import resource, sys
from pathlib import Path
from pinakes.archive_store.local.whole_files import written_aside
from pinakes.errors import InputRefused
resource.setrlimit(resource.RLIMIT_FSIZE, (4, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
for name, data in (("b", b"1234"), ("a", b"12345")):
    try:
        with written_aside(Path(name)) as file:
            file.write(data)
    except InputRefused as refusal:
        print(refusal)
"""


def test_a_file_above_the_limit_is_refused_by_name(tmp_path: Path) -> None:
    """In a process of its own: what the tests print may go to a file, too."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("a: larger than the file system, or `ulimit -f`")
    assert names(tmp_path) == ["b"]


def test_a_name_taken_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="not replaced"), written_aside(tmp_path / "a"):
        (tmp_path / "a").write_bytes(b"theirs")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"theirs")


def test_two_do_not_write_one_file(tmp_path: Path) -> None:
    with written_aside(tmp_path / "a") as file:
        with pytest.raises(Conflict), written_aside(tmp_path / "a", replace=True):
            pass
        file.write(b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


def test_what_a_dead_writer_left_is_taken_over(tmp_path: Path) -> None:
    hidden_name(tmp_path / "a").write_bytes(b"longer than the new file")
    write(tmp_path / "a", b"1")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"1")


def test_a_file_published_before_the_lock_is_not_cut_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process ends between our `open` of the hidden file and our lock of it."""
    target, flock = tmp_path / "a", fcntl.flock

    def late(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        os.write(descriptor, b"precious")
        hidden_name(target).rename(target)
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(InputRefused, match="not replaced"):
        write(target, b"new")
    assert (names(tmp_path), target.read_bytes()) == (["a"], b"precious")


def test_without_hard_links_a_file_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    write(tmp_path / "a", b"1")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"1")


def test_a_file_keeps_its_bytes_under_a_second_name(tmp_path: Path) -> None:
    path, kept = tmp_path / "a", tmp_path / "superseded" / "a"
    path.write_bytes(b"old")
    keep_as(path, kept)
    write(path, b"new", replace=True)
    keep_as(path, kept)
    assert (path.read_bytes(), kept.read_bytes()) == (b"new", b"old")
