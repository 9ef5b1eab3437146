"""What is kept of a record: the quick ways give what the plain ones do."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.catalog.record_rows import (
    capture_cells,
    digest_rows,
    is_plainly_fit,
    method_of,
    sidecar_row,
)
from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.index.scan import why_not
from pinakes.warc.http.message import HttpHead, bare_media_type
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

LANDED = datetime(2026, 1, 1, tzinfo=timezone.utc)


def _captures(path: Path) -> list[Record]:
    with open_source(path) as source:
        items = [item for item in iter_records(source) if isinstance(item, Record)]
    return [item for item in items if item.type in ("response", "resource", "revisit")]


def _archives(shared_data: Path) -> list[Path]:
    folder = shared_data / "archives"
    return sorted(p for p in folder.rglob("*") if p.name.endswith((".warc", ".warc.gz", ".arc.gz")))


def test_cells_of_real_captures_are_those_of_their_dataclasses(shared_data: Path) -> None:
    seen = 0
    for path in _archives(shared_data):
        with open_source(path) as source:
            for item in iter_records(source):
                if not isinstance(item, Record) or item.body.size > 1 << 20:
                    continue
                row = sidecar_row(item, archive_file="c/a b.warc.gz", landed=LANDED)
                if row.row_key is None:
                    continue
                seen += 1
                cells = capture_cells(row, "c/a b.warc.gz")
                facts = decode_cell(CaptureFacts, cells[CaptureFacts.COLUMN])
                assert encode_cell(facts) == cells[CaptureFacts.COLUMN]
                assert (facts.target_uri, facts.ordinal) == (item.target_uri, item.ordinal)
                assert (facts.offset, facts.length) == (item.offset, item.length)
                later = decode_cell(
                    CaptureFacts,
                    capture_cells(row, "c/a b.warc.gz", generation=2)[CaptureFacts.COLUMN],
                )
                assert later == replace(facts, offset=None, length=None, inner_offset=0)
                for _, entry in digest_rows(row, "c/a b.warc.gz", "s"):
                    found = decode_cell(DigestEntry, entry[DigestEntry.COLUMN])
                    assert found.capture_key.encode() == row.row_key
    assert seen > 1000


def test_fit_at_a_glance_is_fit(shared_data: Path) -> None:
    seen = 0
    for path in _archives(shared_data):
        with open_source(path) as source:
            for item in iter_records(source):
                if not isinstance(item, Record) or item.type != "response":
                    continue
                http, size = item.http, item.payload_size
                if is_plainly_fit(item, http, item.target_uri, item.date_text, size, LANDED):
                    seen += 1
                    assert why_not(item, now=LANDED) is None
                    assert http is not None
                    assert http.status == 200
    assert seen > 300


_PIECES = [
    "Content-Type",
    "content-type",
    "X-Content-Type",
    "Content-Type-Hint",
    "Date",
    ":",
    ": ",
    " ",
    "\t",
    ";",
    "text/HTML",
    "charset=x",
    "\r\n",
    "\n",
    "\r\n ",
    "é",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=14))
def test_media_type_without_a_parse_is_that_of_the_parse(pieces: list[str]) -> None:
    head = HttpHead(("HTTP/1.1 200 OK\r\n" + "".join(pieces) + "\r\n\r\n").encode())
    assert head.media_type == bare_media_type(head.get("content-type"))


def test_values_are_given_in_the_order_of_the_fields(tmp_path: Path) -> None:
    """`capture_cells` writes by position: each position holds the field of that name."""
    path = tmp_path / "one.warc"
    body = b"HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; a=b\r\n\r\nbody"
    head = (
        "WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Target-URI: http://e.org/é\r\n"
        "WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:1>\r\n"
        "WARC-Payload-Digest: sha1:WHATEVER\r\nWARC-Refers-To: <urn:x:0>\r\n"
        "WARC-Refers-To-Target-URI: http://e.org/0\r\nWARC-Refers-To-Date: 2019\r\n"
        f"Content-Type: application/http\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    path.write_bytes(head.encode() + body + b"\r\n\r\n")
    [record] = _captures(path)
    row = sidecar_row(record, archive_file="c/f", landed=LANDED)._replace(
        method="POST", verified_over="over", skip="why", findings="one two"
    )
    cells = capture_cells(row, "c/f")
    assert decode_cell(CaptureFacts, cells[CaptureFacts.COLUMN]) == CaptureFacts(
        type="revisit",
        mime="warc/revisit",
        digest="sha1:WHATEVER",
        offset=0,
        length=record.length,
        target_uri="http://e.org/é",
        date="2020-01-02T03:04:05Z",
        archive_file="c/f",
        ordinal=0,
        record_id="urn:x:1",
        revisit_media_type="text/html",
        status=200,
        method="POST",
        payload_size=4,
        declared_digest="sha1:WHATEVER",
        declared_over="over",
        skip="why",
        refers_to_target_uri="http://e.org/0",
        refers_to_date="2019",
        refers_to_id="urn:x:0",
        findings=("one", "two"),
    )
    written = json.loads(cells[CaptureFacts.COLUMN])
    keys = [f.metadata.get("key", f.name) for f in fields(CaptureFacts)]
    assert list(written) == ["v"] + [key for key in keys if key in written]


@pytest.mark.parametrize(
    "block",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"get / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\nGET ",
        b"GET",
        b"GETS /",
        b"",
    ],
)
@pytest.mark.parametrize("media_type", ["application/http", "text/plain"])
@pytest.mark.parametrize("uri", ["http://e.org/", "dns:e.org"])
def test_the_method_at_a_glance_is_that_of_the_head(
    tmp_path: Path, block: bytes, media_type: str, uri: str
) -> None:
    path = tmp_path / "one.warc"
    head = (
        f"WARC/1.0\r\nWARC-Type: request\r\nWARC-Target-URI: {uri}\r\n"
        f"Content-Type: {media_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    path.write_bytes(head.encode() + block + b"\r\n\r\n")
    with open_source(path) as source:
        [record] = (item for item in iter_records(source) if isinstance(item, Record))
    glance = method_of(record)
    http = record.http
    assert glance == (http.method if http is not None else None)
