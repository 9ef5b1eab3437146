"""A source: any offset and length of a file, and a clear word where it is none."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from archive_builders import gzip_file
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import InputRefused
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.source import WINDOW_BYTES, Source

DATA = bytes(range(256)) * 5000


class ShortReads(io.BytesIO):
    """A file that never gives all that was asked for, as sockets and HDFS do."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1000))


class Shrinks(io.BytesIO):
    """A file that ends before its size, as when somebody cuts it short."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(max(0, min(size or 0, 300 - self.tell())))


@given(st.lists(st.tuples(st.integers(0, len(DATA) + 9), st.integers(0, 3 * WINDOW_BYTES))))
def test_any_window(windows: list[tuple[int, int]]) -> None:
    source = Source(ShortReads(DATA), name="x")
    for offset, length in windows:
        assert source.view(offset, length) == DATA[offset : offset + length]


def test_a_view_stays_valid() -> None:
    source = Source(io.BytesIO(DATA), name="x")
    first = source.view(0, 10)
    source.view(len(DATA) - 10, 10)
    assert first == DATA[:10]


def test_pieces_cover_a_range() -> None:
    source = Source(io.BytesIO(DATA), name="x")
    assert b"".join(source.pieces(5, len(DATA) + 99, 777)) == DATA[5:]


def test_a_file_that_shrinks_is_refused() -> None:
    source = Source(Shrinks(gzip_file()), name="a.warc.gz", size=len(gzip_file()))
    with pytest.raises(InputRefused, match="became shorter") as caught:
        list(iter_records(source))
    assert caught.value.file == "a.warc.gz"


@pytest.mark.parametrize("change", ["grow", "shrink", "touch", "replace"])
def test_a_file_that_changed_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip_file())
    with open_source(path) as source:
        list(iter_records(source))
        source.check_unchanged()
        if change == "grow":
            path.write_bytes(gzip_file() * 2)
        elif change == "shrink":
            os.truncate(path, 10)
        elif change == "touch":
            os.utime(path, ns=(1, 1))
        else:
            (tmp_path / "b").write_bytes(gzip_file() * 3)
            os.replace(tmp_path / "b", path)
            # The open file is the old one, whole and unchanged: nothing to refuse.
            source.check_unchanged()
            return
        with pytest.raises(InputRefused, match="changed while it was read"):
            source.check_unchanged()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        (".", "not a regular file"),
        ("pipe", "not a regular file"),
        ("absent", "No such file"),
        ("link", "No such file"),
        ("a\0b", "null"),
    ):
        with pytest.raises(InputRefused, match=reason), open_source(tmp_path / name):
            pass


# Root reads everything.
OPEN_AS_SOMEBODY_ELSE = """
import encodings.unicode_escape, os, sys  # somebody else may not be able to import
from pinakes.errors import InputRefused
from pinakes.warc.opening import open_source
if not os.geteuid():
    os.setuid(65534)
try:
    with open_source(sys.argv[1]):
        sys.exit(1)
except InputRefused as refused:
    sys.exit(0 if "Permission denied" in str(refused) else 2)
"""


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.warc"
    path.write_bytes(b"x")
    path.chmod(0)
    # A program of its own, not a fork: that needs room for all that this process has mapped.
    assert subprocess.run([sys.executable, "-c", OPEN_AS_SOMEBODY_ELSE, path]).returncode == 0


def test_a_failing_disk_is_refused() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(InputRefused, match="Input/output error"):
        list(iter_records(Source(Failing(b"x" * 50), name="a")))


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "empty.warc"
    path.touch()
    with open_source(path) as source:
        assert list(iter_records(source)) == []


def test_odd_names_are_shown_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught, open_source(tmp_path / "a\nb\x1b[31m"):
        pass
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
