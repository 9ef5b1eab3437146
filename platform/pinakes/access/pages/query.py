"""What was typed into the search box: a URL, a prefix, a digest, a capture, or words.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.capture_keys import captures_under, decode_capture_key
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import Digest, parse_digest, resembles_digest

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|\Z))")
_HOST = re.compile(r"(?:[^\s/?#.:@*]+\.)+[^\s/?#.:@*]+\.?|localhost|\[[0-9A-Fa-f:.]+\]")
_SURT = re.compile(r"[^\s/?#()]+(?:,[^\s/?#()]+)*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlQuery:
    """One URL; nothing captured, URLs that begin with it are what is wanted."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixQuery:
    """All URLs of a range; `words` say which."""

    words: str
    key_range: KeyRange


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestQuery:
    """The captures of a body."""

    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureQuery:
    """One capture by its row key."""

    key: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NoQuery:
    """Nothing to look up, and why; empty: nothing was typed."""

    why: str


Query = UrlQuery | PrefixQuery | DigestQuery | CaptureQuery | NoQuery


def parse_query(text: str) -> Query:
    """What a text asks for."""
    text = text.strip()
    if not text:
        return NoQuery(why="")
    try:
        decode_capture_key(text.encode("ascii"))
        return CaptureQuery(key=text.encode("ascii"))
    except (MalformedRecord, UnicodeEncodeError):
        pass
    digest = parse_digest(text)
    if digest is not None:
        return DigestQuery(digest=digest)
    if resembles_digest(text):
        return NoQuery(
            why="It looks like a digest, but has the wrong length: sha1 has 32 characters in "
            "Base32 and 40 in hex, sha256 52 and 64."
        )
    return _of_url(text)


def _of_url(text: str) -> Query:
    if text == "*":
        return PrefixQuery(words="of the store", key_range=ALL_ROWS)
    if text.startswith("*."):
        host = text[2:].rstrip("/*")
        return _hosts(host) if _HOST.fullmatch(host) else _no_url()
    if _SURT.match(text):
        key = text.rstrip("*")
        return PrefixQuery(words=f"with the key {key}…", key_range=captures_under(key))
    has_scheme = _SCHEME.match(text) is not None
    host_name = _HOST.match(text)
    if not has_scheme and (host_name is None or any(map(str.isspace, text))):
        return _no_url()
    if host_name is not None and text.rstrip("*") == host_name[0]:
        return _hosts(host_name[0])
    url = text if has_scheme else f"http://{text}"
    return below(url.rstrip("*")) if text.endswith("*") else UrlQuery(url=url)


def below(url: str) -> PrefixQuery:
    """The URLs that begin with this one, whatever their scheme."""
    key = urlkey(url)
    # Keys have no last slash: without it, a folder would be the beginning of others' names.
    if url.endswith("/") and not key.endswith("/"):
        key += "/"
    return PrefixQuery(words=f"that begin with {url}", key_range=captures_under(key))


def _hosts(host: str) -> PrefixQuery:
    """A host and those below it."""
    labels = urlkey(f"http://{host}/").partition(")")[0].encode("ascii", "replace")
    # `)` and `,` follow each other, but for `*` and `+`, which are in no host.
    return PrefixQuery(
        words=f"on {host} and hosts below it",
        key_range=KeyRange(labels + b")", labels + b"-"),
    )


def _no_url() -> NoQuery:
    return NoQuery(
        why="This is not a URL, and pages are not searched for words: only for where they were."
    )
