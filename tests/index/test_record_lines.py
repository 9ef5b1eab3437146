"""The `--records` manifest."""

from __future__ import annotations

import hashlib
import io

from pinakes.index.manifest_file import (
    RecordLine,
    format_record_line,
    iter_record_lines,
)
from pinakes.warc.reader import iter_records
from pinakes.warc.source import Source

ID = "<urn:uuid:00000000-0000-4000-8000-000000000001>"


def record(record_type: str, block: bytes) -> bytes:
    head = f"WARC/1.1\r\nWARC-Type: {record_type}\r\nWARC-Record-ID: {ID}\r\n"
    return (head + f"Content-Length: {len(block)}\r\n\r\n").encode() + block


def test_a_line_for_every_record_of_every_type() -> None:
    first, second = record("warcinfo", b"a: b\r\n"), record("strange", b"")
    data = first + b"\r\n\r\n" + second + b"\r\n\r\n"
    lines = list(iter_record_lines(iter_records(Source(io.BytesIO(data), name="f")), file="a b"))
    assert lines == [
        RecordLine("a b", 0, "warcinfo", ID[1:-1], hashlib.sha256(first).hexdigest()),
        RecordLine("a b", 1, "strange", ID[1:-1], hashlib.sha256(second).hexdigest()),
    ]
    assert [format_record_line(line).split(" ") for line in lines] == [
        ["a%20b", "0", "warcinfo", ID[1:-1], lines[0].sha256],
        ["a%20b", "1", "strange", ID[1:-1], lines[1].sha256],
    ]


def test_a_record_without_an_id() -> None:
    line = RecordLine("f", 3, "", None, "0" * 64)
    assert format_record_line(line) == f"f 3 - - {'0' * 64}"
