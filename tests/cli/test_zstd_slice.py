"""`pinakes zstd slice`: a record's bytes by its place, in every compression."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_builders import (
    dictionary,
    dictionary_frame,
    frame,
    gzip_file,
    records_of,
    skippable,
    three,
    zstd_file,
)

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

FILES = {
    "gzip": gzip_file(),
    "zstd": zstd_file(known=None),
    "dictionary": zstd_file(),
    "compressed-dictionary": zstd_file(compressed=True),
    "several-frames-a-record": b"".join(frame(r[:99]) + frame(r[99:]) for r in three()),
    "other-skippable-frames": b"".join(frame(r) + skippable(b"\r\n") for r in three()),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_every_record_is_sliced_by_its_offset_and_length(
    data: bytes, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    sliced = []
    for record in records_of(data):
        place = [str(record.offset), str(record.length)]
        assert main(["zstd", "slice", str(path), *place]) == Exit.DONE
        sliced.append(capfdbinary.readouterr().out)
    assert sliced == three()


def test_an_uncompressed_record_is_without_the_line_ends_that_close_it(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(three()))
    second = records_of(path.read_bytes())[1]
    assert main(["zstd", "slice", str(path), str(second.offset), str(second.length)]) == Exit.DONE
    assert capfdbinary.readouterr().out + b"\r\n\r\n" == three()[1]
    with_ends = [str(second.offset), str(second.length + 4)]  # as other indexes have it
    assert main(["zstd", "slice", str(path), *with_ends]) == Exit.DONE
    assert capfdbinary.readouterr().out == three()[1]


DATA = zstd_file()
FIRST = records_of(DATA)[0]
DAMAGED = bytearray(DATA)
DAMAGED[FIRST.offset + FIRST.length - 1] ^= 1
PLAIN = b"".join(three())
PLAIN_FIRST = records_of(PLAIN)[0].length


@pytest.mark.parametrize(
    ("data", "offset", "length", "said"),
    [
        (DATA, 0, FIRST.offset, "no record begins here"),
        (DATA, FIRST.offset + 1, FIRST.length, "no record begins here"),
        (DATA, len(DATA), 1, f"wrong length: the file ends at {len(DATA)}"),
        (DATA, FIRST.offset, FIRST.length - 1, "wrong length: its Zstandard frame ends at"),
        (DATA, FIRST.offset, FIRST.length + 1, "wrong length: its Zstandard frame ends at"),
        (DATA, FIRST.offset, len(DATA), f"wrong length: the file ends at {len(DATA)}"),
        (PLAIN, 0, PLAIN_FIRST - 1, f"wrong length: its record ends at {PLAIN_FIRST}"),
        (PLAIN, 0, PLAIN_FIRST + 5, "wrong length: its record ends at"),
        (PLAIN, 1, PLAIN_FIRST, "no record begins here"),
        (three()[0], 0, 9999, f"wrong length: the file ends at {len(three()[0])}"),
        (bytes(DAMAGED), FIRST.offset, FIRST.length, "checksum does not fit"),
        (
            dictionary_frame(dictionary(2)) + DATA[FIRST.offset :],
            len(dictionary_frame(dictionary(2))),
            FIRST.length,
            "compressed with the Zstandard dictionary 1, but that of the file is 2",
        ),
    ],
    ids=[
        "the-dictionary",
        "inside-a-frame",
        "behind-the-end",
        "too-short",
        "too-long",
        "longer-than-the-file",
        "shorter-than-an-uncompressed-record",
        "longer-than-an-uncompressed-record",
        "inside-an-uncompressed-record",
        "longer-than-an-uncompressed-file",
        "damaged",
        "the-dictionary-of-another-file",
    ],
)
def test_a_wrong_place_is_refused(
    data: bytes,
    offset: int,
    length: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(data)
    code = main(["zstd", "slice", str(path), str(offset), str(length)])
    assert code == Exit.SOME_FAILED
    assert said in capsys.readouterr().err
