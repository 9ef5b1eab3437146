"""What a declared payload digest was taken over."""

from __future__ import annotations

import base64
import gzip
import hashlib
from pathlib import Path

import pytest

from pinakes.catalog.declared import may_stand_for, verified_over
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

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
