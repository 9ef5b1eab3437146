"""Requests for pages, answered.

GET /                       collections and crawls
GET /landing                what is landing
GET /crawl/ID?after=        a crawl, with the pages that its WACZ files list
GET /search?q=&after=       URLs, or captures of a digest
GET /suggest?q=             URLs that begin with what was typed, as JSON
GET /captures?url=&period=  a URL; `urlkey=` instead of `url=`; also /captures/URL
GET /capture/KEY            a capture
GET /record/KEY             its record, as a download
"""

from __future__ import annotations

import json

from werkzeug.exceptions import NotFound
from werkzeug.routing import Rule
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from pinakes.access.page_site import Request
from pinakes.access.readable import ReadableCaptures, Shown
from pinakes.access.views import Views
from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.capture_keys import decode_capture_key, encode_urlkey
from pinakes.index.urlkey import urlkey

from .capture_page import capture_page, read_view, record_bytes, record_name
from .captures_page import captures_page
from .home_page import crawl_page, home_page
from .landing_page import landing_page
from .rendering import Links, is_short, render
from .search_page import (
    CaptureQuery,
    DigestQuery,
    NoQuery,
    PrefixQuery,
    UrlQuery,
    below,
    digest_page,
    help_page,
    parse_query,
    urls_page,
)
from .url_list import has_captures, list_urls

_SUGGESTED = 10
_DOWNLOAD_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
}


class Browsing:
    """The pages of a pair of stores.  Safe for several threads."""

    def __init__(
        self, views: Views, captures: ReadableCaptures, *, replay_url: str | None = None
    ) -> None:
        self._views = views
        self._captures = captures
        self._replay_url = replay_url

    def rules(self) -> list[Rule]:
        """The routes."""
        endpoints = {
            "/": self._home,
            "/landing": self._landing,
            "/crawl/<crawl>": self._crawl,
            "/search": self._search,
            "/suggest": self._suggest,
            "/captures": self._of_url,
            "/captures/<rest:url>": self._of_url_path,
            "/capture/<rest:key>": self._capture,
            "/record/<rest:key>": self._record,
        }
        return [Rule(path, endpoint=e, methods=["GET"]) for path, e in endpoints.items()]

    def links(self, request: Request) -> Links:
        """Links from the root that this request came to."""
        return Links(root=f"{request.root_path}/", replay_url=self._replay_url)

    def problem(self, request: Request, code: int, title: str, words: str) -> Response:
        """A page that says what is wrong."""
        links = self.links(request)
        page = render("problem.html", links=links, code=code, title=title, words=words)
        return Response(page, code, mimetype="text/html")

    def _home(self, request: Request) -> Response:
        views = self._views
        page = home_page(
            views.landing(),
            views.totals(),
            views.care(),
            views.health(),
            links=self.links(request),
        )
        return _html(page)

    def _landing(self, request: Request) -> Response:
        views = self._views
        page = landing_page(
            views.landing(),
            views.totals(),
            views.health(),
            links=self.links(request),
            refresh=request.args.get("refresh"),
        )
        return _html(page)

    def _crawl(self, request: Request, crawl: str) -> Response:
        after = request.args.get("after", "")
        page = crawl_page(
            self._captures,
            crawl,
            totals=self._views.totals(),
            after=int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0,
            links=self.links(request),
        )
        if page is None:
            raise NotFound("This names no crawl of the store, or none that may be shown.")
        return _html(page)

    def _search(self, request: Request) -> Response:
        links = self.links(request)
        typed, after = request.args.get("q", ""), request.args.get("after", "")
        query = parse_query(typed)
        if isinstance(query, NoQuery):
            return _html(help_page(typed, query.why, links=links))
        if isinstance(query, CaptureQuery):
            return redirect(links.capture(query.key).unescape(), 303)
        if isinstance(query, DigestQuery):
            return _html(digest_page(self._captures, query.digest, typed=typed, links=links))
        absent = ""
        if isinstance(query, UrlQuery):
            key = encode_urlkey(urlkey(query.url))
            if has_captures(self._captures, key):
                return redirect(links.captures(query.url, key.decode("ascii")).unescape(), 303)
            absent, query = query.url, below(query.url)
        return _html(
            urls_page(self._captures, query, typed=typed, absent=absent, after=after, links=links)
        )

    def _suggest(self, request: Request) -> Response:
        query = parse_query(request.args.get("q", ""))
        if isinstance(query, UrlQuery):
            query = below(query.url)
        found: list[str] = []
        if isinstance(query, PrefixQuery):
            lines = list_urls(self._captures, query.key_range, urls=_SUGGESTED).lines
            found = [one.target_uri for one in lines if is_short(one.target_uri)]
        return Response(json.dumps(found), mimetype="application/json")

    def _of_url_path(self, request: Request, url: str) -> Response:
        query = request.query_string.decode("latin-1")
        address = self.links(request).page("captures", url=f"{url}?{query}" if query else url)
        return redirect(address.unescape(), 303)

    def _of_url(self, request: Request) -> Response:
        given = request.args
        url, key = given.get("url"), given.get("urlkey", "")
        if url is None and not key:
            return redirect(self.links(request).page("search").unescape(), 303)
        page = captures_page(
            self._captures,
            encode_urlkey(urlkey(url)) if url is not None else key.encode("ascii", "replace"),
            uri=url,
            period=given.get("period", ""),
            after=given.get("after", ""),
            links=self.links(request),
        )
        if page is None:
            raise NotFound("No capture of this URL is in the store, or may be shown.")
        return _html(page)

    def _capture(self, request: Request, key: str) -> Response:
        view = read_view(self._captures, self._shown(key))
        return _html(capture_page(view, links=self.links(request)))

    def _record(self, request: Request, key: str) -> Response:
        placed = self._shown(key).placed
        if placed is None:
            raise NotFound("The record of this capture is not in the store any more.")
        response = Response(
            record_bytes(self._captures, placed), mimetype="application/octet-stream"
        )
        response.headers["Content-Disposition"] = f'attachment; filename="{record_name(placed)}"'
        response.headers["Content-Length"] = str(placed.location.length)
        response.headers.update(_DOWNLOAD_HEADERS)
        return response

    def _shown(self, text: str) -> Shown:
        try:
            key = text.encode("ascii")
            decode_capture_key(key)
        except (MalformedRecord, UnicodeEncodeError):
            raise NotFound("This names no capture.") from None
        shown = self._captures.get([key]).get(key)
        if shown is None:
            raise NotFound("This capture is not in the store, or may not be shown.")
        return shown


def _html(page: str) -> Response:
    return Response(page, mimetype="text/html")
