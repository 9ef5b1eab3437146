"""The urlkey of a URI: the SURT that indexes are sorted by and replay looks up by.

`http://www.Example.org/B?z=1&a=2` and `https://example.org/b?a=2&z=1` are one urlkey,
`org,example)/b?a=2&z=1`.  The rules are the Internet Archive's: `WaybackURLKeyMaker`, its
`GoogleURLCanonicalizer` and its `IAURLCanonicalizer`, as implemented by the `surt` package (a
test compares the two, URI by URI).  They need no network, and the cost is linear in the length of
the URI.  Plain URIs, which nearly all are, take a shorter path.
"""

from __future__ import annotations

import re
import socket
from bisect import bisect_right
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes

_KEPT_KEYS = 1 << 15
_KEPT_FOLDERS = 1 << 12
# No escapes, ports, users, fragments, dot segments, numbers as hosts, nor anything else
# that canonicalization changes, except case, `www`, a last slash and the order of the query.
_PLAIN = re.compile(
    r"https?://(?:www\d*\.)?((?:[a-z\d][a-z\d-]*\.)*[a-z]{2,})"
    r"(/|(?:/(?!\.)[\w.~!$&'*+,;=:@-]+)+(?=/?(?:\?|\Z)))?/?(?:\?([\w.~!$&'()*+,;=:@/?-]+))?\Z",
    re.ASCII,
)
# The last segment of a plain URI, after its last slash.
_PLAIN_NAME = re.compile(r"(?!\.)[\w.~!$&'*+,;=:@-]+\Z", re.ASCII)
_SESSION = re.compile("sess|sid=|cfid=")


def urlkey(uri: str) -> str:
    """The SURT of a URI; never raises.

    A text that has no SURT is returned in lower case and without blanks, so that it still
    sorts and can be found.
    """
    folder, _, name = uri.rpartition("/")
    if _PLAIN_NAME.match(name):  # many URIs share a folder
        key = _plain_folder(folder)
        if key is not None:
            return f"{key}/{name.lower()}"
    # isascii: the Kelvin sign is a "k" in lower case.
    match = _PLAIN.match(uri.lower()) if uri[:4] == "http" and uri.isascii() else None
    if match is None:
        return _by_all_rules(uri)
    host, path, query = match.groups()
    key = f"{_reverse(host)}){path or '/'}"
    if query is None:
        return key
    if _SESSION.search(query):
        return _by_all_rules(uri)
    if "&" in query:
        query = "&".join(
            ["=".join(pair) for pair in sorted(a.split("=", 1) for a in query.split("&"))]
        )
    return f"{key}?{query}"


@lru_cache(maxsize=_KEPT_FOLDERS)
def _plain_folder(uri: str) -> str | None:
    """The urlkey of a plain URI without its last segment; None where it is not plain."""
    if uri[:4] != "http" or uri[-1] == "/" or "?" in uri or not uri.isascii():
        return None
    match = _PLAIN.match(uri.lower())
    return f"{_reverse(match[1])}){match[2] or ''}" if match is not None else None


@lru_cache(maxsize=1 << 12)
def _reverse(host: str) -> str:
    return ",".join(reversed(host.split(".")))


@lru_cache(maxsize=_KEPT_KEYS)
def _by_all_rules(uri: str) -> str:
    try:
        key = surt_of(uri.encode("utf-8", "surrogateescape")).decode(errors="surrogateescape")
    except ValueError:
        key = uri.lower()
    return "".join(key.split()) if any(map(str.isspace, key)) else key


_LINE_ENDS_AND_TABS = b"\n\r\t"
_SCHEME = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*:")
_REPEATED_SCHEME = re.compile(rb"(?:https?://)+(?=https?://)")
# RFC 2396, appendix B, without the fragment.
_PARTS = re.compile(rb"([^:]*):(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?")
_SAFE = b"""!"$&'()*+,-./:;<=>?@[\\]^_`{|}~"""
_HEX_PAIR = re.compile(rb"[0-9a-fA-F]{2}\Z")
_QUICK_PASSES = 3
_DEFAULT_PORTS = {b"http": b"80", b"https": b"443"}
_HIGHEST_PORT = 65535
_WWW = re.compile(rb"\Awww\d*\.")
# An IPv4 address as C's `inet_aton` reads it: either no part or each part has a leading zero.
_DECIMAL_ADDRESS = re.compile(rb"[1-9][0-9]*(?:\.[0-9]+){0,3}\Z")
_OCTAL_ADDRESS = re.compile(rb"0[0-7]*(?:\.[0-7]+){0,3}\Z")
_PATH_SESSIONS = tuple(
    re.compile(rb"(?<=/)" + session + rb"/")
    for session in (rb"\((?:[a-z]\([0-9a-z]{24}\))+\)", rb"\([0-9a-z]{24}\)")
)
_QUERY_SESSIONS = tuple(
    re.compile(session + rb"(?=&|\Z)", re.IGNORECASE)
    for session in (
        rb"jsessionid=[0-9a-z]{32}",
        rb"phpsessid=[0-9a-z]{32}",
        rb"sid=[0-9a-z]{32}",
        rb"aspsessionid[a-z]{8}=[a-z]{24}",
    )
)


def surt_of(uri: bytes) -> bytes:
    """The SURT of a URI, in ASCII.  Raises ValueError for a port that is not a number, or no URI.

    A URI without a scheme gets `http`; one without a host keeps its scheme (`mailto:a@b.org`).
    """
    if not uri:
        return b"-"
    if uri.startswith(b"filedesc"):  # the version block of an ARC file
        return uri
    scheme, authority, path, query = _split(uri)
    host, port = _host_and_port(authority)
    if host is None and path and scheme.startswith(b"http"):  # http:////www.example.org/a
        host, _, rest = path.lstrip(b"/").partition(b"/")
        path = b"/" + rest
    host = _canonical_host(host) if host else b""
    path = _unescape(path)
    path = _escape(_normal_path(path) if host else path).lower()
    path = _without_path_session(path)
    if len(path) > 1 and path.endswith(b"/"):
        path = path[:-1]
    query = _canonical_query(_escape(_unescape(query)))
    if host and scheme != b"dns":
        host = _WWW.sub(b"", host, count=1)
    key = b",".join(reversed(host.split(b"."))) if host else scheme + b":"
    if host and port and port != _DEFAULT_PORTS.get(scheme.lower()):
        key += b":" + port
    key += b")" if host else b""
    return key + (path or (b"/" if query else b"")) + (b"?" + query if query else b"")


def _split(uri: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Scheme, authority, path and query; missing parts are empty."""
    uri = uri.strip().translate(None, _LINE_ENDS_AND_TABS)
    if not _SCHEME.match(uri):
        uri = b"http://" + uri if uri else uri
    repeated = _REPEATED_SCHEME.match(uri)
    match = _PARTS.match(uri, repeated.end() if repeated else 0)
    if match is None:
        raise ValueError("not a URI")
    scheme, authority, path, query = match.groups(b"")
    return scheme, authority, path, query


def _host_and_port(authority: bytes) -> tuple[bytes | None, bytes]:
    """Host and port (RFC 3986, section 3.2), without the user; None and empty if missing."""
    _, _, place = authority.rstrip(b":").rpartition(b"@")
    before, bracket, literal = place.partition(b"[")
    if bracket:
        host, _, rest = literal.partition(b"]")
        port = rest.partition(b":")[2]
    else:
        host, _, port = before.partition(b":")
    port = port.lstrip(b"0") if port.isdigit() else port
    if port and (not port.isdigit() or len(port) > 5 or int(port) > _HIGHEST_PORT):
        raise ValueError("not a port")
    return host.lower() or None, port


def _canonical_host(host: bytes) -> bytes:
    host = _unescape(host)
    if not host.isascii():
        with suppress(ValueError):  # then as written, escaped
            host = host.decode("utf-8", "ignore").encode("idna")
    host = host.replace(b"..", b".").strip(b".")
    return _address(host) or _escape(host).lower()


def _address(host: bytes) -> bytes | None:
    """The dotted address for a number, or for up to four numbers with dots."""
    if host.isdigit():
        return socket.inet_ntoa((int(host) & 0xFFFFFFFF).to_bytes(4, "big")).encode()
    if _DECIMAL_ADDRESS.match(host) or _OCTAL_ADDRESS.match(host):
        try:
            return socket.inet_ntoa(socket.inet_aton(host.decode())).encode()
        except OSError:
            return None
    return None


def _normal_path(path: bytes) -> bytes:
    """Without empty, `.` and `..` segments; `..` at the root stays."""
    kept: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and kept:
            kept.pop()
        elif segment != b".":
            kept.append(segment)
    return b"/" + b"".join(segment + b"/" for segment in kept[:-1] if segment) + b"".join(kept[-1:])


def _escape(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")


def _unescape(text: bytes) -> bytes:
    """Percent-decode until nothing is left to decode."""
    for _ in range(_QUICK_PASSES):
        if b"%" not in text:
            return text
        text = unquote_to_bytes(text)
    # A decoded byte may complete an escape before it; one pass, since `%252525…` must stay linear.
    out = bytearray()
    for byte in text:
        out.append(byte)
        while len(out) > 2 and out[-3] == ord("%") and _HEX_PAIR.match(out, len(out) - 2):
            out[-3:] = bytes.fromhex(out[-2:].decode())
    return bytes(out)


def _without_path_session(path: bytes) -> bytes:
    """Without the session of ASP.NET in place of a folder: `/(S(…24…))/page.aspx`."""
    for session in _PATH_SESSIONS:
        found = list(session.finditer(path)) if b".aspx" in path else []
        pages = [match.start() for match in re.finditer(rb"\.aspx", path)] if found else []
        marks = [match.start() for match in re.finditer(rb"\?", path)] if found else []
        for match in reversed(found):
            at = bisect_right(pages, match.end())
            mark = bisect_right(marks, match.end() - 1)
            if at < len(pages) and (mark == len(marks) or pages[at] < marks[mark]):
                path = path[: match.start()] + path[match.end() :]
                break
    return path


def _canonical_query(query: bytes) -> bytes:
    """Without sessions, in lower case, sorted by name and value."""
    if not query:
        return query
    for session in _QUERY_SESSIONS:
        if found := list(session.finditer(query)):
            last = found[-1]
            query = query[: last.start()] + query[last.end() + 1 :]
    query = _without_cold_fusion(query).lower()
    if len(query) < 2:
        return query
    pairs = sorted(tuple(pair.split(b"=", 1)) for pair in query.split(b"&"))
    return b"&".join(b"=".join(pair) for pair in pairs)


def _without_cold_fusion(query: bytes) -> bytes:
    """Without the last `cfid=…&cftoken=…`."""
    pairs = query.split(b"&")
    lower = [pair.lower() for pair in pairs]
    for at in range(len(pairs) - 1, 0, -1):
        if lower[at].startswith(b"cftoken=") and len(lower[at]) > len(b"cftoken="):
            begin = lower[at - 1].rfind(b"cfid=", 0, -1)
            if begin >= 0:
                before = b"".join(pair + b"&" for pair in pairs[: at - 1])
                return before + pairs[at - 1][:begin] + b"&".join(pairs[at + 1 :])
    return query
