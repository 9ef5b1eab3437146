"""A source: any offset and length of a file, and a clear word where it is none."""

from __future__ import annotations

import errno
import io
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from archive_builders import HTTP, gzip_file, member, plain_file, warc
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import Busy, ConfigError, InputRefused
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import IN_MEMORY_BYTES, WINDOW_BYTES, Source

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


# --- Archive files that are open already: seekable, with three methods only, or read once


LARGE = member(warc(HTTP + bytes(IN_MEMORY_BYTES)))
ARCHIVES = {"gzip": gzip_file(), "plain": plain_file(), "a large block": gzip_file() + LARGE}


class Remote:
    """As clients of object stores have them: three methods, short reads, and a silent `seek`."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int) -> bytes:
        return self._file.read(min(size, 1000))

    def seek(self, offset: int, whence: int = 0) -> None:
        self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class Once(io.RawIOBase):
    """As a response of an HTTP client: read once."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._file = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(memoryview(buffer)[:777])


def piped(data: bytes) -> io.BufferedReader:
    reading, writing = os.pipe()

    def fill() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(data)

    threading.Thread(target=fill).start()
    return os.fdopen(reading, "rb")


def on_disk(data: bytes) -> io.BufferedReader:
    Path("x.warc.gz").write_bytes(data)
    return Path("x.warc.gz").open("rb")


def digests_of(place: Any) -> list[tuple[str, str]]:
    records = []
    for item in iter_records(place, digests=("sha1", "md5")):
        assert isinstance(item, Record)
        # Of a large block, this reads the file again.
        records.append((item.type, str(item.block_digest("sha256"))))
    return records


@pytest.mark.parametrize("archive", ARCHIVES.values(), ids=ARCHIVES)
@pytest.mark.parametrize("opened", [io.BytesIO, Remote, Once, piped, on_disk])
def test_an_open_file_is_read_as_its_path(
    archive: bytes,
    opened: Callable[[bytes], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "whole.warc.gz").write_bytes(archive)
    expected = digests_of(tmp_path / "whole.warc.gz")
    assert len(expected) >= 3
    assert digests_of(str(tmp_path / "whole.warc.gz")) == expected
    file = opened(archive)
    assert digests_of(file) == expected
    if isinstance(file, io.IOBase):
        assert not file.closed
        file.close()


def test_a_seekable_file_is_read_from_its_start() -> None:
    file = io.BytesIO(gzip_file())
    file.seek(50)
    with open_source(file) as source:
        assert source.size == len(gzip_file())
        assert len(list(iter_records(source))) == 3


def test_an_empty_one_has_no_records() -> None:
    assert list(iter_records(io.BytesIO())) == list(iter_records(Once(b""))) == []


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (b"WARC/1.1", "path or an open file, not bytes"),
        (None, "not NoneType"),
        (io.StringIO("WARC/1.1"), "opened as text"),
    ],
    ids=["bytes", "None", "text"],
)
def test_what_is_no_file_of_bytes_is_refused(place: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message), open_source(place):
        pass


class Breaks(Once):
    """A connection that is lost behind the first bytes."""

    def readinto(self, buffer: Any) -> int:
        if self._file.tell():
            raise OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        return super().readinto(buffer)


def test_a_stream_that_breaks_is_refused() -> None:
    with pytest.raises(InputRefused, match=r"<Breaks>: .*Connection reset"):
        list(iter_records(Breaks(gzip_file())))


def test_a_missing_file_is_refused_at_the_first_record(tmp_path: Path) -> None:
    items = iter_records(tmp_path / "missing.warc")
    with pytest.raises(InputRefused, match="No such file"):
        next(items)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (None, ["warcinfo", "response", "metadata"]),
        ({"response"}, ["response"]),
        (["metadata", "warcinfo"], ["warcinfo", "metadata"]),
        ("response", ["response"]),
        ((), []),
    ],
)
@pytest.mark.parametrize("data", [gzip_file(), plain_file()], ids=["gzip", "plain"])
def test_records_of_some_types(data: bytes, types: Any, expected: list[str]) -> None:
    items = iter_records(io.BytesIO(data), types=types)
    assert [item.type for item in items if isinstance(item, Record)] == expected


def test_damage_is_of_every_type() -> None:
    data = bytearray(gzip_file())
    second = data.index(b"\x1f\x8b", 1)
    data[second : second + 20] = bytes(20)
    kinds = [type(item) for item in iter_records(io.BytesIO(data), types={"metadata"})]
    assert kinds == [DamagedStretch, Record]


def test_a_large_body_is_refused_when_its_file_is_closed(tmp_path: Path) -> None:
    noise = member(warc(HTTP + random.Random(1).randbytes(IN_MEMORY_BYTES)))
    (tmp_path / "a.warc.gz").write_bytes(gzip_file() + noise)
    *_, small, large = iter_records(tmp_path / "a.warc.gz")
    assert isinstance(small, Record)
    assert isinstance(large, Record)
    assert small.content() == b"via: nothing\r\n"
    with pytest.raises(InputRefused, match="closed file"):
        large.content()


# --- Progress within a file: each byte once, whatever is read how often


@pytest.mark.parametrize(
    ("passes", "positions", "told"),
    [
        pytest.param(1, [10, 40, 100], [10, 30, 60], id="once"),
        pytest.param(1, [60, 20, 70], [60, 10, 30], id="back-within-a-pass"),
        pytest.param(2, [50, 100, 10, 100], [25, 25, 5, 45], id="twice"),
        pytest.param(1, [100, 0, 100], [100], id="more-passes-than-said"),
        pytest.param(3, [100], [33, 67], id="fewer-passes-than-said"),
        pytest.param(1, [150], [100], id="file-grew"),
        pytest.param(1, [], [100], id="not-read"),
    ],
)
def test_a_file_advances_by_its_size(passes: int, positions: list[int], told: list[int]) -> None:
    counts: list[int] = []
    with FileProgress(counts.append, 100, passes=passes) as done:
        for position in positions:
            done.reached(position)
    assert [count for count in counts if count] == told
    assert sum(counts) == 100


def test_a_file_that_fails_is_done_with_and_one_that_is_busy_is_not() -> None:
    counts: list[int] = []
    for error in (InputRefused("refused"), Busy("somebody else has it")):
        with pytest.raises(type(error)), FileProgress(counts.append, 100):
            raise error
    assert counts == [100]


def test_a_source_tells_how_far_it_is_read() -> None:
    positions: list[int] = []
    source = Source(io.BytesIO(bytes(1000)), name="bytes", window_bytes=100)
    source.watch(positions.append)
    for offset in (0, 50, 100, 950):
        source.view(offset, 10)
    assert positions == [100, 200, 1000]
