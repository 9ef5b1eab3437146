"""Archive files that are open already: seekable, with three methods only, or read once."""

from __future__ import annotations

import errno
import io
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from archive_builders import HTTP, gzip_file, member, plain_file, warc

from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import IN_MEMORY_BYTES

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
