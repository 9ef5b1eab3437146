"""ARC files as bytes, for tests."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable

from pinakes.rewrite.convert import Converted, iter_converted, survey_arc
from pinakes.rewrite.convert_file import rebuild_arc
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source
from pinakes.warc.write import gzip_member, record_pieces

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
FILEDESC_1 = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
FILEDESC_2 = (
    b"2 0 Test\nURL IP-address Archive-date Content-type Result-code Checksum Location"
    b" Offset Filename Archive-length\n"
)


def arc_record(
    uri: bytes = b"http://example.org/",
    block: bytes = HTTP + b"hello",
    *,
    ip: bytes = b"192.0.2.1",
    date: bytes = b"20200102030405",
    mime: bytes = b"text/html",
    length: int | None = None,
    line_end: bytes = b"\n",
    version: int = 1,
) -> bytes:
    """A header line and a block; `length` is what the line says, where it shall lie."""
    more = [b"200", b"-", b"-", b"0", b"test.arc"] if version == 2 else []
    said = b"%d" % (len(block) if length is None else length)
    return b" ".join([uri, ip, date, mime, *more, said]) + line_end + block


def filedesc(version: int = 1, **options: bytes) -> bytes:
    block = FILEDESC_2 if version == 2 else FILEDESC_1
    return arc_record(
        b"filedesc://test.arc",
        block,
        ip=b"0.0.0.0",
        mime=b"text/plain",
        version=version,
        **options,  # type: ignore[arg-type]
    )


def arc(*records: bytes, after: bytes = b"\n") -> bytes:
    """An uncompressed ARC file."""
    return b"".join(record + after for record in (filedesc(), *records))


def arc_gz(*records: bytes) -> bytes:
    """The same, a member a record."""
    return b"".join(gzip.compress(r + b"\n", mtime=0) for r in (filedesc(), *records))


def source_of(data: bytes, name: str = "test.arc") -> Source:
    return Source(io.BytesIO(data), name=name)


def converted(data: bytes, name: str = "test.arc") -> list[Converted]:
    """The conversion, each block read."""
    source = source_of(data, name)
    return [
        item._replace(block=[b"".join(item.block)])
        for item in iter_converted(source, survey_arc(source))
    ]


def warc_of(data: bytes, name: str = "test.arc") -> bytes:
    """The WARC file that an ARC file becomes."""
    source = source_of(data, name)
    survey = survey_arc(source)
    pieces: list[bytes | memoryview] = []
    for item in iter_converted(source, survey):
        record = record_pieces(item.header, item.block)
        pieces += gzip_member(record) if survey.compressed else record
    return b"".join(pieces)


def rebuilt(warc: bytes) -> bytes:
    return b"".join(rebuild_arc(source_of(warc, "test.warc")))


def read_whole(warc: bytes) -> list[Record]:
    """The records of a WARC file in which nothing may be wrong."""
    items = list(iter_records(source_of(warc, "test.warc")))
    assert not [item for item in items if isinstance(item, DamagedStretch) or item.findings]
    return items  # type: ignore[return-value]


def blocks(records: Iterable[Record]) -> list[bytes]:
    return [b"".join(record.chunks()) for record in records]
