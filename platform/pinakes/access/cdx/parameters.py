"""The parameters of a CDX query, as one value.

Two dialects, by the path asked: pywb's (`/cdx`, `/{collection}/cdx`) and OutbackCDX's
(`/{collection}`).  They differ in the output and the order of ties that they give unasked, and in
what `filter=field:text` means; what either has, both take, and Wayback's parameters besides.
Sources: the API pages of pywb, OutbackCDX and Wayback (docs/cdx-server.md).
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64encode
from enum import Enum
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from pinakes.errors import ConfigError
from pinakes.hbase_schema.capture_keys import captures_of, captures_under, encode_urlkey
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.post_query import with_query
from pinakes.index.urlkey import urlkey

from .filters import Collapse, LineFilter, parse_filters

PYWB_LIMIT = 100_000
MOST_LIMIT = 10**15
MOST_SORTED = 100_000
"""Lines that an order by distance over many URLs, or the last of many, hold in memory."""
PAGE_LINES = 3000
_MOST_PARAMETERS = 64
_TRUE = frozenset({"true", "1", "yes", "on"})
_DIGITS = re.compile(r"[0-9]{1,17}\Z")
_NUMBER = re.compile(r"-?[0-9]{1,15}\Z")
_FIRST, _LAST = "10000101000000", "29991231235959"


class Dialect(Enum):
    """Whose defaults hold."""

    PYWB = "pywb"
    OUTBACK = "outbackcdx"


class Sort(Enum):
    """The order of lines: of urlkeys and time, the reverse of it, or by distance from a time."""

    DEFAULT = "default"
    REVERSE = "reverse"
    CLOSEST = "closest"


class CdxQuery(NamedTuple):
    """A query.  `fields` None: all; `start` and `stop` bound the timestamp, both inclusive, with
    14 digits; `resume_after` is the row key of the last line that was given.

    A NamedTuple: a frozen dataclass of so many fields takes 6 µs, a twentieth of an answer.
    """

    dialect: Dialect
    url: str
    match: str
    keys: KeyRange
    output: str
    sort: Sort = Sort.DEFAULT
    closest: str | None = None
    start: str | None = None
    stop: str | None = None
    filters: tuple[LineFilter, ...] = ()
    collapse: Collapse | None = None
    limit: int = MOST_LIMIT
    is_last: bool = False
    offset: int = 0
    fields: tuple[str, ...] | None = None
    resolves_revisits: bool = False
    counts_duplicates: bool = False
    omits_self_redirects: bool = False
    shows_resume_key: bool = False
    resume_after: bytes | None = None
    resumed_value: str | None = None
    counts_pages: bool = False
    page_lines: int = PAGE_LINES
    is_in_order: bool = True
    """Whether the lines of a range are given from the first, but for those filtered out."""


class Parameters:
    """The parameters of a request, each read once; what is wrong is a ConfigError."""

    def __init__(self, query_string: bytes) -> None:
        parts = query_string.split(b"&")
        if len(parts) > _MOST_PARAMETERS:
            raise ConfigError(f"more than {_MOST_PARAMETERS} parameters")
        self._parts = parts
        self._values: dict[str, str] = {}
        # `urllib.parse.parse_qsl` takes a sixth of an answer's time for this.
        for part in parts:
            name, _, value = part.partition(b"=")
            text = _unquoted(value)
            key = _unquoted(name) if b"%" in name else name.decode("latin-1")
            if text or key not in self._values:
                self._values[key] = text

    def text(self, name: str) -> str | None:
        """A parameter, if it is there and not empty; given twice, the last."""
        return self._values.get(name) or None

    def has(self, names: frozenset[str]) -> bool:
        """Whether any of these parameters is given."""
        return not names.isdisjoint(self._values)

    def has_only(self, names: frozenset[str]) -> bool:
        """Whether no other parameter is given."""
        return names.issuperset(self._values)

    def texts(self, name: str) -> list[str]:
        """All values of a parameter, the last first."""
        pairs = (part.partition(b"=") for part in reversed(self._parts))
        return [_unquoted(value) for key, _, value in pairs if _unquoted(key) == name]

    def is_true(self, name: str) -> bool:
        """Whether a parameter is `true` or `1`."""
        return (self.text(name) or "").lower() in _TRUE

    def number(self, name: str, *, least: int = 0) -> int | None:
        """A whole number; None if it is not given."""
        text = self.text(name)
        if text is None:
            return None
        if not _NUMBER.match(text) or (number := int(text)) < least:
            raise ConfigError(f"{name}={text[:40]!r} is not a whole number from {least}")
        return number


def _unquoted(value: bytes) -> str:
    if b"+" in value:
        value = value.replace(b"+", b" ")
    if b"%" in value:
        # What nearly every URL has is replaced in one go; neither makes a new escape with its
        # neighbours, as neither is a hex digit.
        value = value.replace(b"%2F", b"/").replace(b"%3A", b":")
        if b"%" in value:
            value = unquote_to_bytes(value)
    return value.decode("utf-8", "surrogateescape")


def parse_query(query_string: bytes, dialect: Dialect) -> CdxQuery:
    """The query of a request.

    Raises:
        ConfigError: a parameter is wrong, and which one.
    """
    given = Parameters(query_string)
    url, match, keys = _target(given)
    output = _output(given, dialect)
    if not given.has(_MORE_NAMES):
        return CdxQuery(dialect, url, match, keys, output, limit=_limit(None, dialect))
    closest = given.text("closest")
    if closest is not None:
        if not _DIGITS.match(closest):
            raise ConfigError(f"closest={closest[:40]!r} is not a time of up to 14 digits")
        closest = (closest + (_LAST if dialect is Dialect.PYWB else _FIRST)[len(closest) :])[:14]
    sort = _sort(given, closest, dialect)
    limit = given.number("limit", least=-MOST_SORTED)
    is_last = limit is not None and limit < 0
    start = stop = None
    if given.has(_BOUND_NAMES):
        start, stop = _bounds(given, dialect)
        if match == "exact":
            keys = _narrowed(keys, start, stop)
            start = stop = None
    query = CdxQuery(
        dialect,
        url,
        match,
        keys,
        output,
        sort=sort,
        closest=closest,
        start=start,
        stop=stop,
        limit=_limit(limit, dialect),
        is_last=is_last,
        is_in_order=not (sort is Sort.REVERSE or start or stop or is_last),
    )
    return _with_rarer(query, given) if given.has(_RARER_NAMES) else query


_BOUND_NAMES = frozenset({"from", "from_ts", "to"})
_RARER_NAMES = frozenset(
    {
        "filter", "fl", "fields", "page", "pageSize", "showNumPages", "resumeKey", "showResumeKey",
        "collapse", "collapseToFirst", "collapseToLast", "collapseTime", "fastLatest", "offset",
        "resolveRevisits", "showDupeCount", "omitSelfRedirects",
    }
)  # fmt: skip
_MORE_NAMES = _RARER_NAMES | _BOUND_NAMES | {"closest", "sort", "reverse", "limit"}
"""Thousands a second have none of these."""


def _limit(given: int | None, dialect: Dialect) -> int:
    # pywb gives all for limit=0.
    if given is None or (given == 0 and dialect is Dialect.PYWB):
        return PYWB_LIMIT if dialect is Dialect.PYWB else MOST_LIMIT
    return abs(given)


def _with_rarer(query: CdxQuery, given: Parameters) -> CdxQuery:
    """The query with its rarer parameters."""
    fields = given.text("fields") or given.text("fl")
    page, size = given.number("page"), given.number("pageSize", least=1)
    page, page_lines = 0 if page is None and size else page, size or PAGE_LINES
    resume_after, resumed_value = _resumed(given.text("resumeKey"))
    if resume_after is not None and query.sort is Sort.CLOSEST:
        raise ConfigError("resumeKey goes with the order of time, not with closest")
    is_regex = query.dialect is Dialect.OUTBACK
    query = query._replace(
        filters=parse_filters(given.texts("filter"), is_regex=is_regex),
        collapse=_collapse(given),
        limit=query.limit if page is None else min(query.limit, page_lines),
        is_last=query.is_last or given.is_true("fastLatest"),
        offset=(given.number("offset") or 0) + (page or 0) * page_lines,
        fields=tuple(fields.split(",")) if fields else None,
        resolves_revisits=given.is_true("resolveRevisits"),
        counts_duplicates=given.is_true("showDupeCount"),
        omits_self_redirects=given.is_true("omitSelfRedirects"),
        shows_resume_key=given.is_true("showResumeKey"),
        resume_after=resume_after,
        resumed_value=resumed_value,
        counts_pages=given.is_true("showNumPages"),
        page_lines=page_lines,
    )
    is_in_order = query.is_in_order and not (
        query.collapse
        or query.resolves_revisits
        or query.counts_duplicates
        or query.omits_self_redirects
        or query.is_last
        or query.offset
        or query.resume_after
    )
    return query._replace(is_in_order=is_in_order)


def _target(given: Parameters) -> tuple[str, str, KeyRange]:
    """The URL, the kind of match, and the rows; `*` in the URL stands for a kind not given."""
    url, match = given.text("url"), given.text("matchType")
    match = "default" if match is None else match.lower()
    if url is None:
        key = given.text("urlkey")
        if key is None:
            raise ConfigError("the parameter url is missing")
        match = "exact" if match == "default" else match
        return key, match, _range_of(key, key, match)
    if match == "default":
        match = "exact"
        if url.startswith("*."):
            url, match = url[2:], "domain"
        elif url.endswith("*"):
            url, match = url[:-1], "prefix"
    asked = url
    method = given.text("method")
    if method is not None and method.upper() != "GET":
        body = given.text("requestBody")
        asked = with_query(url, f"__wb_method={method.upper()}" + (f"&{body}" if body else ""))
    # An empty part of a query would be sorted before the others.
    is_cut = match == "prefix" and asked.endswith("&")
    key = f"{urlkey(asked[:-1])}&" if is_cut else urlkey(asked)
    return url, match, _range_of(asked, key, match)


def _range_of(url: str, key: str, match: str) -> KeyRange:
    """The rows that a match reads, as pywb and OutbackCDX cut them."""
    if match == "exact":
        return captures_of(key)
    if match == "prefix":
        for end in ("/", "?"):
            if url.endswith(end) and not key.endswith(end):
                key += end
        return captures_under(key)
    host = key.partition(")")[0]
    if match == "host":
        return captures_under(host + ")")
    if match == "domain":
        # From the host to the hosts below it: `)` sorts before `,`, and `-` after it.
        head = encode_urlkey(host)
        return KeyRange(head + (b")" if "," in host else b","), head + b"-")
    if match == "range":
        return KeyRange(encode_urlkey(key), b"~")
    raise ConfigError(f"matchType={match[:40]!r} is not exact, prefix, host, domain or range")


def _sort(given: Parameters, closest: str | None, dialect: Dialect) -> Sort:
    word = given.text("sort")
    if word is not None and dialect is Dialect.OUTBACK:
        word = word.lower()
    if word is not None and word not in ("default", "reverse", "closest"):
        raise ConfigError(f"sort={word[:40]!r} is not default, reverse or closest")
    # pywb asks for sort=closest without a time, and OutbackCDX for a time without sort=closest
    # gives the order of time.
    if closest is not None and (dialect is Dialect.PYWB or word == "closest"):
        return Sort.CLOSEST
    if word == "reverse" or given.is_true("reverse"):
        return Sort.REVERSE
    return Sort.DEFAULT


def _bounds(given: Parameters, dialect: Dialect) -> tuple[str | None, str | None]:
    start, stop = given.text("from") or given.text("from_ts"), given.text("to")
    for name, text in (("from", start), ("to", stop)):
        if text is not None and not _DIGITS.match(text):
            raise ConfigError(f"{name}={text[:40]!r} is not a time of up to 14 digits")
    low, high = (_FIRST, _LAST) if dialect is Dialect.PYWB else ("0" * 14, "9" * 14)
    return (
        None if start is None else (start + low[len(start) :])[:14],
        None if stop is None else (stop + high[len(stop) :])[:14],
    )


def _narrowed(keys: KeyRange, start: str | None, stop: str | None) -> KeyRange:
    """The rows of one urlkey between two times, both inclusive."""
    head = keys.start_row
    start_row = head + start.encode("ascii") if start else keys.start_row
    # After all milliseconds of that second.
    stop_row = head + stop.encode("ascii") + b"~" if stop else keys.stop_row
    return KeyRange(start_row, max(start_row, stop_row or start_row))


def _collapse(given: Parameters) -> Collapse | None:
    time = given.text("collapseTime")
    if time is not None:
        return Collapse.of(f"timestamp:{time}", also="status")
    first = given.text("collapseToFirst") or given.text("collapse")
    last = given.text("collapseToLast")
    if first is not None:
        return Collapse.of(first)
    return Collapse.of(last, keeps_last=True) if last is not None else None


def _output(given: Parameters, dialect: Dialect) -> str:
    default = "cdxj" if dialect is Dialect.PYWB else "cdx"
    word = given.text("output")
    if word is None:
        return default
    known = {
        Dialect.PYWB: ("cdxj", "json", "text", "link", "cdx", "cdx11", "jsondict"),
        Dialect.OUTBACK: ("cdx", "json", "jsondict", "cdxj", "text", "link"),
    }[dialect]
    if word not in known:
        raise ConfigError(f"output={word[:40]!r} is not one of {', '.join(known)}")
    if word == "json":
        return "ndjson" if dialect is Dialect.PYWB else "json"
    if word == "text":
        return "text" if dialect is Dialect.PYWB else "cdx"
    return "cdx" if word == "cdx11" else word


def _resumed(text: str | None) -> tuple[bytes | None, str | None]:
    if text is None:
        return None, None
    try:
        key, tab, value = b64decode(text.encode("ascii"), b"-_", validate=True).partition(b"\t")
        return key, value.decode() if tab else None
    except ValueError as error:
        raise ConfigError(f"resumeKey={text[:40]!r} is not one that was given") from error


def encode_resume_key(key: bytes, value: str | None) -> str:
    """A resume key: the row key of the last line, and its value of `collapse`."""
    after = b"" if value is None else b"\t" + value.encode("utf-8", "replace")
    return urlsafe_b64encode(key + after).decode("ascii")
