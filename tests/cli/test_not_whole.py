"""Records that are not whole, or may hide others in their member: listed, and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from archive_builders import HTTP, dictionary, dictionary_frame, frame, member, warc

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit

RECORDS = [warc(number=n, block=HTTP + bytes([65 + n]) * 500) for n in range(3)]
DICTIONARIES = dictionary(1), dictionary(2)


def flipped(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def of_another_dictionary() -> bytes:
    own, other = DICTIONARIES
    frames = [frame(record, dictionary=own) for record in RECORDS]
    frames[1] = frame(RECORDS[1], dictionary=other)
    return dictionary_frame(own) + b"".join(frames)


def with_second(made: Callable[[bytes], bytes], at: int) -> bytes:
    members = [made(record) for record in RECORDS]
    members[1] = flipped(members[1], at)
    return b"".join(members)


def odd_second(made: Callable[[bytes], bytes], second: bytes) -> bytes:
    return b"".join(map(made, [RECORDS[0], second, RECORDS[2]]))


# Of an archive file that was captured, and 9 bytes more are promised.
CAPTURED = HTTP + b"".join(RECORDS)
LONGER = warc(number=1, block=CAPTURED, length=len(CAPTURED) + 9)
DAMAGED = {
    "gzip-checksum": ("a.warc.gz", with_second(member, -5)),
    "zstd-checksum": ("a.warc.zst", with_second(frame, -1)),
    "zstd-size": ("a.warc.zst", with_second(frame, 5)),
    "zstd-size-without-checksum": (
        "a.warc.zst",
        with_second(lambda record: frame(record, checksum=False), 5),
    ),
    "zstd-dictionary": ("a.warc.zst", of_another_dictionary()),
    "gzip-bytes-in-no-record": ("a.warc.gz", odd_second(member, RECORDS[1] + b"and more")),
    "zstd-bytes-in-no-record": ("a.warc.zst", odd_second(frame, RECORDS[1] + b"and more")),
    "gzip-records-in-a-block": ("a.warc.gz", odd_second(member, LONGER)),
    "zstd-records-in-a-block": ("a.warc.zst", odd_second(frame, LONGER)),
}


@pytest.fixture(params=DAMAGED.values(), ids=DAMAGED)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name, data = request.param
    made = tmp_path / name
    made.write_bytes(data)
    return made


@pytest.mark.parametrize(
    "verb",
    ["ls", "ls --stats", "ls --fields offset", "manifest", "manifest --records", "cdx", "dedupe"],
)
def test_it_is_named_and_the_verb_ends_with_3(
    verb: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["-o", str(tmp_path / "out")] if verb == "dedupe" else []
    assert main([*verb.split(), str(path), *more]) == Exit.SOME_FAILED
    said = capsys.readouterr().err
    assert said.count(f"{path.name}:") == 1
    ways = ("not whole", "bytes left out", "take no part", "no record is read there")
    assert any(way in said for way in ways)


def test_a_whole_one_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(b"".join(map(frame, RECORDS)))
    for verb in ("ls", "manifest", "cdx"):
        assert main([verb, str(path)]) == Exit.DONE
        assert capsys.readouterr().err == ""
