"""Sizes that a gzip header claims (extra field "sl") are believed only when they are true."""

from __future__ import annotations

import zlib
from struct import pack

import pytest
from archive_builders import HTTP, read, warc

from pinakes.warc.record import Record

RECORDS = [warc(HTTP + b"x" * 5000 * n, number=n) for n in range(4)]


def hinted(data: bytes, *, length: int = 0, size: int = 0, level: int = 9) -> bytes:
    """A member whose header claims its true sizes, each changed by so much."""
    deflater = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflater.compress(data) + deflater.flush()
    trailer = pack("<II", zlib.crc32(data), len(data))
    claim = pack("<II", 24 + len(body) + 8 + length, max(0, len(data) + size) & 0xFFFFFFFF)
    start = b"\x1f\x8b\x08\x04\0\0\0\0\x02\x03" + b"\x0c\0sl\x08\0" + claim
    return start + body + trailer


def seen(data: bytes) -> list[object]:
    return [
        (item.offset, item.length, item.header.raw, b"".join(map(bytes, item.chunks())))
        if isinstance(item, Record)
        else item
        for item in read(data)
    ]


TRUE = b"".join(hinted(record) for record in RECORDS)
LIES = {
    "too short": {"length": -1},
    "much too short": {"length": -100},
    "too long": {"length": 1},
    "over the next member": {"length": len(hinted(RECORDS[2]))},
    "past the end of the file": {"length": 1 << 20},
    "longer than any file": {"length": 1 << 31},
    "smaller inflated": {"size": -1},
    "larger inflated": {"size": 1},
    "nothing inflated": {"size": -(1 << 20)},
    "huge inflated": {"size": 1 << 31},
    "both": {"length": 7, "size": -7},
}


def test_true_sizes_are_read() -> None:
    assert [item[2:] for item in seen(TRUE)] == [
        (r[: r.index(b"\r\n\r\n") + 4], r[r.index(b"\r\n\r\n") + 4 : -4]) for r in RECORDS
    ]


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_changes_nothing(lie: dict[str, int]) -> None:
    parts = [hinted(record, **(lie if n == 1 else {})) for n, record in enumerate(RECORDS)]
    assert seen(b"".join(parts)) == seen(TRUE)


def test_a_second_record_is_not_hidden_by_the_first_ones_claim() -> None:
    """The two are the same, so that the trailer at the claimed end fits the first one, too."""
    length = len(hinted(RECORDS[1]))
    twice = hinted(RECORDS[1], length=length) + hinted(RECORDS[1])
    assert [item[0] for item in seen(twice)] == [0, length]


def test_a_member_that_holds_its_own_size_is_read_as_any_other() -> None:
    """Its size is how its end is known; level 0 stores the content as it is."""
    size = len(warc(HTTP + b"1234" * 2))
    record = warc(HTTP + pack("<II", size, size))
    member = hinted(record, level=0)
    assert member.count(pack("<I", size), 24) > 1
    assert seen(member + TRUE)[1:] == [(item[0] + len(member), *item[1:]) for item in seen(TRUE)]
    assert seen(member)[0][-1] == record[record.index(b"\r\n\r\n") + 4 : -4]


def test_a_wrong_checksum_is_found_where_the_sizes_are_true() -> None:
    broken = bytearray(hinted(RECORDS[1]))
    broken[-8] ^= 1
    codes = [{f.code for f in r.findings} for r in read(bytes(broken) + TRUE)]
    assert codes == [{"crc"}, *(set() for _ in RECORDS)]


@pytest.mark.parametrize("cut", [1, 8, 20])
def test_a_cut_member_is_read_as_any_other(cut: int) -> None:
    assert len(seen(TRUE[:-cut])) == len(RECORDS)
