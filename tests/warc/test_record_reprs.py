"""What a notebook shows of what the reader gives: one line that says what it is."""

from __future__ import annotations

import pytest
from archive_builders import arc_file, gzip_file, member, records_of, source_of, warc

from pinakes.warc.digest import Digest
from pinakes.warc.http.message import HttpHead
from pinakes.warc.record import Record


def test_a_record_and_its_parts() -> None:
    record = records_of(gzip_file())[1]
    assert repr(record) == (
        f"<Record 1 at {record.offset}: response http://example.org/1 2020-01-02T03:04:05Z>"
    )
    assert repr(record.header) == "<Header WARC/1.1 response, 6 fields>"
    assert repr(record.http) == "<HttpHead HTTP/1.1 200 OK, text/html>"
    assert repr(record.payload_digest()) == f"<Digest {record.payload_digest()}>"


def test_a_source() -> None:
    data = gzip_file()
    assert repr(source_of(data, "a.warc.gz")) == f"<Source a.warc.gz: {len(data)} bytes>"


def test_an_arc_record() -> None:
    record = records_of(arc_file())[1]
    assert repr(record).startswith("<Record 1 at ")
    assert record.date_text is not None
    assert record.date_text in repr(record)
    assert repr(record.header).startswith("<Header ARC/1")


@pytest.mark.parametrize("digest", [Digest("sha256", bytes(32)), Digest("sha1", b"")])
def test_a_digest(digest: Digest) -> None:
    assert repr(digest) == f"<Digest {digest}>"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(warc().replace(b"WARC-Target-URI: ", b"WARC-Target-URI: \x1b[2J"), id="uri"),
        pytest.param(warc().replace(b"2020-01-02T", b"2020\r\n \xff\x07"), id="date"),
        pytest.param(warc(record_type="\x1b]0;x\x07"), id="type"),
        pytest.param(warc(b"HTTP/1.1 200 \x1b[2J\xff" + b"x" * 999 + b"\n\n"), id="status line"),
    ],
)
def test_nothing_of_a_file_moves_the_cursor(record: bytes) -> None:
    [found] = records_of(member(record))
    assert isinstance(found, Record)
    for text in (repr(found), repr(found.header), repr(found.http), repr(HttpHead(b""))):
        assert text.isprintable()
        assert len(text) < 200
