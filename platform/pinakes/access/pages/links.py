"""Addresses of pages.  Text of archives is quoted; what is too long is addressed by its urlkey."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.index.urlkey import urlkey

_LONGEST_URL = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Links below `root`, a path that ends with a slash; replay is at `replay_url`, if anywhere."""

    root: str = "/"
    replay_url: str | None = None

    def page(self, name: str, **query: str) -> Markup:
        """A page by its name, with a query; empty values are left out."""
        given = urlencode({key: value for key, value in query.items() if value})
        return Markup(escape(f"{self.root}{name}{'?' if given else ''}{given}"))

    def crawl(self, crawl: str, **query: str) -> Markup:
        """A crawl's page."""
        return self.page(f"crawl/{quote(crawl, safe='')}", **query)

    def captures(self, uri: str, key: str, **query: str) -> Markup:
        """The captures of a URL: by the URL where that is short and leads to the key."""
        if is_short(uri) and encode_urlkey(urlkey(uri)).decode("ascii") == key:
            return self.page("captures", url=uri, **query)
        return self.page("captures", urlkey=key, **query)

    def capture(self, key: bytes | str) -> Markup:
        """A capture's page."""
        return self._by_key("capture", key)

    def record(self, key: bytes | str) -> Markup:
        """The download of a record."""
        return self._by_key("record", key)

    def warc(self, file: str) -> Markup:
        """A stored file, of which a client takes a range."""
        name = quote(file.encode("utf-8", "surrogateescape"), safe="/")
        return Markup(escape(f"{self.root}warc/{name}"))

    def replay(self, uri: str, time: str) -> Markup | None:
        """A capture in the replay; None without one, or for what no replay has a page for."""
        if self.replay_url is None or not is_short(uri) or not uri.isprintable():
            return None
        if not uri.lower().startswith(("http://", "https://")):
            return None
        address = f"{self.replay_url.rstrip('/')}/{time[:14]}/"
        return Markup(escape(address + quote(uri, safe="/:?&=%+,;@!$'()*~[]")))

    def _by_key(self, name: str, key: bytes | str) -> Markup:
        return Markup(escape(f"{self.root}{name}/{quote(key, safe='')}"))


def is_short(uri: str) -> bool:
    """Whether a link can hold the URL: not too long, and text in Unicode."""
    return len(uri) <= _LONGEST_URL and not any("\ud800" <= one <= "\udfff" for one in uri)
