"""What a browser asks of the proxy: which original URL, how, and which part of it.

Pure.  A request line comes in three forms (RFC 9112 §3.2): with the whole URL, as proxies
are asked for http; with a path, inside a tunnel that CONNECT opened; and with host and port,
which opens one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from pinakes.index.post_query import with_query

from .byte_range import ByteRange
from .page_log import TEXT_LIMIT_CHARACTERS

_ABSOLUTE = re.compile(r"(https?|wss?)://([^/?#]*)", re.IGNORECASE)
_SCHEMES = {"ws": "http", "wss": "https"}
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]{1,253}):(\d{1,5})\Z")
# Browsers write these as escapes; what else sends them means the same.
_NOT_PRINTABLE = re.compile(rb"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """A request for an original URL.

    `query` is that of a request other than GET, as indexes have it (`index.post_query`);
    `body` its first bytes, `BODY_LIMIT_BYTES` at most.
    """

    method: str
    uri: str
    query: str | None = None
    range: ByteRange | None = None
    body: bytes = b""

    @property
    def lookup_uri(self) -> str:
        """The URI whose urlkey captures of this request have."""
        return self.uri if self.query is None else with_query(self.uri, self.query)

    @property
    def digest(self) -> str:
        """What tells this from other requests of its method and URL; empty for a plain one."""
        if not (self.query or self.body or self.range) and len(self.uri) < TEXT_LIMIT_CHARACTERS:
            return ""
        parts = (self.uri, self.query or "", repr(self.range or ""))
        encoded = "\0".join(parts).encode("utf-8", "surrogatepass")
        return sha256(encoded + b"\0" + self.body).hexdigest()[:16]

    @property
    def wants_body(self) -> bool:
        return self.method != "HEAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunnel:
    """What CONNECT opened: to which host and port, and what is spoken in it."""

    host: str
    port: int
    scheme: str = "https"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def clean_request_line(line: bytes) -> bytes | None:
    """A request line of three words, whatever bytes the URL in it holds; None for fewer."""
    words = line.strip().split(b" ")
    if len(words) < 3:
        return None
    target = _NOT_PRINTABLE.sub(lambda m: b"%%%02X" % m[0][0], b" ".join(words[1:-1]))
    return b"%b %b %b\r\n" % (words[0], target, words[-1])


def parse_authority(target: str) -> Tunnel | None:
    """Host and port of a CONNECT; None where they are none."""
    match = _AUTHORITY.match(target)
    if match is None or not 0 < int(match[2]) < 65536:
        return None
    return Tunnel(host=match[1].lower(), port=int(match[2]))


def original_uri(target: str, tunnel: Tunnel | None) -> str | None:
    """The URL that was asked for, without fragment and default port; None where it is none."""
    whole = target
    if target.startswith("/") and tunnel is not None:
        whole = tunnel.origin + target
    match = _ABSOLUTE.match(whole)
    if match is None or not match[2]:
        return None
    scheme = _SCHEMES.get(match[1].lower(), match[1].lower())
    authority = match[2].removesuffix(_DEFAULT_PORTS[scheme])
    rest, _, _ = whole[match.end() :].partition("#")
    return f"{scheme}://{authority}{rest if rest[:1] == '/' else '/' + rest}"
