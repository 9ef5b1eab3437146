"""Which request a capture answers, and what that makes of its row key."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pinakes.catalog.requests import iter_rows
from pinakes.catalog.sidecar import SidecarRow
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

LANDED = datetime(2026, 1, 1, tzinfo=timezone.utc)
URI = "http://e.org/form"


def _record(kind: str, number: int, block: bytes, **fields: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {URI}",
        "WARC-Date: 2020-01-01T00:00:00Z",
        f"WARC-Record-ID: <urn:x:{number}>",
        f"Content-Type: application/http; msgtype={kind}",
        *(f"{name}: {value}" for name, value in named.items()),
        f"Content-Length: {len(block)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + block + b"\r\n\r\n"


def _ask(number: int, method: str = "POST", body: bytes = b"a=1", **fields: str) -> bytes:
    head = f"{method} /form HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    length = f"Content-Length: {len(body)}\r\n\r\n"
    return _record("request", number, head.encode() + length.encode() + body, **fields)


def _answer(number: int, **fields: str) -> bytes:
    return _record("response", number, b"HTTP/1.1 200 OK\r\n\r\nbody", **fields)


def _rows(path: Path) -> list[SidecarRow]:
    with open_source(path) as source:
        records = (item for item in iter_records(source) if isinstance(item, Record))
        return list(iter_rows(records, archive_file="c/f.warc", landed=LANDED))


PLAIN = b"org,e)/form 20200101000000000 "
POSTED = b"org,e)/form?__wb_method=post&a=1 20200101000000000 "


@pytest.mark.parametrize(
    ("records", "key", "method", "skip"),
    [
        pytest.param([_answer(1)], PLAIN, None, None, id="no-request"),
        pytest.param([_ask(0, "GET"), _answer(1)], PLAIN, "GET", None, id="get"),
        pytest.param([_ask(0), _answer(1)], POSTED, "POST", "method", id="before"),
        pytest.param([_answer(1), _ask(0)], POSTED, "POST", "method", id="behind"),
        pytest.param(
            [_ask(0, WARC_Concurrent_To="<urn:x:1>"), _ask(2, "GET"), _answer(1)],
            POSTED,
            "POST",
            "method",
            id="named",
        ),
        pytest.param(
            [_ask(0, WARC_Concurrent_To="<urn:x:7>"), _answer(1)], PLAIN, None, None, id="other"
        ),
        pytest.param(
            [_ask(0), *[_record("metadata", n, b"") for n in range(2, 8)], _answer(1)],
            POSTED,
            "POST",
            "method",
            id="requests-are-remembered",
        ),
    ],
)
def test_the_request_beside_it(
    tmp_path: Path, records: list[bytes], key: bytes, method: str | None, skip: str | None
) -> None:
    path = tmp_path / "f.warc"
    path.write_bytes(b"".join(records))
    rows = _rows(path)
    assert [row.ordinal for row in rows] == list(range(len(records)))
    [capture] = [row for row in rows if row.type == "response"]
    assert capture.row_key is not None
    assert capture.row_key.startswith(key)
    assert (capture.method, capture.skip) == (method, skip)


def test_row_keys_of_posts_are_those_of_cdxj_indexer(shared_data: Path) -> None:
    seen = 0
    lines = (shared_data / "expected-cdx" / "cdxj-indexer.jsonl").read_text().splitlines()
    for case in map(json.loads, lines):
        if "post_query_append" not in case["test"] or "post_append" not in case["options"]:
            continue
        [path] = set(
            (shared_data / "archives").glob(f"webrecorder_*/test/data/{case['input_name']}")
        )
        wanted = sorted(line.split(" {")[0] for line in case["expected"].splitlines())
        keys = [row.row_key.decode() for row in _rows(path) if row.row_key is not None]
        found = sorted(f"{key.split()[0]} {key.split()[1][:14]}" for key in keys)
        assert found == wanted
        seen += len(found)
    assert seen == 6
