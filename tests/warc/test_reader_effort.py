"""Input made to be slow or large: bounded steps, bounded memory."""

from __future__ import annotations

import gc
import hashlib
import io
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import zstandard
from archive_builders import (
    HTTP,
    arc,
    dictionary,
    dictionary_frame,
    frame,
    frame_of_blocks,
    member,
    read,
    skippable,
    source_of,
    stored_frame,
    warc,
)
from isal import isal_zlib

from pinakes.warc.arc import match_arc_header
from pinakes.warc.compression.members import first_bytes, inflate_member
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

pytestmark = pytest.mark.slow
MIB = 1 << 20
GIB = 1 << 30
MEMORY_LIMIT_BYTES = 100 * MIB
LONG_ARC = b"http://a/ 1.2.3.4 20010203040506 text/html %d\nHTTP/1.1 200 OK\r\n\r\nhello\n"


class MadeUp:
    """A file that is computed where it is read: a start, one byte many times, an end."""

    def __init__(self, start: bytes, filling: bytes, count: int, end: bytes) -> None:
        self.parts = (start, end)
        self.filling = filling * MIB
        self.count = count
        self.size = len(start) + count + len(end)
        self.at = 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.at = offset + (self.size if whence == 2 else 0)
        return self.at

    def read(self, size: int, /) -> bytes:
        start, end = self.parts
        behind = self.at - len(start) - self.count
        if self.at < len(start):
            data = start[self.at : self.at + size]
        elif behind < 0:
            data = self.filling[: min(size, -behind)]
        else:
            data = end[behind : behind + size]
        self.at += len(data)
        return data


@contextmanager
def bounded_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY_LIMIT_BYTES
    finally:
        tracemalloc.stop()


def gzip_bomb(start: bytes, zeros: int, end: bytes) -> bytes:
    """A gzip member of `start`, so many zeros, `end`."""
    deflater = isal_zlib.compressobj(1, isal_zlib.DEFLATED, 31)
    filling = b"\0" * MIB
    parts = [deflater.compress(start)]
    parts += [deflater.compress(filling) for _ in range(zeros // MIB)]
    return b"".join([*parts, deflater.compress(end), deflater.flush()])


def zstd_bomb(start: bytes, zeros: int, end: bytes) -> bytes:
    """The same as a Zstandard frame, whose header declares all of it."""
    size = len(start) + zeros + len(end)
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj(size=size)
    filling = b"\0" * MIB
    parts = [stream.compress(start), *(stream.compress(filling) for _ in range(zeros // MIB))]
    return b"".join([*parts, stream.compress(end), stream.flush()])


# More than memory has; a whole one besides is for `make test-large`.
SIZES = pytest.mark.parametrize(
    "size", [GIB // 4, pytest.param(GIB, marks=pytest.mark.large)], ids=["quarter", "gib"]
)
BOMBS = pytest.mark.parametrize("bomb", [gzip_bomb, zstd_bomb], ids=["gzip", "zstd"])
Bomb = Callable[[bytes, int, bytes], bytes]


def check_all(source: Source) -> list[Record | DamagedStretch]:
    items = []
    for item in iter_records(source, digests=("sha1", "sha256")):
        items.append(item)
        if isinstance(item, Record):
            item.payload_digest()
            item.payload_digest("sha256")
            item.dechunked_digest()
            assert item.block_size == sum(len(piece) for piece in item.chunks())
    return items


@pytest.mark.large
def test_a_payload_of_three_gigabytes() -> None:
    count = 3 * GIB
    head = warc(HTTP, length=len(HTTP) + count, end=b"", number=1)
    file = MadeUp(head, b"\0", count, b"\r\n\r\n" + warc(number=2))
    with bounded_memory():
        first, second = iter_records(Source(file, name="large"))
        assert isinstance(first, Record)
        assert (first.findings, second.offset) == ((), len(head) + count + 4)
        expected = hashlib.sha1()
        for _ in range(count // (16 * MIB)):
            expected.update(bytes(16 * MIB))
        assert first.payload_digest().value == expected.digest()
        assert first.payload_size == count


@SIZES
@BOMBS
def test_a_bomb_in_a_payload(bomb: Bomb, size: int) -> None:
    start = warc(HTTP, length=len(HTTP) + size, end=b"")
    data = bomb(start, size, b"\r\n\r\n") + member(warc(number=2))
    with bounded_memory():
        first, second = iter_records(source_of(data))
    assert isinstance(first, Record)
    assert first.findings == ()
    assert first.payload_size == size
    assert isinstance(second, Record)


@pytest.mark.large
@BOMBS
def test_a_bomb_behind_a_record(bomb: Bomb) -> None:
    data = bomb(warc(), GIB, b"") + member(warc(number=2))
    with bounded_memory():
        first, second = iter_records(source_of(data))
    assert isinstance(first, Record)
    assert {finding.code for finding in first.findings} == {"block-length"}
    assert isinstance(second, Record)


@pytest.mark.parametrize(
    "start",
    [b"WARC/1.0\r\nX: ", b"WARC/1.0\r\n", b"http://a/ ", b"filedesc:", b""],
    ids=["field", "no-field", "arc", "filedesc", "nothing"],
)
@SIZES
@BOMBS
def test_a_bomb_as_a_header(start: bytes, bomb: Bomb, size: int) -> None:
    data = bomb(start, size, b"\r\n\r\n") + member(warc(number=2))
    with bounded_memory():
        items = check_all(source_of(data))
    assert [type(item) for item in items] == [DamagedStretch, Record]


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"WARC/1.0\r\nX: ", id="warc"),
        pytest.param(b"http://a/ ", id="arc", marks=pytest.mark.large),
    ],
)
@pytest.mark.parametrize("filling", [b"a", b" ", b"\n"], ids=["letters", "blanks", "lines"])
@SIZES
def test_a_header_without_end(start: bytes, filling: bytes, size: int) -> None:
    file = MadeUp(start, filling, size, b"\r\n" + warc(number=2))
    with bounded_memory():
        items = list(iter_records(Source(file, name="header")))
    last = items[-1]
    assert isinstance(last, Record)
    assert last.target_uri == "http://example.org/2"
    assert last.offset == len(start) + size + 2


@SIZES
def test_an_http_head_without_end(size: int) -> None:
    count = size
    head = warc(b"HTTP/1.1 200 OK\r\nX: ", length=20 + count, end=b"")
    with bounded_memory():
        (record,) = iter_records(Source(MadeUp(head, b"a", count, b"\r\n\r\n"), name="head"))
        assert isinstance(record, Record)
        # No head ends within the limit: then it is none, and all of it is payload.
        assert record.http is None
        assert record.payload_size == 20 + count


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.large)])
@pytest.mark.parametrize(
    "make",
    [
        lambda times: b"\x1f\x8b\x08" * (25_000 * times),
        lambda times: b"\x1f\x8b\x08\x08" * (12_500 * times),
        lambda times: member(b"") * (25_000 * times),
        lambda times: member(b"\r\n") * (25_000 * times),
        lambda times: arc()[0] + b"\na:" * (50_000 * times),
        lambda times: b"".join(arc()) + arc()[1] * (2_500 * times),
        lambda times: b"\x28\xb5\x2f\xfd\x00\x50" * (12_500 * times),
        lambda times: b"\x28\xb5\x2f\xfd\x00\x50" + b"\0\0\0" * (25_000 * times),
        lambda times: b"\x52\x2a\x4d\x18\xff\xff\0\0" * (12_500 * times),
    ],
    ids=[
        "gzip-magic",
        "gzip-magic-with-names",
        "empty-members",
        "members-of-line-ends",
        "lines-in-arc",
        "arc-of-many-records",
        "zstd-headers",
        "zstd-empty-blocks",
        "zstd-skippable-over-each-other",
    ],
)
def test_work_is_bounded_for_many(make: Callable[[int], bytes], times: int) -> None:
    check_work(make(times))


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"\nWARC/1.0\na" * 100_000,
        lambda: b"WARC/1.0\r\n" * 100_000,
        lambda: b"\nhttp:" + b"12345678 " * 100_000,
        lambda: (b"\nhttp:" + b"12345678 " * 1000) * 100,
        lambda: member(warc() * 5000),
        lambda: member(warc() * 5000)[:-4],
        lambda: member(warc() * 5000)[:-4] + b"\0\0\0\0" + member(warc()),
        lambda: (member(warc())[:-9] + b"\0" * 9) * 3000,
        lambda: member(warc())[:-12] * 3000,
        lambda: _members_in_members(12),
        lambda: warc(length=10**17) * 300,
        lambda: member(warc(length=10**17)) * 300,
        lambda: member(warc(length=10**17) * 5000),
        lambda: frame(warc() + warc(bytes(MIB), length=5 * MIB) * 20),
        lambda: arc()[0] + LONG_ARC % 10**17 * 1000,
        lambda: arc()[0] + LONG_ARC % 10**5 * 1000,
        lambda: b"".join(map(member, [arc()[0], *[LONG_ARC % 10**17] * 1000])),
        lambda: member(arc()[0] + LONG_ARC % 10**17 * 1000),
        lambda: member(arc()[0] + LONG_ARC % 10**5 * 1000),
        lambda: member(arc()[0] + b"\n" * (5 * MIB) + LONG_ARC % (5 * MIB) * 1000),
        lambda: member(arc()[0] + (LONG_ARC % 10**17).replace(b"HTTP", b"none") * 1000),
        lambda: arc()[0] + ((LONG_ARC % 10**5).replace(b"HTTP", b"none") * 1000),
        lambda: b"x" + (b"\x38\0\0\x28\xb5\x2f\xfd\x00\x50\0") * 20_000,
        lambda: frame(b"") * 20_000,
        lambda: skippable(b"") * 20_000,
        lambda: frame(warc() * 5000),
        lambda: frame(warc() * 5000)[:-4] + bytes(4) + frame(warc()),
        lambda: (frame(warc())[:-4] + bytes(4)) * 3000,
        lambda: frame(warc())[:-12] * 3000,
        lambda: frame(warc(), window_log=24) * 3000,
        lambda: frame(warc(length=10**17)) * 300,
        lambda: dictionary_frame(dictionary(1)) + frame(warc(), dictionary=dictionary(2)) * 3000,
        lambda: frame_of_blocks(*[bytes([byte]) for byte in warc()]) * 20,
        lambda: _frames_in_frames(12),
    ],
    ids=[
        "version-lines",
        "more-version-lines",
        "a-line-of-dates",
        "lines-of-dates",
        "many-records-a-member",
        "many-records-a-damaged-member",
        "many-records-a-member-with-a-wrong-size",
        "wrong-checksums",
        "members-cut-off",
        "members-in-members",
        "lengths-of-a-hundred-petabytes",
        "lengths-of-a-hundred-petabytes-gzip",
        "lengths-of-a-hundred-petabytes-in-a-member",
        "lengths-over-records-of-a-mebibyte-in-a-frame",
        "arc-lengths-of-a-hundred-petabytes",
        "arc-lengths-into-other-records",
        "arc-lengths-of-a-hundred-petabytes-gzip",
        "arc-lengths-of-a-hundred-petabytes-in-a-member",
        "arc-lengths-into-other-records-of-a-member",
        "arc-lengths-too-far-to-keep",
        "arc-lengths-and-no-http-in-a-member",
        "arc-lengths-and-no-http",
        "zstd-headers-in-blocks",
        "zstd-empty-frames",
        "zstd-skippable",
        "zstd-many-records-a-frame",
        "zstd-many-records-a-damaged-frame",
        "zstd-wrong-checksums",
        "zstd-frames-cut-off",
        "zstd-large-windows",
        "zstd-lengths-of-a-hundred-petabytes",
        "zstd-wrong-dictionaries",
        "zstd-blocks-of-a-byte",
        "zstd-frames-in-frames",
    ],
)
def test_work_is_bounded(make: Callable[[], bytes]) -> None:
    check_work(make())


def check_work(data: bytes) -> None:
    """No time is asserted: what bytes are asked for is, times the size of the file."""
    file = Counting(data)
    with bounded_memory():
        for item in iter_records(Source(file, name="slow")):
            assert item.offset <= len(data)
    assert file.given <= 40 * len(data) + 100 * MIB


class Counting(io.BytesIO):
    """A file that counts what it gives."""

    given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.given += len(data)
        return data


def _members_in_members(depth: int) -> bytes:
    """Stored, each in the payload of the next, and all of them cut off."""
    data = b""
    for number in range(depth):
        data = member(warc(HTTP + data + bytes(1000), number=number), level=0)[:-9]
    return data


def _frames_in_frames(depth: int) -> bytes:
    """The same of Zstandard frames."""
    data = b""
    for number in range(depth):
        data = stored_frame(warc(HTTP + data + bytes(1000), number=number))[:-9]
    return data


def test_a_long_line_of_arc_is_no_work() -> None:
    line = b"http://a/ 1.1.1.1 20010101010101 a " + b"12345678 " * 7000 + b"x\n"
    assert match_arc_header(line) is None
    header = match_arc_header(line[:-2] + b"5\n")
    assert header is not None
    assert header.get("Content-Length") == "5"


def test_the_first_bytes_of_a_member_cost_no_more() -> None:
    data = gzip_bomb(b"WARC", 64 * MIB, b"")
    assert first_bytes(source_of(data), 0, 4) == b"WARC"
    assert first_bytes(source_of(b"\x1f\x8b\x08"), 0, 4) == b""
    assert first_bytes(source_of(b"\x1f\x8b\x08\x08" + b"n" * 5000), 0, 4) == b""
    assert next(inflate_member(source_of(data), 0, {}))[:4] == b"WARC"


def test_a_large_block_is_streamed_again_from_any_place() -> None:
    """Larger than is kept in memory, plain and compressed, in shared members and over several."""
    body = bytes(range(256)) * (20 * MIB // 256)
    record = warc(HTTP + body)
    for data in (
        record,
        member(record, level=1),
        member(warc() + record, level=1),
        frame(record),
        frame(warc() + record),
        frame(record[: 9 * MIB]) + frame(record[9 * MIB :]),
    ):
        found = read(data)[-1]
        assert isinstance(found, Record)
        assert found.payload_digest().value == hashlib.sha1(body).digest()
        assert found.payload_digest("md5").value == hashlib.md5(body).digest()
        assert b"".join(map(bytes, found.chunks(len(HTTP) + 7))) == body[7:]


def test_a_large_chunked_block_is_hashed_both_ways() -> None:
    body = b"x" * (5 * MIB)
    coded = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + coded
    for data in (warc(block), member(warc(block), level=1), frame(warc(block))):
        (found,) = read(data)
        assert isinstance(found, Record)
        bare = found.dechunked_digest()
        assert bare is not None
        assert bare.value == hashlib.sha1(body).digest()
        assert found.payload_digest().value == hashlib.sha1(coded).digest()
        assert found.chunks_finished


def test_records_within_a_member_leave_nothing_behind() -> None:
    """Also where the garbage collector comes by seldom, as in our verbs."""
    blocks = (HTTP + b"%07d" % number + bytes(50_000) for number in range(20))
    source = source_of(member(b"".join(map(warc, blocks))))
    records = [r for r in iter_records(source, digests=()) if isinstance(r, Record)]
    places = [(record.offset, record.inner_offset) for record in records]
    assert len(places) == 20
    del records
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        for offset, inner_offset in places * 5:
            assert isinstance(read_record(source, offset, inner_offset=inner_offset), Record)
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert left < MIB
