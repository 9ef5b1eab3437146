"""The floor hashes exactly the payloads, from the layout that warcio finds."""

import gzip

import pytest

from bench import floor, layout


def record(kind, block, extra=b""):
    head = b"WARC/1.0\r\nWARC-Type: " + kind + b"\r\n" + extra
    head += b"Content-Length: %d\r\n\r\n" % len(block)
    return gzip.compress(head + block + b"\r\n\r\n")


RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
MEMBERS = [
    record(b"warcinfo", b"software: none\r\n"),
    record(b"request", b"GET / HTTP/1.1\r\n\r\n"),
    record(b"response", RESPONSE, "WARC-Target-URI: http://a.example/é\r\n".encode()),
    record(b"resource", b"other"),
]


@pytest.fixture
def warc(tmp_path):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(MEMBERS))
    return path


def test_layout_has_offset_length_and_payload_of_each_member(warc):
    rows = list(layout.find(warc))
    assert [length for _, length, *_ in rows] == [len(member) for member in MEMBERS]
    payloads = []
    for offset, length, size, start, end in rows:
        inflated = gzip.decompress(warc.read_bytes()[offset : offset + length])
        assert len(inflated) == size
        payloads.append(inflated[start:end])
    assert payloads == [b"", b"", b"hello", b"other"]


def test_layout_is_kept_beside_the_file(warc):
    found = layout.load(warc)
    assert layout.layout_path(warc).is_file()
    assert layout.load(warc) == found


@pytest.mark.parametrize("batch_bytes", [0, floor.BATCH_BYTES])
def test_floor_hashes_every_payload(warc, batch_bytes):
    assert floor.run([warc], "sha1", batch_bytes) == (2, 10)
    assert floor.run([warc], "sha256", batch_bytes) == (2, 10)
