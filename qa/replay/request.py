"""A browser's request to the proxy: the original URL, the method, the requested range.

Pure.  A request line has one of three forms (RFC 9112 §3.2): with the whole URL, for http; with
a path, inside a tunnel that CONNECT opened; with host and port, which opens a tunnel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from pinakes.access.byte_range import ByteRange
from pinakes.index.post_query import with_query

from .page_log import TEXT_LIMIT_CHARACTERS

_ABSOLUTE = re.compile(r"(https?|wss?)://([^/?#]*)", re.IGNORECASE)
_SCHEMES = {"ws": "http", "wss": "https"}
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]{1,253}):(\d{1,5})\Z")
# Browsers percent-encode these; other clients may send them as they are.
_NOT_PRINTABLE = re.compile(rb"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """A request for an original URL.

    `query` encodes a request other than GET, as in indexes (`index.post_query`); `body` is its
    first `BODY_LIMIT_BYTES` bytes at most.
    """

    method: str
    uri: str
    query: str | None = None
    range: ByteRange | None = None
    body: bytes = b""

    @property
    def lookup_uri(self) -> str:
        """The URI whose urlkey finds captures of this request."""
        return self.uri if self.query is None else with_query(self.uri, self.query)

    @property
    def digest(self) -> str:
        """Distinguishes requests of the same method and URL; empty for a plain request."""
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
    """A tunnel opened by CONNECT: host, port, and the scheme spoken in it."""

    host: str
    port: int
    scheme: str = "https"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def clean_request_line(line: bytes) -> bytes | None:
    """A request line of three words, the bytes of its URL escaped; None for fewer words."""
    words = line.strip().split(b" ")
    if len(words) < 3:
        return None
    target = _NOT_PRINTABLE.sub(lambda m: b"%%%02X" % m[0][0], b" ".join(words[1:-1]))
    return b"%b %b %b\r\n" % (words[0], target, words[-1])


def parse_authority(target: str) -> Tunnel | None:
    """Host and port of a CONNECT; None if invalid."""
    match = _AUTHORITY.match(target)
    if match is None or not 0 < int(match[2]) < 65536:
        return None
    return Tunnel(host=match[1].lower(), port=int(match[2]))


def original_uri(target: str, tunnel: Tunnel | None) -> str | None:
    """The requested URL, without fragment and default port; None if not http or https."""
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


HOSTS = frozenset(
    {
        # Chromium: updates, time, accounts, Safe Browsing, hints, components.
        "accounts.google.com",
        "android.clients.google.com",
        "clients1.google.com",
        "clients2.google.com",
        "content-autofill.googleapis.com",
        "edgedl.me.gvt1.com",
        "mtalk.google.com",
        "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com",
        "safebrowsing.googleapis.com",
        "safebrowsingohttpgateway.googleapis.com",
        "update.googleapis.com",
        # Debian's Chromium: its start page.
        "start.duckduckgo.com",
        # Firefox: network check, settings, add-ons, push, telemetry.
        "aus5.mozilla.org",
        "content-signature-2.cdn.mozilla.net",
        "detectportal.firefox.com",
        "firefox.settings.services.mozilla.com",
        "firefox-settings-attachments.cdn.mozilla.net",
        "incoming.telemetry.mozilla.org",
        "location.services.mozilla.com",
        "push.services.mozilla.com",
        "shavar.services.mozilla.com",
    }
)

ICON = "/favicon.ico"
"""On any host: each browser requests it once, regardless of the page."""


def is_browser_traffic(uri: str) -> bool:
    """Whether browsers request this URL by themselves."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return parts.hostname in HOSTS or parts.path == ICON
