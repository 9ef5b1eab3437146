"""Records that break no rule, and the same with one thing changed."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
BODY = b"<p>hello"
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED_BODY = b"8\r\n<p>hello\r\n0\r\n\r\n"
IDENTICAL = "http://netpreserve.org/warc/{}/revisit/identical-payload-digest"
DATE = "2020-01-02T03:04:05Z"
LATER = "2021-01-02T03:04:05Z"
Values = Mapping[str, "str | bytes | list[str] | None"]


def identity(number: int) -> str:
    return f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def page(number: int) -> str:
    return f"http://example.org/{number}"


def defaults(record_type: str, number: int, version: str) -> dict[str, str]:
    """The fields of a conforming record of that type, in order."""
    fields = {"WARC-Type": record_type, "WARC-Record-ID": identity(number), "WARC-Date": DATE}
    if record_type != "warcinfo":
        uri = page(number)
        fields["WARC-Target-URI"] = f"<{uri}>" if version == "1.0" else uri
    if record_type in ("response", "request", "revisit"):
        fields["WARC-IP-Address"] = "192.0.2.1"
        fields["Content-Type"] = "application/http"
    if record_type in ("warcinfo", "metadata"):
        fields["Content-Type"] = "application/warc-fields"
    if record_type in ("resource", "conversion"):
        fields["Content-Type"] = "text/html"
    if record_type in ("conversion", "revisit"):
        fields["WARC-Refers-To"] = identity(1)
    if record_type == "revisit":
        profile = IDENTICAL.format(version)
        fields["WARC-Profile"] = f"<{profile}>" if version == "1.0" else profile
        fields["WARC-Payload-Digest"] = sha1(BODY)
        fields["WARC-Truncated"] = "length"
        fields["WARC-Date"] = LATER
        if version == "1.1":
            fields["WARC-Refers-To-Target-URI"] = page(1)
            fields["WARC-Refers-To-Date"] = DATE
    if record_type == "continuation":
        fields["WARC-Segment-Origin-ID"] = identity(1)
        fields["WARC-Segment-Number"] = "2"
    return fields


BLOCKS = {
    "warcinfo": b"software: test\r\n",
    "response": HEAD + BODY,
    "request": b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
    "metadata": b"via: http://example.org/\r\n",
    "revisit": HEAD,
}


def record(
    record_type: str = "response",
    number: int = 1,
    fields: Values | None = None,
    *,
    block: bytes | None = None,
    version: str = "1.1",
    line: str | None = None,
    line_end: bytes = b"\r\n",
    end: bytes = b"\r\n\r\n",
    extra: bytes = b"",
) -> bytes:
    """A record; `fields` replace the defaults, None leaves one out, a list repeats it."""
    block = BLOCKS.get(record_type, b"content") if block is None else block
    wanted: dict[str, str | bytes | list[str] | None] = {}
    wanted.update(defaults(record_type, number, version))
    wanted["Content-Length"] = str(len(block))
    wanted.update(fields or {})
    lines = [(line or f"WARC/{version}").encode()]
    for name, value in wanted.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                text = one if isinstance(one, bytes) else one.encode()
                lines.append(name.encode() + b": " + text)
    header = line_end.join(lines) + line_end + extra + line_end
    return header + block + end


def info(number: int = 900, fields: Values | None = None, **how: object) -> bytes:
    return record("warcinfo", number, fields, **how)  # type: ignore[arg-type]


def warc(*records: bytes, version: str = "1.1") -> bytes:
    """A file: a warcinfo, then these."""
    return b"".join((info(version=version), *records))


def member(data: bytes) -> bytes:
    """One gzip member."""
    raw = zlib.compressobj(9, zlib.DEFLATED, 31)
    return raw.compress(data) + raw.flush()
