"""Writing records: what is written is read back, and twice the same."""

from __future__ import annotations

import gzip
import io
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.write import (
    compress_member,
    format_header,
    gzip_member,
    name_record,
    record_pieces,
)

FIELDS = [
    ("WARC-Type", "metadata"),
    ("WARC-Record-ID", "<urn:uuid:00000000-0000-5000-8000-000000000000>"),
    ("WARC-Date", "2026-11-21T10:00:00Z"),
    ("Content-Length", "5"),
]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The same bytes in pieces."""
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(ends)]


def read_all(data: bytes) -> list[Record]:
    items = list(iter_records(Source(io.BytesIO(data), name="t")))
    assert all(isinstance(item, Record) for item in items)
    return items  # type: ignore[return-value]


class TestHeader:
    def test_it_is_what_the_standard_draws(self) -> None:
        assert format_header([("WARC-Type", "warcinfo"), ("X", "é")]) == (
            b"WARC/1.1\r\nWARC-Type: warcinfo\r\nX: \xc3\xa9\r\n\r\n"
        )

    def test_another_version_can_be_asked_for(self) -> None:
        assert format_header([], version="WARC/1.0") == b"WARC/1.0\r\n\r\n"

    def test_bytes_that_are_no_utf8_come_out_as_they_went_in(self) -> None:
        value = b"\xff\xfe".decode("utf-8", "surrogateescape")
        assert b"X: \xff\xfe\r\n" in format_header([("X", value)])

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("X", "a\r\nWARC-Type: response"),
            ("X", "a\nb"),
            ("X", "a\rb"),
            ("X", "a\0b"),
            ("X", "a\x7fb"),
            ("X Y", "a"),
            ("X:", "a"),
            ("", "a"),
            ("Ü", "a"),
        ],
    )
    def test_nothing_smuggles_a_line_into_it(self, name: str, value: str) -> None:
        with pytest.raises(ValueError, match="not a header field"):
            format_header([(name, value)])


class TestMember:
    @given(st.binary(max_size=3000), st.lists(st.integers(min_value=0), max_size=8))
    def test_pieces_leave_no_trace(self, data: bytes, places: list[int]) -> None:
        member = b"".join(gzip_member(cut(data, places)))
        assert member == compress_member(data)
        assert gzip.decompress(member) == data

    def test_pieces_leave_no_trace_in_what_spans_windows(self) -> None:
        data = b"".join(b"%d %d\n" % (n, n * n % 1009) for n in range(200_000))
        whole = compress_member(data)
        for size in (1000, 65536, 1 << 20):
            pieces = [data[at : at + size] for at in range(0, len(data), size)]
            assert b"".join(gzip_member(pieces)) == whole

    def test_it_has_no_name_no_time_and_no_system(self) -> None:
        assert compress_member(b"x")[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"

    def test_it_is_lazy(self) -> None:
        taken = []

        def pieces() -> object:
            for number in range(64):
                taken.append(number)
                yield random.Random(number).randbytes(1 << 16)

        member = gzip_member(pieces())  # type: ignore[arg-type]
        next(member)
        assert not taken
        next(member)
        assert 0 < len(taken) < 64

    def test_level_is_the_callers(self) -> None:
        data = b"abcdefgh" * 4000
        assert len(compress_member(data, level=1)) >= len(compress_member(data, level=9))
        assert gzip.decompress(compress_member(data, level=0)) == data


class TestRecord:
    @pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
    def test_two_readers_read_it_back(self, compressed: bool) -> None:
        pieces = record_pieces(format_header(FIELDS), [b"he", memoryview(b"llo")])
        data = b"".join(gzip_member(pieces) if compressed else pieces)
        data *= 2
        ours = read_all(data)
        assert [b"".join(record.chunks()) for record in ours] == [b"hello"] * 2
        assert [record.findings for record in ours] == [(), ()]
        assert [r.content_stream().read() for r in ArchiveIterator(io.BytesIO(data))] == [
            b"hello"
        ] * 2


class TestName:
    def test_it_depends_on_every_part_and_on_nothing_else(self) -> None:
        assert name_record("a", "1", "c") == name_record("a", "1", "c")
        assert len({name_record("a", "1"), name_record("a1"), name_record("1", "a")}) == 3

    def test_it_stays_what_it_was(self) -> None:
        """Ids in archives that were written once must come out of every later version."""
        assert name_record("a", "1") == "<urn:uuid:9506949e-9413-525e-b837-b8f278bc11c5>"

    def test_parts_cannot_run_into_each_other(self) -> None:
        with pytest.raises(ValueError, match="NUL"):
            name_record("a\0b")
