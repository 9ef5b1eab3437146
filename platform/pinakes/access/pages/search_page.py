"""The search page: URLs of a range, captures of a digest, or what can be looked up.

What was typed is a URL, a prefix, a digest, a capture, or words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from pinakes.access.readable import ReadableCaptures, Shown
from pinakes.catalog.lookup import answer_all
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_keys import captures_under, decode_capture_key
from pinakes.hbase_schema.ranges import ALL_ROWS, KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import Digest, parse_digest, resembles_digest

from .rendering import Links, render
from .url_list import list_urls

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
    """The URLs that begin with this one, with any scheme."""
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


_CAPTURES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestAnswer:
    """The first captures of a body."""

    name: str
    shown: tuple[Shown, ...]
    more: bool


def help_page(typed: str, why: str, *, links: Links) -> str:
    """What can be looked up, and why what was typed is none of it."""
    return render("search.html", links=links, typed=typed, why=why, page=None, digest=None)


def urls_page(
    captures: ReadableCaptures,
    query: PrefixQuery,
    *,
    typed: str,
    absent: str,
    after: str,
    links: Links,
) -> str:
    """The URLs of a range; `absent` is the one that was asked for and is not there."""
    return render(
        "search.html",
        links=links,
        typed=typed,
        digest=None,
        page=list_urls(captures, query.key_range, after=after),
        words=query.words,
        absent=absent,
        after=after,
        host=_host_of(absent),
    )


def digest_page(captures: ReadableCaptures, digest: Digest, *, typed: str, links: Links) -> str:
    """The first captures of a body, in all collections."""
    [answer] = answer_all(captures.rows, [str(digest)], limit=_CAPTURES)
    if isinstance(answer, InputRefused):
        return help_page(typed, answer.message, links=links)
    found = list(captures.place(match.placed.capture for match in answer.matches))
    return render(
        "search.html",
        links=links,
        typed=typed,
        page=None,
        digest=DigestAnswer(name=str(digest), shown=tuple(found), more=answer.more),
    )


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
