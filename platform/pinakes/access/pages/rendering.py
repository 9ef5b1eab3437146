"""The templates of all pages, how values are written in them, and the addresses of pages.

In addresses, text of archives is quoted; what is too long is addressed by its urlkey.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from importlib.resources import files
from urllib.parse import quote, urlencode

import jinja2
from markupsafe import Markup, escape

from pinakes import __version__
from pinakes.access.display import URL_CHARACTERS, display_text
from pinakes.hbase_schema.capture_cells import (
    CaptureFacts,
    DedupeMark,
    ExtractedView,
    Location,
    Pin,
    QaVerdict,
)
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import parse_digest

_CELLS = {
    CaptureFacts.COLUMN: "the record as landed",
    DedupeMark.COLUMN: "decision of dedupe",
    Pin.COLUMN: "whether others refer to it",
    QaVerdict.COLUMN: "verdict of QA",
    ExtractedView.COLUMN: "what was extracted",
}


def render(template: str, *, links: Links, **values: object) -> str:
    """A page by the name of its template."""
    found = _environment().get_template(template)
    return found.render(links=links, version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number, size=size, moment=moment, span=span, time=capture_time, day=day_words
    )
    environment.filters["cell"] = _cell_words
    environment.tests["is_digest"] = lambda text: parse_digest(text) is not None
    return environment


def _source(name: str) -> str:
    return files("pinakes.access.pages").joinpath(name).read_text("utf-8")


def _plain(value: object) -> object:
    """Text, which may be of an archive: bounded, without characters that deceive."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")  # of a macro or a link
    return display_text(str(value), URL_CHARACTERS) if is_text else value


def number(value: float | None) -> str:
    """`1,234`, `3.5`; `…` for what is not known yet."""
    if value is None:
        return "…"
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def size(value: float | None) -> str:
    """Bytes in decimal units."""
    if value is None:
        return "…"
    for suffix in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 1000 or suffix == "TB":
            break
        value /= 1000
    return f"{value:.0f} {suffix}" if suffix == "B" else f"{value:.1f} {suffix}"


def moment(time_ms: int) -> str:
    """Milliseconds since 1970 as `2020-01-02 03:04:05`, UTC."""
    return datetime.fromtimestamp(time_ms / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def span(milliseconds: float) -> str:
    """`4 s`, `12 min`, `3 h`, `2 days`."""
    seconds = max(0, round(milliseconds / 1000))
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def capture_time(digits: str) -> str:
    """The 17 digits of a row key as `2020-01-02 03:04:05`, with milliseconds if there are any."""
    if not digits.strip("0"):
        return "date unreadable"
    second = f"{day_words(digits[:8])} {digits[8:10]}:{digits[10:12]}:{digits[12:14]}"
    return second if digits[14:] in ("", "000") else f"{second}.{digits[14:]}"


def day_words(digits: str) -> str:
    """`2020`, `2020-01`, `2020-01-02`."""
    if digits == "0000":
        return "date unreadable"
    return "-".join(part for part in (digits[:4], digits[4:6], digits[6:8]) if part)


def _cell_words(column: str) -> str:
    generation = column.removeprefix(Location.COLUMN.decode("ascii"))
    if generation != column:
        return f"place in generation {generation}"
    return _CELLS.get(column.encode("ascii"), "other")


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
