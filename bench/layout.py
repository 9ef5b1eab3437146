"""Where members and payloads lie in the corpus, found once by warcio: the floor is told.

The floor must not pay for parsing, so it gets, per record, five numbers: offset and
length of the member, inflated size, and start and end of the payload in the inflated bytes
(0, 0 for a record without one).  Kept as unsigned 64-bit numbers beside the corpus.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

FIELDS = 5
WITH_PAYLOAD = ("response", "resource")


def layout_path(warc: Path) -> Path:
    """Return the file that holds the layout of `warc`."""
    return warc.with_name(warc.name + ".layout")


def load(warc: Path) -> array[int]:
    """Return the layout of `warc`, a flat array of five numbers a record; find it where absent."""
    table = array("Q")
    path = layout_path(warc)
    if not path.is_file():
        for row in find(warc):
            table.extend(row)
        path.write_bytes(table.tobytes())
        return table
    table.frombytes(path.read_bytes())
    return table


def find(warc: Path) -> Iterator[tuple[int, int, int, int, int]]:
    """Read `warc`, one record a gzip member, with warcio; yield five numbers a record."""
    with warc.open("rb") as stream:
        records = ArchiveIterator(stream, no_record_parse=True)
        for record in records:
            head = block_start(record)
            block = record.content_stream().read()
            blank = block.find(b"\r\n\r\n") + 4
            has_payload = record.rec_type in WITH_PAYLOAD
            start = head + (blank if record.rec_type == "response" else 0)
            offset, length = records.get_record_offset(), records.get_record_length()
            size = head + len(block) + len(b"\r\n\r\n")
            yield offset, length, size, start * has_payload, (size - 4) * has_payload


def block_start(record: object) -> int:
    """Return the size of the WARC header, its blank line included."""
    headers = record.rec_headers  # type: ignore[attr-defined]
    lines = (f"{name}: {value}\r\n" for name, value in headers.headers)
    return len(f"{headers.protocol}\r\n".encode()) + sum(len(x.encode()) for x in lines) + 2
