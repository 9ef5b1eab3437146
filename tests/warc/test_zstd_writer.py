"""Frames that we write: what the standard asks of each, the same bytes again, read by others."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import tracemalloc
from collections.abc import Iterator

import pytest
import zstandard
from archive_builders import (
    HTTP,
    dictionary,
    records_of,
    skippable,
    source_of,
    three,
    warc,
    zstd_file,
)
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.warc.compression.zstd_dictionary import dictionary_in
from pinakes.warc.compression.zstd_faults import iter_frame_faults, iter_start_faults
from pinakes.warc.compression.zstd_format import LIMIT_BYTES, frame_header
from pinakes.warc.compression.zstd_writer import LEVELS, FrameWriter, dictionary_frame
from pinakes.warc.source import IN_MEMORY_BYTES

MIB = 1 << 20
KNOWN = zstandard.ZstdCompressionDict(dictionary())
# As is, since it does not get smaller; and as a frame.
RANDOM = random.Random(2).randbytes(MIB)
SAMPLES = [warc(HTTP + RANDOM[n * 900 : n * 900 + 2000], number=n) for n in range(900)]
INCOMPRESSIBLE = zstandard.train_dictionary(200_000, SAMPLES, dict_id=7, level=3)
dictionaries = pytest.mark.parametrize(
    "known", [None, KNOWN, INCOMPRESSIBLE], ids=["none", "compressed", "raw"]
)


def long_text(size: int) -> bytes:
    line = b"<p>%d %d %d\n"
    lines = (line % (n, n * n % 97, n * n * n % 10007) for n in range(size // 10 + 1))
    return b"".join(lines)[:size]


def file_of(records: list[bytes], level: int, known: zstandard.ZstdCompressionDict | None) -> bytes:
    writer = FrameWriter(level, known)
    start = b"" if known is None else dictionary_frame(known)
    return start + b"".join(map(writer.frame, records))


@pytest.mark.parametrize("level", LEVELS)
@dictionaries
def test_frames_have_all_that_the_standard_asks_for(
    level: int, known: zstandard.ZstdCompressionDict | None
) -> None:
    data = file_of(three(), level, known)
    source = source_of(data)
    assert list(iter_start_faults(source)) == []
    assert list(iter_frame_faults(source, 0, len(data))) == []
    records = records_of(data)
    assert [record.findings for record in records] == [()] * 3
    headers = [frame_header(source, record.offset) for record in records]
    assert [header.content_size for header in headers] == list(map(len, three()))
    assert {header.dictionary_id for header in headers} == {known.dict_id() if known else 0}


@pytest.mark.parametrize("level", [1, 19, 20, 22])
@pytest.mark.parametrize("known", [None, KNOWN], ids=["none", "dictionary"])
def test_no_window_is_larger_than_readers_have_to_take(
    level: int, known: zstandard.ZstdCompressionDict | None
) -> None:
    writer = FrameWriter(level, known)
    for size in (IN_MEMORY_BYTES, 9 * MIB):
        content = bytes(size)
        frame = writer.frame(content)
        header = frame_header(source_of(frame), 0)
        assert header.window_bytes <= LIMIT_BYTES
        assert (header.content_size, header.has_checksum) == (size, True)
        decompressor = zstandard.ZstdDecompressor(dict_data=known, max_window_size=LIMIT_BYTES)
        assert decompressor.decompress(frame) == content


@pytest.mark.parametrize("size", [0, 1, IN_MEMORY_BYTES, IN_MEMORY_BYTES + 1, 6 * MIB])
@pytest.mark.parametrize("step", [999, 1 << 17, MIB])
def test_a_frame_does_not_depend_on_the_pieces(size: int, step: int) -> None:
    content = long_text(size)
    pieces = (content[at : at + step] for at in range(0, size, step))
    written = b"".join(FrameWriter(3).frame_pieces(size, pieces))
    assert written == FrameWriter(3).frame(content)
    assert zstandard.ZstdDecompressor().decompress(written) == content


@given(st.lists(st.binary(max_size=300), max_size=9))
def test_a_writer_that_has_written_writes_as_a_new_one(contents: list[bytes]) -> None:
    writer = FrameWriter(5, KNOWN)
    assert [writer.frame(c) for c in contents] == [FrameWriter(5, KNOWN).frame(c) for c in contents]


@pytest.mark.parametrize("size", [5, IN_MEMORY_BYTES + 5])
@pytest.mark.parametrize("off", [-1, 1])
def test_pieces_of_another_size_are_refused(size: int, off: int) -> None:
    with pytest.raises(MalformedRecord, match="not as long"):
        list(FrameWriter(1).frame_pieces(size, [bytes(size + off)]))


def test_a_large_record_takes_the_memory_of_a_window() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(64):
            yield bytes(MIB)

    tracemalloc.start()
    try:
        written = sum(map(len, FrameWriter(1).frame_pieces(64 * MIB, pieces())))
        assert 0 < written < MIB
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [100, MIB, 5 * MIB])
@pytest.mark.parametrize("level", [3, 9])
def test_what_is_compressed_already_grows_by_heads_alone(size: int, level: int) -> None:
    content = random.Random(1).randbytes(size)
    blocks = size // (1 << 17) + 1
    assert len(FrameWriter(level).frame(content)) <= size + 18 + 4 + 3 * blocks


def test_the_dictionary_is_stored_in_the_smaller_form() -> None:
    raw, compressed = dictionary_frame(INCOMPRESSIBLE), dictionary_frame(KNOWN)
    assert raw == skippable(INCOMPRESSIBLE.as_bytes(), number=13)
    assert compressed[8:12] == b"\x28\xb5\x2f\xfd"
    assert len(compressed) < len(KNOWN.as_bytes())
    for data in (raw, compressed):
        assert dictionary_in(source_of(data)).dict_id() in (1, 7)


def test_a_dictionary_is_read_as_a_file_of_its_own_or_of_an_archive_file() -> None:
    for data in (dictionary(), zstd_file(), zstd_file(compressed=True)):
        assert dictionary_in(source_of(data)).as_bytes() == dictionary()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a Zstandard dictionary with an id"),
        (b"some words", "not a Zstandard dictionary with an id"),
        (zstd_file(known=None), "not a Zstandard dictionary with an id"),
        (zstd_file(known=b"raw content" * 9), "not a Zstandard dictionary with an id"),
        (dictionary()[:40], "the Zstandard dictionary is damaged"),
        (dictionary() + bytes(LIMIT_BYTES), "more than 8388608 are not read"),
    ],
    ids=["empty", "text", "file-without", "raw-content", "cut", "large"],
)
def test_what_is_no_dictionary_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        dictionary_in(source_of(data))


def test_a_dictionary_that_readers_need_not_take_is_not_written() -> None:
    for content, said in ((b"raw" * 99, "no id"), (dictionary() + bytes(LIMIT_BYTES), "at most")):
        with pytest.raises(ConfigError, match=said):
            dictionary_frame(zstandard.ZstdCompressionDict(content))


@pytest.mark.parametrize("level", [0, 23, -1])
def test_a_level_that_does_not_exist_is_refused(level: int) -> None:
    with pytest.raises(ConfigError, match="from 1 to 22"):
        FrameWriter(level)


@pytest.mark.parametrize("level", [1, 9])
@dictionaries
def test_fastwarc_reads_what_we_write(
    level: int, known: zstandard.ZstdCompressionDict | None
) -> None:
    records = [*three(), warc(HTTP + long_text(5 * MIB), number=5)]
    file = io.BytesIO(file_of(records, level, known))
    read = [
        (record.record_id, record.reader.read())
        for record in FastArchiveIterator(file, parse_http=False)
    ]
    assert [body for _, body in read] == [r.partition(b"\r\n\r\n")[2][:-4] for r in records]
    assert read[1][0] == "<urn:uuid:00000000-0000-4000-8000-000000000001>"


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
@pytest.mark.parametrize("level", [1, 3, 9, 22])
def test_the_zstd_command_reads_what_needs_no_dictionary(level: int) -> None:
    records = [*three(), warc(HTTP + bytes(9 * MIB), number=5)]
    # With the memory that the standard allows, and no more.
    command = ["zstd", "-d", "-c", f"--memory={LIMIT_BYTES}"]
    done = subprocess.run(
        command, input=file_of(records, level, None), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"".join(records)
