"""What holds of any file whatever, however broken; used by the tests and by the fuzzer."""

from __future__ import annotations

import hashlib

from pinakes.warc.arc import ArcHeader
from pinakes.warc.compression.members import inflate_member
from pinakes.warc.compression.port import Damage
from pinakes.warc.damage import holds_members
from pinakes.warc.digest import parse_digest
from pinakes.warc.http.message import Dechunker
from pinakes.warc.reader import Item, _Walk, iter_records, read_record
from pinakes.warc.record import FINDINGS, DamagedStretch, Record
from pinakes.warc.source import Source

LINE_ENDS = b"\r\n"


def read_slowly(source: Source) -> list[Item]:
    """What `iter_records` gives, without the fast path."""
    walk = _Walk(source, 0, ("sha1",), members=holds_members(source, 0))
    items: list[Item] = []
    while walk.offset < source.size:
        items += walk.slowly()
    return items


def facts(item: Item) -> tuple[object, ...]:
    """All that a reader can know of an item, as a value."""
    if isinstance(item, DamagedStretch):
        return ("damaged", item.offset, item.end)
    http = item.http
    return (
        item.ordinal,
        item.offset,
        item.length,
        item.inner_offset,
        item.version,
        item.type,
        item.header.raw,
        item.content_length,
        item.block_size,
        item.target_uri,
        item.date_text,
        item.record_id,
        str(item.block_digest()),
        str(item.payload_digest()),
        str(item.dechunked_digest()),
        item.payload_offset,
        None if http is None else (http.raw, http.status),
        tuple((finding.code, finding.offset) for finding in item.findings),
    )


def check_record(record: Record, source: Source) -> None:
    """Everything a record says of itself agrees with its bytes."""
    block = hashlib.sha1()
    size = 0
    for piece in record.chunks():
        block.update(piece)
        size += len(piece)
    assert size == record.block_size
    assert record.block_digest().value == block.digest()
    again = hashlib.sha1()
    for piece in record.payload():
        again.update(piece)
    assert record.payload_digest() == parse_digest("sha1:" + again.hexdigest())
    assert 0 <= record.payload_offset <= record.block_size
    assert record.payload_size == record.block_size - record.payload_offset
    check_http(record)
    check_header(record)
    assert record.length > 0
    assert record.offset + record.length <= source.size
    for finding in record.findings:
        assert finding.code in FINDINGS
        assert 0 <= finding.offset <= source.size


def check_http(record: Record) -> None:
    http = record.http
    if http is None:
        assert record.payload_offset == 0
        return
    assert http.status is None or 0 <= http.status < 1000
    for value in (http.content_length, http.media_type, http.method, http.says_chunked):
        assert value is None or isinstance(value, int | str)
    dechunker = Dechunker()
    state = hashlib.sha1()
    for piece in record.payload():
        for part in dechunker.feed(piece):
            state.update(part)
    expected = state.digest() if http.says_chunked and dechunker.finished else None
    found = record.dechunked_digest()
    assert (found.value if found else None) == expected


def check_header(record: Record) -> None:
    header = record.header
    lines = header.lines()
    if not isinstance(header, ArcHeader):
        first = header.raw[: header.raw.find(b"\n") + 1]
        joined = first + b"".join(line.raw for line in lines)
        assert header.raw in {joined, joined + b"\n", joined + b"\r\n"}
    for name, value in header.fields():
        assert header.get(name) is not None
        assert value in header.get_all(name)
    for text in (record.target_uri, record.date_text, record.record_id, header.get("WARC-Type")):
        assert text is None or isinstance(text, str)


def check_items(items: list[Item], source: Source) -> None:
    """Items tile the file in order; between them lie only line ends and empty members."""
    at = inner = 0
    shared = -1
    ordinal = 0
    for item in items:
        if isinstance(item, DamagedStretch):
            assert item.offset < item.end <= source.size, item
            assert item.reason
            check_gap(source, at, item.offset)
            at, shared = item.end, -1
            continue
        assert item.ordinal == ordinal
        ordinal += 1
        if item.offset == shared or (item.inner_offset and item.offset < at):
            # Another record of the member the last one was in.
            assert item.inner_offset > 0 or item.offset > shared
            assert item.offset > shared or item.inner_offset > inner
        else:
            check_gap(source, at, item.offset)
        shared, inner = item.offset, item.inner_offset
        at = max(at, item.offset + item.length)
        check_record(item, source)
    check_gap(source, at, source.size)


def check_gap(source: Source, start: int, end: int) -> None:
    """Between items: line ends, or compressed members that hold nothing else."""
    assert start <= end, f"items overlap: {start} > {end}"
    data = bytes(source.view(start, end - start))
    if not data.strip(LINE_ENDS):
        return
    while start < end:
        ends: dict[int, int] = {}
        try:
            content = b"".join(inflate_member(source, start, ends))
        except Damage as damage:
            raise AssertionError(f"lost bytes at {start}: {data[:40]!r}") from damage
        assert not content.strip(LINE_ENDS), f"lost content at {start}: {content[:40]!r}"
        start = ends[start]


def check_source(source: Source) -> list[Item]:
    """All invariants of one file; returns what was read."""
    items = list(iter_records(source))
    check_items(items, source)
    slow = read_slowly(source)
    assert [facts(item) for item in items] == [facts(item) for item in slow]
    for item in items:
        if isinstance(item, Record):
            check_again(item, source)
    return items


def check_again(record: Record, source: Source) -> None:
    """The record at a place is the record that was read there."""
    again = read_record(source, record.offset, inner_offset=record.inner_offset)
    assert isinstance(again, Record)
    assert facts(again)[1:] == facts(record)[1:]
