"""Heads of HTTP requests: the parts of a target, and what clients send again with each.

Source: RFC 9112.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import httptools

from .asgi import HeaderList

_END = b"\r\n\r\n"
_PLAIN_GET = re.compile(
    rb"GET (/[\w!$%&'()*+,./:;=@~-]*)\??([\w!$%&'()*+,./:;=?@~\[\]-]*) HTTP/1\.1", re.ASCII
)
"""The first line of a request: path and query, with nothing that a parser might see otherwise."""


class Head(NamedTuple):
    """The head of a request but for its target."""

    method: str
    version: str
    headers: HeaderList
    keeps: bool
    """Whether the connection stays open."""
    expects: bool
    """Whether the client waits for 100 Continue."""
    has_body: bool


class KnownHead:
    """What came after the first line of a GET: clients send the same with each.

    So it is parsed once: that takes a tenth of a small answer.
    """

    def __init__(self) -> None:
        self._behind: bytes | None = None
        self._head: Head | None = None

    def find(self, data: bytes) -> tuple[bytes, bytes, Head] | None:
        """Path, query and head of a request that is all of this; None where it has to be parsed."""
        line, _, behind = data.partition(b"\r\n")
        if behind != self._behind or self._head is None:
            return None
        plain = _PLAIN_GET.fullmatch(line)
        return (plain[1], plain[2], self._head) if plain is not None else None

    def learn(self, data: bytes, head: Head | None) -> None:
        """Note what the parser made of one request, if the request is all of this."""
        line, _, behind = data.partition(b"\r\n")
        is_whole = data.find(_END) == len(data) - len(_END)
        if head is None or not is_whole or _PLAIN_GET.fullmatch(line) is None:
            return
        if head.keeps and not head.expects and not head.has_body:
            self._behind, self._head = behind, head


def headers_for(target: bytes, headers: HeaderList) -> HeaderList:
    """The headers; the host of a whole URL as target counts, not theirs (RFC 9112, 3.2.2)."""
    if target.startswith((b"/", b"*")):
        return tuple(headers)
    url = httptools.parse_url(target)
    host = b"%b:%d" % (url.host, url.port) if url.port else url.host
    return ((b"host", host), *(header for header in headers if header[0] != b"host"))


def parts_of(target: bytes) -> tuple[bytes, bytes]:
    """Path and query."""
    if target.startswith(b"/") and b"#" not in target:
        path, _, query = target.partition(b"?")
        return path, query
    url = httptools.parse_url(target)
    return url.path or b"/", url.query or b""
