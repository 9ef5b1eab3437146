"""Which request a capture answers, and what that makes of its row key."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from datetime import datetime, timezone
from pathlib import Path

import brotli
import pytest
import zstandard

from pinakes.catalog.declared import may_stand_for, verified_over
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


def _coded_ask(body: bytes, *fields: str, content_type: str = "application/json") -> bytes:
    lines = ("POST /form HTTP/1.1", f"Content-Type: {content_type}", *fields, "", "")
    return _record("request", 0, "\r\n".join(lines).encode() + body)


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


QUERY = b'{"q":"one"}'
LONG = json.dumps({"q": "one" * 1000}).encode()
RAW = zlib.compressobj(wbits=-15)
GZIPPED = gzip.compress(QUERY, mtime=0)


@pytest.mark.parametrize(
    ("request_record", "query"),
    [
        pytest.param(_coded_ask(GZIPPED, "Content-Encoding: gzip"), "q=one", id="gzip"),
        pytest.param(
            _coded_ask(GZIPPED, f"Content-Length: {len(GZIPPED)}", "content-encoding: X-GZIP"),
            "q=one",
            id="gzip with its length",
        ),
        pytest.param(
            _coded_ask(zlib.compress(QUERY), "Content-Encoding: deflate"), "q=one", id="deflate"
        ),
        pytest.param(
            _coded_ask(RAW.compress(QUERY) + RAW.flush(), "Content-Encoding: deflate"),
            "q=one",
            id="raw deflate",
        ),
        pytest.param(_coded_ask(brotli.compress(QUERY), "Content-Encoding: br"), "q=one", id="br"),
        pytest.param(
            _coded_ask(zstandard.compress(QUERY), "Content-Encoding: zstd"), "q=one", id="zstd"
        ),
        pytest.param(
            _coded_ask(
                _chunked(GZIPPED), "Transfer-Encoding: chunked", "Content-Encoding: none, gzip"
            ),
            "q=one",
            id="gzip in chunks",
        ),
        pytest.param(
            _coded_ask(_chunked(GZIPPED), "Transfer-Encoding: gzip, chunked"),
            "q=one",
            id="transfer gzip",
        ),
        pytest.param(
            _coded_ask(gzip.compress(LONG), "Content-Encoding: gzip", "Content-Length: 60"),
            "q=" + "one" * 1000,
            id="longer than its length",
        ),
        pytest.param(
            _coded_ask(
                gzip.compress(b"a=1&b=2"),
                "Content-Encoding: gzip",
                content_type="application/x-www-form-urlencoded",
            ),
            "a=1&b=2",
            id="form",
        ),
        pytest.param(
            _coded_ask(gzip.compress(b"\0"), "Content-Encoding: gzip", content_type="x/y"),
            "__wb_post_data=aa==",
            id="anything else",
        ),
        pytest.param(_coded_ask(QUERY, "Content-Encoding: gzip"), "q=one", id="not gzip"),
        pytest.param(
            _coded_ask(_chunked(QUERY), "Transfer-Encoding: chunked", "Content-Encoding: zstd"),
            "q=one",
            id="chunked and not zstd",
        ),
        pytest.param(_coded_ask(QUERY, "Content-Encoding: zebra"), "q=one", id="unknown coding"),
        pytest.param(
            _coded_ask(
                _chunked(b"a=1")[:-5], "Transfer-Encoding: chunked", content_type="text/plain"
            ),
            "__wb_post_data=mw0kyt0xdqo=",
            id="cut off in its chunks",
        ),
    ],
)
def test_the_query_is_of_the_decoded_body(
    request_record: bytes, query: str, tmp_path: Path
) -> None:
    (tmp_path / "f.warc").write_bytes(request_record + _answer(1))
    [_, row] = _rows(tmp_path / "f.warc")
    assert row.row_key.startswith(f"org,e)/form?__wb_method=post&{query} 2020".encode())


def test_posts_that_differ_within_gzip_have_two_keys(shared_data: Path) -> None:
    rows = _rows(shared_data / "cases" / "B3-post-gzip-two.warc.gz")
    key = "com,youtube)/youtubei/v1/log_event?__wb_method=post&alt=json&q="
    keys = [row.row_key.decode().partition(" ")[0] for row in rows if row.type == "response"]
    assert keys == [f"{key}one", f"{key}two"]


# --- What a declared payload digest was taken over


BODY = b"the body, decoded"
CODED = gzip.compress(BODY, mtime=0)
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(CODED), CODED)


def _sha1(data: bytes) -> bytes:
    return hashlib.sha1(data).digest()


def _base32(data: bytes) -> str:
    return "sha1:" + base64.b32encode(_sha1(data)).decode()


@pytest.mark.parametrize(
    ("declared", "over"),
    [
        pytest.param(None, None, id="none-declared"),
        pytest.param(_base32(CHUNKED), "stored", id="stored"),
        pytest.param(_base32(CHUNKED).lower(), "stored", id="stored-lower-case"),
        pytest.param("SHA-1:" + _sha1(CHUNKED).hex(), "stored", id="stored-hex"),
        pytest.param("sha256:" + hashlib.sha256(CHUNKED).hexdigest(), "stored", id="sha256"),
        pytest.param("md5:" + hashlib.md5(CHUNKED).hexdigest(), "stored", id="md5"),
        pytest.param(_base32(CODED), "dechunked", id="dechunked"),
        pytest.param(_base32(BODY), "decoded", id="decoded"),
        pytest.param(_base32(b"other"), "none", id="of-something-else"),
        pytest.param("sha1:nonsense", "unreadable", id="no-digest"),
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_what_it_verifies_over(
    tmp_path: Path, declared: str | None, over: str | None, given: bool
) -> None:
    path = write_record(tmp_path, declared)
    with open_source(path) as source:
        [record] = iter_records(source)
        assert isinstance(record, Record)
        assert verified_over(record, _sha1(CHUNKED) if given else None) == over


def write_record(folder: Path, declared: str | None) -> Path:
    block = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" + CHUNKED
    )
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.org/\r\n"
        "WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:x:1>\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        + (f"WARC-Payload-Digest: {declared}\r\n" if declared else "")
        + f"Content-Length: {len(block)}\r\n\r\n"
    )
    path = folder / "a.warc"
    path.write_bytes(head.encode() + block + b"\r\n\r\n")
    return path


OTHER_ALGORITHM = "sha384:" + hashlib.sha384(CHUNKED).hexdigest()


@pytest.mark.parametrize(
    ("declared", "own", "may"),
    [
        pytest.param(None, None, True, id="none-declared"),
        pytest.param(_base32(CHUNKED), None, True, id="stored"),
        pytest.param("md5:" + hashlib.md5(CODED).hexdigest(), None, True, id="dechunked-md5"),
        pytest.param("sha512:" + hashlib.sha512(BODY).hexdigest(), None, True, id="decoded-sha512"),
        pytest.param("md5:" + hashlib.md5(b"other").hexdigest(), None, False, id="another"),
        pytest.param(OTHER_ALGORITHM, None, False, id="not-computed"),
        pytest.param(OTHER_ALGORITHM, OTHER_ALGORITHM, True, id="both-say-the-same"),
        pytest.param(OTHER_ALGORITHM, "sha384:00", False, id="they-say-another"),
        pytest.param("SHA-1:" + _sha1(b"x").hex(), _base32(b"x"), True, id="other-spelling"),
    ],
)
def test_which_body_a_revisit_may_have(
    tmp_path: Path, declared: str | None, own: str | None, may: bool
) -> None:
    path = write_record(tmp_path, own)
    with open_source(path) as source:
        [record] = iter_records(source)
        assert isinstance(record, Record)
        assert may_stand_for(declared, record) is may
