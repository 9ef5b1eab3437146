"""The body of a request other than GET, as a query appended to its URI.

    POST http://example.org/form, a=1  ->  http://example.org/form?__wb_method=POST&a=1

Replay tools look up the response by the urlkey of that URI, so the text must be exactly
theirs.  The rules are those of the IIPC guideline "CDX for non-GET requests" and, where
that says nothing, of cdxj-indexer 1.5: the method for every request except GET; the body
for POST and PUT, by Content-Type, at most 4096 characters of it.  Flash's
`application/x-amf` gets only the method.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_plus, urlencode

from pinakes.warc.http.codings import Undecodable, codings_of, dechunked, decoded
from pinakes.warc.http.decoders import peeked
from pinakes.warc.record import Record

QUERY_LIMIT_CHARACTERS = 4096
BODY_LIMIT_BYTES = 1 << 20
"""How much of a body is read; longer JSON and multipart forms cannot be parsed."""
UNKNOWN_LENGTH_BYTES = 8192
_METHOD = re.compile(r"[A-Za-z][A-Za-z-]{0,31}\Z")
_PART_NAME = re.compile(rb'[;\s]name="?([^";\r\n]*)"?', re.IGNORECASE)
_PART_FILE = re.compile(rb"[;\s]filename=", re.IGNORECASE)


def method_query(
    method: str,
    content_type: str | None,
    content_length: str | None,
    body: Iterable[bytes | memoryview],
) -> str | None:
    """The query of a request, without `?` or `&` before it; None for GET.

    `content_type` and `content_length` are the fields as written.  `body` is the body without
    transfer-coding, in pieces; only as many as needed are read.
    """
    if method == "GET" or _METHOD.match(method) is None:
        return None
    query = f"__wb_method={method}"
    if method not in ("POST", "PUT"):
        return query
    length = _length(content_length)
    data, _ = peeked(iter(body), min(length, BODY_LIMIT_BYTES))
    asked = _body_query(content_type or "", data)[:QUERY_LIMIT_CHARACTERS] if length else ""
    return f"{query}&{asked}" if asked else query


def request_query(record: Record) -> str | None:
    """The query of a stored request; None for GET, and for what is not HTTP.

    Of a body with a Content-Encoding, which Content-Length does not measure, the first
    `BODY_LIMIT_BYTES` are read without it; where it is not in that coding, as it is stored.
    """
    http = record.http
    if http is None:
        return None
    length = http.get("content-length")
    if length is not None and _length(length) and codings_of(record):
        length = str(BODY_LIMIT_BYTES)
    content_type = http.get("content-type")
    for without_codings in (decoded, dechunked):
        try:
            return method_query(http.method, content_type, length, without_codings(record))
        except Undecodable:
            length = http.get("content-length")
    return method_query(http.method, content_type, length, record.payload())


def with_query(uri: str, query: str) -> str:
    """The URI with the query appended, after a query that it may have."""
    return f"{uri}{'&' if '?' in uri else '?'}{query}"


def _length(content_length: str | None) -> int:
    if content_length is None:
        return UNKNOWN_LENGTH_BYTES
    text = content_length.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _body_query(content_type: str, data: bytes) -> str:
    if content_type.startswith("application/x-www-form-urlencoded"):
        try:
            return unquote_plus(data.decode("utf-8"))
        except UnicodeDecodeError:
            return _binary(data)
    if content_type.startswith("multipart/"):
        return _form_of_parts(content_type, data)
    if content_type.startswith("application/json"):
        return _json(data) or ""
    if content_type.startswith("text/plain"):
        text = _json(data)
        return _binary(data) if text is None else text
    if content_type.startswith("application/x-amf"):
        return ""
    return _binary(data)


def _binary(data: bytes) -> str:
    return "__wb_post_data=" + base64.b64encode(data).decode("ascii")


def _json(data: bytes) -> str | None:
    """Every leaf by the last name above it; None if it is neither JSON nor JSON lines."""
    try:
        try:
            documents = [json.loads(data)]
        except json.JSONDecodeError:
            if b"\n" not in data:
                return None
            documents = [json.loads(line) for line in data.split(b"\n")]
        return urlencode(_numbered(leaf for d in documents for leaf in _leaves(d, "")))
    except (
        ValueError,
        RecursionError,
    ):  # also: not UTF-8, a lone surrogate, a number with too many digits
        return None


def _leaves(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from _leaves(inner, inner_name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif name:
        yield (
            name,
            str(value),
        )  # True, None and 44.0 as in Python: pywb did so first, and all tools follow


def _numbered(leaves: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A repeated name gets a number: `a`, `a.2_`, `a.3_`."""
    named: dict[str, str] = {}
    times: dict[str, int] = {}
    for name, value in leaves:
        key = name
        if name in named:
            times[name] = times.get(name, 1) + 1
            key = f"{name}.{times[name]}_"
        named[key] = value
    return named


def _form_of_parts(content_type: str, data: bytes) -> str:
    """`multipart/form-data` (RFC 7578) as a query; a file part as its bytes."""
    _, found, boundary = content_type.partition("boundary=")
    boundary = boundary.split(";", 1)[0].strip().strip('"')
    if not found or not boundary:
        return _binary(data)
    delimiter = b"--" + boundary.encode("utf-8", "surrogateescape")
    values: list[tuple[str, str | bytes]] = []
    for part in data.split(delimiter)[1:]:
        if part.startswith(b"--"):
            break
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = _PART_NAME.search(head)
        if name is None:
            continue
        content = content.removesuffix(b"\r\n")
        values.append((_text(name[1]), content if _PART_FILE.search(head) else _value(content)))
    return urlencode(values, doseq=True)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _value(content: bytes) -> str | bytes:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content
