"""The search page: URLs of a range, captures of a digest, or what can be looked up."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pinakes.access.readable import ReadableCaptures, Shown
from pinakes.catalog.lookup import answer_all
from pinakes.errors import InputRefused
from pinakes.warc.digest import Digest

from .links import Links
from .query import PrefixQuery
from .rendering import render
from .url_list import list_urls

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
