"""What of a captured head reaches the browser."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from pinakes.access.byte_range import parse_range
from pinakes.errors import MalformedRecord
from pinakes.qa.replay.answer_head import LEFT_OUT, AnswerHead, captured_head, own_head
from pinakes.qa.replay.request import ProxyRequest
from pinakes.warc.http.message import HttpHead

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def made(
    head: bytes,
    size: int = 10,
    *,
    range_: str | None = None,
    method: str = "GET",
    coded: bool = True,
) -> AnswerHead:
    asked = ProxyRequest(method=method, uri="http://example.org/", range=parse_range(range_))
    return captured_head(HttpHead(head), asked, size, coded=coded, captured=MOMENT)


def head(*lines: bytes, status: bytes = b"200 OK") -> bytes:
    return b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"", b""])


def own_fields(answer: AnswerHead) -> list[tuple[bytes, bytes]]:
    """The fields that came from the capture."""
    added = {b"Cache-Control", b"Memento-Datetime", b"Pinakes-Replay"}
    return [field for field in answer.fields if field[0] not in added]


KEPT = [
    b"Content-Type: text/html; charset=x",
    b"Set-Cookie: a=1; Path=/",
    b"Set-Cookie: b=2",
    b"Location: http://example.org/elsewhere?a b",
    b"Content-Encoding: gzip",
    b'ETag: W/"x"',
    b"Content-Security-Policy: default-src 'self'; upgrade-insecure-requests",
    b"X-Odd: \xff\xc3\xa0",
]


def test_what_was_captured_stays_byte_for_byte() -> None:
    answer = made(head(*KEPT, status=b"302 Gefunden"))
    assert (answer.status, answer.reason) == (302, b"Gefunden")
    assert [b": ".join(field) for field in own_fields(answer)] == KEPT


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_what_is_left_out(name: str) -> None:
    answer = made(head(name.title().encode() + b": 7", b"X-Kept: 1"))
    assert own_fields(answer) == [(b"X-Kept", b"1")]


def test_what_connection_names_is_left_out() -> None:
    answer = made(head(b"Connection: close, X-Hop", b"X-Hop: 1", b"X-Kept: 1"))
    assert own_fields(answer) == [(b"X-Kept", b"1")]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (b"default-src 'self'; report-uri /r; img-src *", b"default-src 'self'; img-src *"),
        (b"report-uri https://example.net/r", None),
        (b"script-src 'none';Report-To x", b"script-src 'none'"),
        (b"img-src *; report-uri /r, script-src 'none'", b"img-src *, script-src 'none'"),
        (b"report-uri /r, script-src 'none'", b"script-src 'none'"),
        (b"report-uri /r, report-to x;", None),
    ],
)
def test_a_policy_forbids_and_does_not_report(policy: bytes, kept: bytes | None) -> None:
    answer = made(head(b"Content-Security-Policy: " + policy))
    expected = [] if kept is None else [(b"Content-Security-Policy", kept)]
    assert own_fields(answer) == expected


@pytest.mark.parametrize(
    "line",
    [b"no colon", b": no name", b"Bad Name: x", b"Bad\x00: x", b"B\xc3\xa4d: x", b"(: x"],
)
def test_what_is_no_field_is_left_out(line: bytes) -> None:
    assert own_fields(made(head(line, b"X-Kept: 1"))) == [(b"X-Kept", b"1")]


@pytest.mark.parametrize("value", [b"a\rSet-Cookie: b", b"a\x00b", b"a\x0bb", b"a\r\n folded: b"])
def test_no_value_ends_its_line(value: bytes) -> None:
    answer = made(head(b"X-Odd: " + value, b"X-Kept: 1"))
    lines = answer.encode(close=False).split(b"\r\n")
    assert [line.partition(b":")[0] for line in lines if line.startswith(b"X-")] == [
        b"X-Odd",
        b"X-Kept",
    ]
    assert not set(answer.encode(close=False).replace(b"\r\n", b"")) & set(range(32))


def test_a_coding_that_the_body_has_not_is_left_out() -> None:
    assert own_fields(made(head(b"Content-Encoding: br"), coded=False)) == []


def test_a_reason_cannot_begin_another_answer() -> None:
    answer = made(b"HTTP/1.1 200 OK\rX: y\n\n")
    assert answer.encode(close=False).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("status", "stored", "asked", "expected"),
    [
        (b"200 OK", None, None, (200, 0, 10, None)),
        (b"200 OK", None, "bytes=2-5", (206, 2, 6, b"bytes 2-5/10")),
        (b"200 OK", None, "bytes=-1", (206, 9, 10, b"bytes 9-9/10")),
        (b"200 OK", None, "bytes=10-", (416, 0, 0, b"bytes */10")),
        (b"404 No", None, "bytes=2-5", (404, 0, 10, None)),
        (b"206 P", b"bytes 0-9/10", None, (200, 0, 10, None)),
        (b"206 P", b"bytes 0-9/10", "bytes=2-5", (206, 2, 6, b"bytes 2-5/10")),
        (b"206 P", b"bytes 20-29/99", None, (206, 0, 10, b"bytes 20-29/99")),
        (b"206 P", b"bytes 20-29/99", "bytes=22-", (206, 2, 10, b"bytes 22-29/99")),
        (b"206 P", b"bytes 20-29/*", "bytes=22-23", (206, 2, 4, b"bytes 22-23/*")),
        (b"206 P", b"bytes 20-29/99", "bytes=30-", (416, 0, 0, b"bytes */99")),
        (b"206 P", b"bytes 0-99/100", None, (206, 0, 10, None)),
        (b"206 P", b"nonsense", "bytes=1-2", (206, 0, 10, None)),
        (b"206 P", None, None, (206, 0, 10, None)),
        (b"204 No Content", None, None, (204, 0, 0, None)),
        (b"304 Not Modified", None, None, (304, 0, 0, None)),
        (b"999 Request Denied", None, None, (999, 0, 10, None)),
    ],
)
def test_which_part_is_sent(
    status: bytes,
    stored: bytes | None,
    asked: str | None,
    expected: tuple[int, int, int, bytes | None],
) -> None:
    lines = [] if stored is None else [b"Content-Range: " + stored]
    answer = made(head(*lines, status=status), range_=asked)
    content_range = dict(answer.fields).get(b"Content-Range")
    assert (answer.status, answer.start, answer.end, content_range) == expected


def test_a_form_is_not_answered_in_parts() -> None:
    assert made(head(), range_="bytes=2-5", method="POST").status == 200


@pytest.mark.parametrize(
    "line", [b"", b"junk\r\n\r\n", b"HTTP/1.1 101 Up\r\n\r\n", b"HTTP/1.1 1000 X\n\n"]
)
def test_what_has_no_status_cannot_be_sent(line: bytes) -> None:
    with pytest.raises(MalformedRecord):
        made(line)


def test_an_answer_of_the_proxys_own_says_so() -> None:
    text = own_head(404, "miss", 5).encode(close=True)
    assert text.startswith(b"HTTP/1.1 404 Not In The Archive\r\n")
    assert b"\r\nPinakes-Replay: miss\r\n" in text
    assert text.endswith(b"\r\nContent-Length: 5\r\nConnection: close\r\n\r\n")
