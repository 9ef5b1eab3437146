"""Requests other than GET: their query, as other tools append it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.index.post_query import QUERY_LIMIT_CHARACTERS, method_query, with_query
from pinakes.index.urlkey import urlkey

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
PARTS = (
    b'--xYz\r\nContent-Disposition: form-data; name="a b"\r\n\r\none&two\r\n'
    b'--xYz\r\nContent-Disposition: form-data; name="f"; filename="x.bin"\r\n'
    b"Content-Type: application/octet-stream\r\n\r\n\x00\xff\r\n--xYz--\r\n"
)
GUIDELINE = (
    b'{"type":"event","id":44.0,"values":[true,false,null],'
    b'"source":{"type":"component","id":"a+b&c= d","values":[3,4]}}'
)


@pytest.mark.parametrize(
    ("method", "content_type", "body", "query"),
    [
        pytest.param("GET", None, b"x", None, id="get"),
        pytest.param("\x16\x03", None, b"x", None, id="no-method"),
        pytest.param("HEAD", None, b"", "__wb_method=HEAD", id="head"),
        pytest.param("DELETE", JSON, b'{"a":1}', "__wb_method=DELETE", id="delete"),
        pytest.param("PUT", FORM, b"a=%31", "__wb_method=PUT&a=1", id="put"),
        pytest.param("POST", FORM, b"", "__wb_method=POST", id="empty"),
        pytest.param("POST", None, b"hello", "__wb_method=POST&__wb_post_data=aGVsbG8=", id="any"),
        pytest.param("POST", FORM, b"\xff", "__wb_method=POST&__wb_post_data=/w==", id="no-utf-8"),
        pytest.param("POST", JSON, b'{"a":1}\n{"a":2}', "__wb_method=POST&a=1&a.2_=2", id="lines"),
        pytest.param("POST", JSON, b"[" * 100_000, "__wb_method=POST", id="deep"),
        pytest.param("POST", JSON, b'{"a":"\\ud800"}', "__wb_method=POST", id="surrogate"),
        pytest.param("POST", "application/x-amf", b"\0\3", "__wb_method=POST", id="amf"),
        pytest.param(
            "POST",
            "multipart/form-data; boundary=xYz",
            PARTS,
            "__wb_method=POST&a+b=one%26two&f=%00%FF",
            id="parts",
        ),
        pytest.param(
            "POST",
            "multipart/form-data",
            b"x",
            "__wb_method=POST&__wb_post_data=eA==",
            id="no-boundary",
        ),
        pytest.param(
            "POST",
            JSON,
            GUIDELINE,
            "__wb_method=POST&type=event&id=44.0&values=True&values.2_=False&values.3_=None"
            "&type.2_=component&id.2_=a%2Bb%26c%3D+d&values.4_=3&values.5_=4",
            id="guideline",
        ),
    ],
)
def test_queries(method: str, content_type: str | None, body: bytes, query: str | None) -> None:
    assert method_query(method, content_type, str(len(body)), [body]) == query


@pytest.mark.parametrize(
    ("length", "query"),
    [
        pytest.param("3", "__wb_method=POST&abc", id="as-much-as-it-says"),
        pytest.param("nine", "__wb_method=POST", id="no-number"),
        pytest.param("-1", "__wb_method=POST", id="negative"),
        pytest.param(None, "__wb_method=POST&abcdef", id="not-said"),
    ],
)
def test_content_length_says_how_much(length: str | None, query: str) -> None:
    assert method_query("POST", FORM, length, [b"ab", b"cd", b"ef"]) == query


def test_a_body_is_read_no_further_than_is_needed() -> None:
    taken = 0

    def body() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield b"a" * 100_000

    query = method_query("POST", FORM, str(10**12), body())  # type: ignore[arg-type]
    assert query == "__wb_method=POST&" + "a" * QUERY_LIMIT_CHARACTERS
    assert taken < 20


def test_post_query_is_appended_to_the_url_query() -> None:
    assert with_query("http://e.org/", "m") == "http://e.org/?m"
    assert with_query("http://e.org/?foo&", "m") == "http://e.org/?foo&&m"


def test_as_jwarc_encodes_it(shared_data: Path) -> None:
    """By urlkey: jwarc escapes what SURT escapes anyway."""
    lines = (shared_data / "expected-cdx" / "jwarc-post-encoding.jsonl").read_text().splitlines()
    unlike = []
    for case in map(json.loads, lines):
        body = case["body"].encode()
        query = method_query(case["method"], case["content_type"], str(len(body)), [body])
        assert query is not None
        ours, theirs = (
            urlkey(with_query("http://e.org/foo", q))
            for q in (query, case["expected_query_append"])
        )
        if ours != theirs:
            unlike.append(case["content_type"])
    assert len(lines) >= 9
    # Two media types in one field: pywb and cdxj-indexer go by how it begins.
    assert unlike == ["application/x-www-form-urlencoded, text/plain"]


@given(
    st.sampled_from([FORM, JSON, "text/plain", "multipart/form-data; boundary=x", "a/b"]),
    st.binary(max_size=300),
)
def test_any_body_has_a_query_and_a_urlkey(content_type: str, body: bytes) -> None:
    query = method_query("POST", content_type, str(len(body)), [body])
    assert query is not None
    assert query.startswith("__wb_method=POST")
    assert urlkey(with_query("http://e.org/", query))
