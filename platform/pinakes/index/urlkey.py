"""The urlkey of a URI: the SURT that indexes are sorted by and replay looks up by.

`http://www.Example.org/B?z=1&a=2` and `https://example.org/b?a=2&z=1` are one urlkey,
`org,example)/b?a=2&z=1`.  The rules are the Internet Archive's (`canonical_uri`); plain
URIs, which nearly all are, take a shorter path.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .canonical_uri import surt_of

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
