"""Manifest lines of records: what is read, which request counts, why a capture is skipped."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Sequence
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.index.manifest import ManifestLine
from pinakes.index.scan import declared_digest, iter_manifest, why_not
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.header import Header
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, MemoryBody, Record
from pinakes.warc.source import Source

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BODY = b"<p>hello"


def record(
    record_type: str, block: bytes, *, uri: str | None = "http://a/", **fields: str
) -> bytes:
    lines = {
        "WARC-Type": record_type,
        "WARC-Record-ID": f"<urn:{record_type}>",
        "WARC-Date": "2020-01-02T03:04:05Z",
        "Content-Type": f"application/http; msgtype={record_type}",
        **({"WARC-Target-URI": uri} if uri is not None else {}),
        **{name.replace("_", "-"): value for name, value in fields.items()},
        "Content-Length": str(len(block)),
    }
    header = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return b"WARC/1.0\r\n" + header.encode() + b"\r\n" + block + b"\r\n\r\n"


def response(
    head: bytes = OK, body: bytes = BODY, uri: str | None = "http://a/", **f: str
) -> bytes:
    return record("response", head + b"\r\n" + body, uri=uri, **f)


def request(method: str, uri: str = "http://a/", **fields: str) -> bytes:
    return record("request", f"{method} / HTTP/1.1\r\nHost: a\r\n\r\n".encode(), uri=uri, **fields)


def source_of(*records: bytes) -> Source:
    return Source(io.BytesIO(b"".join(gzip.compress(r, mtime=0) for r in records)), name="f")


def lines_of(*records: bytes, **options: str | bool) -> list[ManifestLine]:
    items = iter_records(source_of(*records))
    return list(iter_manifest(items, file="f", now=NOW, **options))  # type: ignore[arg-type]


def test_a_response_has_a_line() -> None:
    (line,) = lines_of(response())
    assert line == ManifestLine(
        "f",
        0,
        line.length,
        "http://a/",
        "2020-01-02T03:04:05Z",
        str(Digest("sha1", hashlib.sha1(BODY).digest())),
        size=len(BODY),
        status=200,
        record_id="urn:response",
    )


def test_a_resource_and_a_revisit_have_lines_of_their_kind() -> None:
    revisit = record(
        "revisit",
        OK + b"\r\n",
        WARC_Payload_Digest="SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj",
        WARC_Refers_To="<urn:o>",
        WARC_Refers_To_Target_URI="<http://o/>",
        WARC_Refers_To_Date="2019-01-02T03:04:05Z",
    )
    bare = record("revisit", b"")
    resource = record("resource", b"x", Content_Type="text/plain", uri="urn:x")
    first, second, third = lines_of(revisit, bare, resource)
    assert (first.type, first.skip, first.digest) == (
        "revisit",
        None,
        "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    )
    assert first[17:20] == ("http://o/", "2019-01-02T03:04:05Z", "urn:o")
    assert (second.digest, second.skip) == ("-", None)
    assert (third.type, third.ctype, third.skip) == ("resource", "text/plain", None)


def test_other_types_have_no_line() -> None:
    others = [record(t, b"x") for t in ("warcinfo", "request", "metadata", "conversion", "x")]
    assert lines_of(*others) == []


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512", "md5"])
def test_the_digest_is_of_the_stored_body(algorithm: str) -> None:
    chunked = OK + b"Transfer-Encoding: chunked\r\n"
    body = b"3\r\nabc\r\n0\r\n\r\n"
    (line,) = lines_of(response(chunked, body), algorithm=algorithm)
    assert line.digest == str(Digest(algorithm, hashlib.new(algorithm, body).digest()))
    assert line.skip is None


DECLARED = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    ("trust", "fields", "expected"),
    [
        pytest.param(True, {"WARC_Payload_Digest": DECLARED.lower()}, DECLARED, id="trusted"),
        pytest.param(True, {"WARC_Payload_Digest": "odd"}, "odd", id="in no spelling known"),
        pytest.param(True, {}, None, id="none declared"),
        pytest.param(False, {"WARC_Payload_Digest": DECLARED}, None, id="not trusted"),
    ],
)
def test_a_declared_digest_counts_where_it_is_trusted(
    trust: bool, fields: dict[str, str], expected: str | None
) -> None:
    (line,) = lines_of(response(**fields), trust_declared=trust)
    assert line.digest == (expected or str(Digest("sha1", hashlib.sha1(BODY).digest())))


SHA1 = str(Digest("sha1", hashlib.sha1(BODY).digest()))
SHA256 = str(Digest("sha256", hashlib.sha256(BODY).digest()))


@pytest.mark.parametrize(
    ("algorithm", "declared", "also"),
    [
        pytest.param("sha1", SHA1, None, id="the same"),
        pytest.param("sha1", "SHA-1:" + hashlib.sha1(BODY).hexdigest(), None, id="respelled"),
        pytest.param("sha1", DECLARED, DECLARED, id="another value"),
        pytest.param("sha1", DECLARED.lower(), DECLARED, id="another value, respelled"),
        pytest.param("sha1", "sha-256:" + SHA256[7:].upper(), SHA256, id="another algorithm"),
        pytest.param("sha256", SHA1, SHA1, id="sha1 where sha256 is computed"),
        pytest.param("sha256", SHA1.lower(), SHA1, id="and respelled"),
        pytest.param("sha1", "odd", "odd", id="in no spelling known"),
        pytest.param("sha1", "", None, id="empty"),
    ],
)
def test_another_digest_that_is_declared_is_noted(
    algorithm: str, declared: str, also: str | None
) -> None:
    (line,) = lines_of(response(WARC_Payload_Digest=declared), algorithm=algorithm)
    assert line.digest == {"sha1": SHA1, "sha256": SHA256}[algorithm]
    assert line.also == also
    revisit = record("revisit", OK + b"\r\n", WARC_Payload_Digest=declared)
    (line,) = lines_of(revisit, algorithm=algorithm)
    assert line.also is None


def test_a_line_with_nothing_declared_has_no_other_digest() -> None:
    (line,) = lines_of(response())
    assert line.also is None


@given(
    st.text("=: 0123456789ABCDEFXYZabcsha\u00c4", max_size=45)
    | st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ2345678= ", min_size=31, max_size=33).map("sha1:".__add__)
)
def test_a_declared_digest_is_spelled_as_ours_where_it_is_one(text: str) -> None:
    header = Header(b"WARC/1.1\r\nWARC-Payload-Digest: " + text.encode() + b"\r\n\r\n")
    made = Record(0, 0, 0, header, MemoryBody(b"", 0, 0), 0, "WARC/1.1", "response")
    text = text.strip(" ")
    assert declared_digest(made) == str(parse_digest(text) or text)


OTHER = request("GET", "http://other/")
BESIDE: dict[str, tuple[Sequence[bytes], str | None]] = {
    "a GET before": ([request("GET"), response()], None),
    "a GET behind": ([response(), request("GET")], None),
    "a get in small letters": ([request("get"), response()], None),
    "none at all": ([response()], None),
    "a POST before": ([request("POST"), response()], "method"),
    "a POST behind": ([response(), request("POST")], "method"),
    "a HEAD behind": ([response(), request("HEAD")], "method"),
    "a method that begins like GET": ([request("GETX"), response()], "method"),
    "a POST of another URI": ([request("POST", "http://b/"), response()], None),
    "a POST that names it": (
        [response(), request("POST", "http://b/", WARC_Concurrent_To="<urn:response>")],
        "method",
    ),
    "a POST that it names": (
        [request("POST", "http://b/"), response(WARC_Concurrent_To="<urn:request>")],
        "method",
    ),
    "a POST that names another": (
        [request("POST", WARC_Concurrent_To="<urn:another>"), response()],
        None,
    ),
    "a POST, where it names another": (
        [request("POST"), response(WARC_Concurrent_To="<urn:another>")],
        None,
    ),
    "a POST three captures on": (
        [response(), response(uri="http://b/"), response(uri="http://c/"), request("POST")],
        "method",
    ),
    "a POST that began the file": (
        [request("POST"), *(response(uri=f"http://{n}/") for n in range(9)), response()],
        "method",
    ),
    "a POST too far behind": (
        [response(), *(response(uri=f"http://{n}/") for n in range(9)), request("POST")],
        None,
    ),
}


@pytest.mark.parametrize(("records", "skip"), BESIDE.values(), ids=BESIDE)
def test_the_answer_to_another_method_is_skipped(
    records: Sequence[bytes], skip: str | None
) -> None:
    found = [line.skip for line in lines_of(*records) if line.target_uri == "http://a/"]
    assert found == [skip]


def test_existing_skip_reason_is_kept() -> None:
    (line,) = lines_of(request("POST"), response(body=b""))
    assert line.skip == "empty"


def status(line: bytes, *fields: bytes) -> bytes:
    return b"".join(part + b"\r\n" for part in (line, *fields))


SKIPPED = {
    "date-unreadable": response(WARC_Date="soon"),
    "date-before-1991": response(WARC_Date="1990-12-31T23:59:59Z"),
    "date-after-landing": response(WARC_Date="2026-01-01T00:00:01Z"),
    "empty": response(body=b""),
    "truncated": response(WARC_Truncated="length"),
    "segment": response(WARC_Segment_Number="1"),
    "uri": response(uri=None),
    "scheme": response(uri="ftp://a/"),
    "status": response(status(b"HTTP/1.1 304 Not Modified")),
    "short-body": response(OK + b"content-LENGTH: 9\r\n"),
    "chunks-unterminated": response(OK + b"Transfer-Encoding: Chunked\r\n", b"3\r\nabc\r\n"),
    "damaged": response().replace(b"\r\n\r\n" + BODY, b"\r\n\r\n!" + BODY),
}
FIT = {
    "200": response(),
    "404": response(status(b"HTTP/1.0 404 Not Found")),
    "no reason phrase": response(status(b"HTTP/1.1 200")),
    "as long as promised": response(OK + b"Content-Length: 8\r\n"),
    "longer than promised": response(OK + b"Content-Length: 7\r\n"),
    "a promise that is no number": response(OK + b"Content-Length: many\r\n"),
    "the first promise counts": response(OK + b"Content-Length:8\r\nContent-Length: 9\r\n"),
    "length of something else": response(OK + b"X-Content-Length: 99\r\n"),
    "a name not at the start": response(OK + b"X: content-length: 99\r\n"),
    "chunked said, body not": response(
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 99\r\n"
    ),
    "no HTTP length": response(OK),
    "https": response(uri="https://a/"),
    "HTTP, in capitals": response(uri="HTTP://a/"),
    "LF only": response(OK.replace(b"\r\n", b"\n")),
}


@pytest.mark.parametrize(("reason", "data"), SKIPPED.items(), ids=SKIPPED)
def test_a_capture_is_skipped_for_a_reason(reason: str, data: bytes) -> None:
    (line,) = lines_of(data)
    assert line.skip == reason


@pytest.mark.parametrize("data", FIT.values(), ids=FIT)
def test_a_whole_capture_takes_part(data: bytes) -> None:
    (line,) = lines_of(data)
    assert line.skip is None


@pytest.mark.parametrize("data", [*SKIPPED.values(), *FIT.values()], ids=[*SKIPPED, *FIT])
def test_quick_check_agrees_with_the_rules(data: bytes) -> None:
    """The short way over a record is certain: the long one comes to the same."""
    (item,) = iter_records(source_of(data))
    assert isinstance(item, Record)
    assert lines_of(data)[0].skip == why_not(item, now=NOW)


def test_damaged_stretches_are_reported() -> None:
    good = gzip.compress(response(), mtime=0)
    stretches: list[DamagedStretch] = []
    source = Source(io.BytesIO(good + b"junk" + good), name="f")
    lines = list(iter_manifest(iter_records(source), file="f", now=NOW, on_damage=stretches.append))
    assert [(line.offset, line.skip) for line in lines] == [(0, None), (len(good) + 4, None)]
    assert [(s.offset, s.end) for s in stretches] == [(len(good), len(good) + 4)]


def test_skipped_requests_change_no_line() -> None:
    records = [r for n in range(20) for r in (request("GET"), response(), request("POST"))]
    seen = list(iter_records(source_of(*records)))
    few = list(iter_records(source_of(*records), skip_gets=True))
    assert len(few) < len(seen) - 10
    kept = {item.ordinal: item.offset for item in few if isinstance(item, Record)}
    every = {item.ordinal: item.offset for item in seen if isinstance(item, Record)}
    assert kept.items() <= every.items()
    assert list(iter_manifest(iter(few), file="f", now=NOW)) == lines_of(*records)
