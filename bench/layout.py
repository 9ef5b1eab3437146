"""Where members and payloads lie in the corpus, found once by warcio: the floor is told.

The floor must not pay for parsing, so it gets, per record, five numbers: offset and
length of the member, inflated size, and start and end of the payload in the inflated bytes
(0, 0 for a record without one).  Kept as unsigned 64-bit numbers beside the corpus.
"""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Iterator
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

FIELDS = 5
BLANK_LINE = b"\r\n\r\n"
WITH_PAYLOAD = ("response", "resource")


def layout_path(warc: Path) -> Path:
    """Return the file that holds the layout of `warc`."""
    return warc.with_name(warc.name + ".members")


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
    """Read `warc`, one record a gzip member, found by warcio; yield five numbers a record.

    Sizes are measured in the inflated bytes: warcio takes the brackets off a URI, so its header
    lines are not those of the file.
    """
    with warc.open("rb") as stream, warc.open("rb") as again:
        records = ArchiveIterator(stream, no_record_parse=True)
        for record in records:
            record.content_stream().read()
            offset, length = records.get_record_offset(), records.get_record_length()
            again.seek(offset)
            member = gzip.decompress(again.read(length))
            head = member.index(BLANK_LINE) + len(BLANK_LINE)
            if record.rec_type == "response":
                head = member.index(BLANK_LINE, head) + len(BLANK_LINE)
            has_payload = record.rec_type in WITH_PAYLOAD
            size = len(member)
            yield offset, length, size, head * has_payload, (size - len(BLANK_LINE)) * has_payload
