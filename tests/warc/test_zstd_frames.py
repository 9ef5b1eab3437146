"""Zstandard files: their dictionary, frames that are refused, damage, and what is in memory."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from archive_builders import (
    HTTP,
    dictionary,
    dictionary_frame,
    frame,
    frame_of_blocks,
    gzip_file,
    records_of,
    skippable,
    source_of,
    stored_frame,
    three,
    warc,
    zstd_file,
)
from fastwarc.warc import ArchiveIterator as FastArchiveIterator
from invariants import check_source, facts

from pinakes.warc.compression.members import first_bytes
from pinakes.warc.compression.zstd_format import LIMIT_BYTES
from pinakes.warc.reader import read_record
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

MIB = 1 << 20
A, B, C = warc(number=1), warc(number=2), warc(number=3)


def reasons(data: bytes) -> list[tuple[int, int, str]]:
    items = check_source(source_of(data))
    return [(i.offset, i.end, i.reason) for i in items if isinstance(i, DamagedStretch)]


def numbers(data: bytes) -> str:
    records = [item for item in check_source(source_of(data)) if isinstance(item, Record)]
    return "".join((record.target_uri or "?")[-1] for record in records)


def contents(data: bytes) -> list[tuple[object, ...]]:
    """What records are, wherever they lie."""
    return [(*facts(record)[4:17],) for record in records_of(data)]


@pytest.mark.parametrize(
    "data",
    [
        zstd_file(known=None),
        zstd_file(),
        zstd_file(compressed=True),
        zstd_file(known=b"WARC-Type: response\r\nWARC-Target-URI: http://example.org/" * 9),
        b"".join(frame(record, size=False, checksum=False) for record in three()),
        b"".join(frame_of_blocks(record[:9], b"", record[9:]) for record in three()),
        b"".join(frame(record[:99]) + frame(record[99:]) for record in three()),
        b"".join(frame(record) + skippable(b"\r\n") for record in three()),
        skippable(b"") + zstd_file(known=None),
        frame(b"") + skippable(B) + zstd_file(known=None),
        frame(b"".join(three())),
        b"".join(frame(record, level=19) for record in three()),
        b"".join(frame(record, level=-50) for record in three()),
    ],
    ids=[
        "plain",
        "dictionary",
        "compressed-dictionary",
        "raw-content-as-dictionary",
        "no-size-no-checksum",
        "empty-block",
        "several-frames-a-record",
        "skippable-between",
        "skippable-first",
        "empty-frame-first",
        "several-records-a-frame",
        "level-19",
        "level-minus-50",
    ],
)
def test_the_same_records_as_in_gzip(data: bytes) -> None:
    assert contents(data) == contents(gzip_file())
    check_source(source_of(data))


@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "compressed"])
def test_a_record_is_read_alone_with_the_dictionary_of_its_file(compressed: bool) -> None:
    data = zstd_file(compressed=compressed)
    for record in records_of(data):
        alone = read_record(source_of(data), record.offset)
        assert isinstance(alone, Record)
        assert facts(alone)[1:] == facts(record)[1:]


class Asked(io.BytesIO):
    """A file that notes what is read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.places: list[int] = []

    def read(self, size: int | None = -1, /) -> bytes:
        self.places.append(self.tell())
        return super().read(size)


def test_the_dictionary_is_read_once_for_many_records() -> None:
    filling = skippable(random.Random(1).randbytes(1 << 17))
    data = zstd_file() + filling + frame(A, dictionary=dictionary())
    file = Asked(data)
    source = Source(file, name="asked", window_bytes=1 << 12)
    far = len(data) - len(frame(A, dictionary=dictionary()))
    for _ in range(20):
        record = read_record(source, far)
        assert isinstance(record, Record)
        assert record.target_uri == "http://example.org/1"
        assert isinstance(read_record(source, far - len(filling)), Record)
    assert [place for place in file.places if place < far - len(filling)] == [0]


OTHER = frame(A, dictionary=dictionary(2))


@pytest.mark.parametrize(
    ("data", "uris", "why"),
    [
        (
            dictionary_frame(dictionary()) + OTHER + frame(B, dictionary=dictionary()),
            "2",
            "compressed with the Zstandard dictionary 2, but that of the file is 1",
        ),
        (
            frame(C) + OTHER + frame(B),
            "32",
            "compressed with the Zstandard dictionary 2, but the file has none",
        ),
        (frame(C) + dictionary_frame(dictionary(2)) + OTHER, "3", "the file has none"),
        (dictionary_frame(b"raw" * 9) + OTHER + frame(B), "2", "that of the file has no id"),
        (zstd_file() + zstd_file(known=dictionary(2)), "012", "that of the file is 1"),
        (
            frame(C) + frame(A, window_log=24) + frame(B),
            "32",
            "16777216 bytes: more than 8388608 are not read (warc-zstd 1.0 §5)",
        ),
        (frame(C) + frame(A, window_log=23) + frame(B), "312", ""),
        (
            dictionary_frame(dictionary() + bytes(9 * MIB)) + frame(A),
            "",
            "more than 8388608 are not read (warc-zstd 1.0 §5)",
        ),
        (
            dictionary_frame(dictionary() + bytes(9 * MIB), compressed=True) + frame(A),
            "",
            "decompressed, more than 8388608 are not read (warc-zstd 1.0 §5)",
        ),
        (
            skippable(frame(dictionary(), window_log=24), number=13) + frame(A),
            "",
            "a Zstandard window of 16777216 bytes",
        ),
        (
            skippable(frame(dictionary())[:-9], number=13) + frame(A),
            "",
            "the Zstandard dictionary is not read",
        ),
        (
            skippable(frame(dictionary()) * 2, number=13) + frame(A),
            "",
            "the Zstandard dictionary is not one frame (warc-zstd 1.0 §4.2.1)",
        ),
        (skippable(b"", number=13) + frame(A), "", "is empty"),
        (
            dictionary_frame(b"\x37\xa4\x30\xec" + bytes(90)) + frame(A),
            "",
            "the Zstandard dictionary is damaged",
        ),
        (zstd_file()[:100], "", "the file ends inside its Zstandard dictionary"),
        (frame(A) + skippable(b"x" * 9)[:-1], "1", "a skippable frame that no frame follows"),
        (gzip_file() + skippable(B), "012", "a skippable frame in a file that is not Zstandard"),
        (frame(frame(A)), "", "this is a Zstandard frame within another: not read here"),
    ],
    ids=[
        "another-dictionary",
        "no-dictionary",
        "a-dictionary-later",
        "raw-content",
        "files-put-together",
        "window-of-16-mib",
        "window-of-8-mib",
        "dictionary-of-9-mib",
        "dictionary-of-9-mib-compressed",
        "dictionary-with-a-window-of-16-mib",
        "dictionary-cut-off",
        "dictionary-of-two-frames",
        "dictionary-of-nothing",
        "dictionary-damaged",
        "dictionary-truncated",
        "skippable-cut-off",
        "skippable-in-gzip",
        "frame-in-a-frame",
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, uris: str, why: str) -> None:
    assert numbers(data) == uris
    found = reasons(data)
    assert [why in reason for _, _, reason in found] == [True] * bool(why), found


def test_a_dictionary_of_8_mib_is_read() -> None:
    known = dictionary() + random.Random(1).randbytes(LIMIT_BYTES - len(dictionary()))
    assert numbers(dictionary_frame(known) + frame(A, dictionary=known)) == "1"


def claiming(data: bytes, claim: int) -> bytes:
    """A frame that declares another size, in eight bytes; its window is 1 MiB."""
    whole = frame(data)
    body = whole[zstandard.frame_header_size(whole) :]
    return b"\x28\xb5\x2f\xfd\xc4\x50" + claim.to_bytes(8, "little") + body


@pytest.mark.parametrize("claim", [0, 1, len(A) - 1])
def test_more_in_a_frame_than_it_declares_is_damage(claim: int) -> None:
    """The reference library does not decompress it either."""
    lying = claiming(A, claim)
    assert numbers(lying + frame(B)) == "2"
    assert [(start, end) for start, end, _ in reasons(lying + frame(B))] == [(0, len(lying))]


@pytest.mark.parametrize("claim", [len(A) + 1, 1 << 17, 1 << 22, 1 << 31, 1 << 60])
def test_less_in_a_frame_than_it_declares_is_read(claim: int) -> None:
    """All of it is given, with the finding, and so is the next record."""
    first, second = check_source(source_of(claiming(A, claim) + frame(B)))
    assert isinstance(first, Record)
    assert [finding.code for finding in first.findings] == ["crc"]
    assert f"declares {claim}" in first.findings[0].message
    assert b"".join(map(bytes, first.chunks())) == HTTP + b"hello"
    assert not second.findings


NESTED = b"".join(frame(warc(HTTP + bytes([n]) * 40, number=n)) for n in range(3))


@pytest.mark.parametrize(
    ("data", "uris", "stretches"),
    [
        (stored_frame(NESTED), "", 1),
        (frame(A) + stored_frame(NESTED) + frame(B), "12", 1),
        (frame(A) + b"rubbish" + stored_frame(NESTED) + frame(B), "12", 1),
        (frame(A) + skippable(NESTED) + frame(B), "12", 0),
        (frame(A) + b"rubbish" + skippable(NESTED) + frame(B), "12", 1),
        (frame(A)[:-30] + stored_frame(b"text" + NESTED) + frame(B), "2", 1),
        (stored_frame(warc(HTTP + NESTED, number=7))[:-30], "7", 0),
        (frame(A) + OTHER[:5] + b"\x02" + OTHER[6:] + stored_frame(NESTED) + frame(B), "12", 1),
    ],
    ids=[
        "alone",
        "between-records",
        "behind-rubbish",
        "skippable",
        "skippable-behind-rubbish",
        "behind-a-cut-frame",
        "in-a-record-that-is-cut-off",
        "behind-a-frame-that-is-refused",
    ],
)
def test_frames_inside_a_frame_are_no_records(data: bytes, uris: str, stretches: int) -> None:
    assert numbers(data) == uris
    assert len(reasons(data)) == stretches


def test_blocks_before_the_damage_are_read() -> None:
    """Three blocks, the second damaged: the first is given, the next record is read."""
    parts = [warc(HTTP, length=len(HTTP) + 3000, end=b""), bytes(range(256)) * 9, bytes(696)]
    whole = frame_of_blocks(*parts, b"\r\n\r\n")
    # Without the empty block and the checksum that end the shorter one.
    at = len(frame_of_blocks(parts[0])) - 7 + 3
    hurt = whole[:at] + b"\xff" * 40 + whole[at + 40 :]
    first, second = check_source(source_of(hurt + frame(B)))
    assert isinstance(first, Record)
    assert first.findings[0].code == "damaged"
    assert first.length == len(whole)
    assert not second.findings


def test_raw_bytes_before_the_end_of_a_file_are_read() -> None:
    cut = stored_frame(warc(HTTP + b"hello" * 100))[:-200]
    (record,) = check_source(source_of(cut))
    assert isinstance(record, Record)
    assert record.block_size == len(HTTP) + 500 - 196
    assert {finding.code for finding in record.findings} == {"truncated"}


def test_a_frame_that_ends_in_no_frame_is_searched_behind_its_start() -> None:
    """What a damaged block header says of the frame's end is not believed."""
    first = bytearray(frame(A))
    first[zstandard.frame_header_size(bytes(first))] ^= 0x40
    assert numbers(bytes(first) + frame(B) + frame(C)) == "23"


@pytest.mark.parametrize(
    "make",
    [
        lambda: zstd_file(known=None),
        zstd_file,
        lambda: zstd_file(compressed=True),
        lambda: b"".join(frame(record[:99]) + frame(record[99:]) for record in three()),
    ],
    ids=["plain", "dictionary", "compressed-dictionary", "several-frames-a-record"],
)
def test_as_fastwarc_reads_it(make: Callable[[], bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(make())
    with path.open("rb") as file:
        theirs = [
            (record.headers["WARC-Type"], record.reader.read())
            for record in FastArchiveIterator(file, parse_http=False)
        ]
    ours = [(record.type, b"".join(map(bytes, record.chunks()))) for record in records_of(make())]
    assert ours == theirs
    assert len(ours) == 3


def test_what_fastwarc_writes_is_read(tmp_path: Path) -> None:
    """It does not declare the size of what is in a frame."""
    old, new = tmp_path / "a.warc.gz", tmp_path / "a.warc.zst"
    old.write_bytes(gzip_file())
    tool = Path(sys.executable).with_name("fastwarc")
    subprocess.run([tool, "recompress", "-q", "-c", "zstd", old, new], check=True)
    data = new.read_bytes()
    assert {record.header.get("WARC-Type") for record in records_of(data)} == {
        record.header.get("WARC-Type") for record in records_of(gzip_file())
    }
    assert [bytes(b"".join(r.chunks())) for r in records_of(data)] == [
        bytes(b"".join(r.chunks())) for r in records_of(gzip_file())
    ]
    check_source(source_of(data))


def test_a_file_that_was_compressed_as_a_whole_is_read() -> None:
    """As `zstd` compresses what it is given through a pipe."""
    whole = io.BytesIO()
    zstandard.ZstdCompressor().copy_stream(io.BytesIO(b"".join(three())), whole)
    found = check_source(source_of(whole.getvalue()))
    assert [item.inner_offset for item in found if isinstance(item, Record)] == [
        sum(map(len, three()[:number])) for number in range(3)
    ]


def test_what_may_be_a_frame_costs_no_more_than_its_first_blocks() -> None:
    assert first_bytes(source_of(frame(A)), 0, 4) == b"WARC"
    assert first_bytes(source_of(frame_of_blocks(b"W", b"ARC")), 0, 4) == b"WARC"
    assert first_bytes(source_of(frame(A)[:8]), 0, 4) == b""
    assert first_bytes(source_of(skippable(A)), 0, 4) == b""
    empty_blocks = b"\x28\xb5\x2f\xfd\x00\x50" + b"\0\0\0" * 1_000_000
    file = Asked(empty_blocks)
    assert first_bytes(Source(file, name="blocks", window_bytes=64), 0, 4) == b""
    assert max(file.places) < 200


_MEASURED = """
import pathlib, re, sys
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
def most():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
before = most()
with open_source(sys.argv[1]) as source:
    print(sum(record.payload_size for record in iter_records(source)))
print(most() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True], ids=["raw", "compressed"])
def test_memory_is_bounded_with_the_largest_dictionary_and_window(
    compressed: bool, tmp_path: Path
) -> None:
    """Of the whole process, since the library's memory is not Python's: 1 GiB is read."""
    noise = random.Random(1).randbytes(LIMIT_BYTES - len(dictionary()) - 4096)
    known, zeros = dictionary() + noise, 1 << 30
    shape = zstandard.ZstdCompressionParameters.from_level(1, window_log=23, write_checksum=True)
    shared = zstandard.ZstdCompressionDict(known)
    compressor = zstandard.ZstdCompressor(compression_params=shape, dict_data=shared)
    head = warc(HTTP, length=len(HTTP) + zeros, end=b"")
    stream = compressor.compressobj(size=len(head) + zeros + 4)
    path = tmp_path / "a.warc.zst"
    with path.open("wb") as out:
        out.write(dictionary_frame(known, compressed=compressed))
        out.write(stream.compress(head))
        for _ in range(zeros // MIB):
            out.write(stream.compress(bytes(MIB)))
        out.write(stream.compress(b"\r\n\r\n") + stream.flush())
        for number in range(50):
            out.write(compressor.compress(warc(HTTP, number=number)))
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, path], check=True, capture_output=True, text=True
    )
    size, more_kib = map(int, done.stdout.split())
    assert size == zeros
    # Four times the limit is held at least: the dictionary compressed, decompressed and in the
    # decompressor, and a window.
    assert more_kib << 10 < 8 * LIMIT_BYTES
