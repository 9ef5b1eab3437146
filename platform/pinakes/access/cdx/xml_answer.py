"""OpenWayback's queries, `q=type:urlquery url:...`, and their answers in XML.

As OutbackCDX answers them: `urlquery` gives the captures of a URL, `prefixquery` a result for
each URL below a prefix.  The fields of `q` are separated by blanks, and each is percent-encoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus
from xml.sax.saxutils import escape

from pinakes.errors import ConfigError
from pinakes.hbase_schema.capture_keys import captures_of, captures_under
from pinakes.index.cdxj import encode_no_utf8
from pinakes.index.urlkey import urlkey

from .lines import Line
from .parameters import CdxQuery, Dialect, Parameters

CONTENT_TYPE = "application/xml;charset=UTF-8"
_MOST_RESULTS = 10_000
_START = b'<?xml version="1.0" encoding="UTF-8"?><wayback>'
_END = b"</wayback>"
_FIELDS = (
    ("compressedoffset", "offset"),
    ("compressedendoffset", "length"),
    ("mimetype", "mime"),
    ("file", "filename"),
    ("redirecturl", "redirect"),
    ("urlkey", "urlkey"),
    ("digest", "digest"),
    ("httpresponsecode", "status"),
    ("robotflags", "robots"),
    ("url", "url"),
    ("capturedate", "timestamp"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlQuery:
    """A query of OpenWayback.  `query` reads its lines; `kind` is `urlquery` or `prefixquery`."""

    kind: str
    query: CdxQuery
    offset: int
    limit: int
    date: str | None


def parse_xml_query(given: Parameters, text: str) -> XmlQuery:
    """The query in `q`, with the parameters `count` and `start_page`.

    Raises:
        ConfigError: a field is wrong, or `url` is missing.
    """
    parts = (part.partition(":") for part in text.split(" ") if part)
    fields = {unquote_plus(name): unquote_plus(value) for name, _, value in parts}
    url = fields.get("url")
    if not url:
        raise ConfigError("q has no url:")
    kind = fields.get("type", "urlquery").lower()
    limit = given.number("count")
    if limit is None:
        limit = _number(fields, "limit", _MOST_RESULTS)
    page = given.number("start_page")
    offset = _number(fields, "offset", 0) if page is None else limit * max(0, page - 1)
    date = fields.get("date")
    if date is not None and not (date.isascii() and date.isdigit() and len(date) <= 17):
        raise ConfigError(f"date:{date[:40]!r} is not a time")
    key = urlkey(url)
    if kind == "prefixquery" and url.endswith("/") and not key.endswith("/"):
        key += "/"
    is_prefix = kind == "prefixquery"
    query = CdxQuery(
        dialect=Dialect.OUTBACK,
        url=url,
        match="prefix" if is_prefix else "exact",
        keys=captures_under(key) if is_prefix else captures_of(key),
        output="xml",
    )
    return XmlQuery(kind=kind, query=query, offset=offset, limit=limit, date=date)


def _number(fields: Mapping[str, str], name: str, default: int) -> int:
    text = fields.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ConfigError(f"{name}:{text[:40]!r} is not a whole number")
    return int(text)


def iter_xml(asked: XmlQuery, batches: Iterable[list[Line]], now: str) -> Iterator[bytes]:
    """The answer, in pieces, some of them empty.  Results are counted up to `_MOST_RESULTS`."""
    if asked.kind == "urlquery":
        results, kind = _captures(batches, asked.date), "resultstypecapture"
    elif asked.kind == "prefixquery":
        results, kind = _urls(batches), "resultstypeurl"
    else:
        yield _START + _error(
            "Unsupported query type", "The requested query type is unknown to the index."
        )
        return
    count = given = 0
    for result in results:
        if result is None:
            yield b""
            continue
        if count >= asked.offset and given < asked.limit:
            yield result if given else _START + b"<results>" + result
            given += 1
        count += 1
        if count >= max(_MOST_RESULTS, asked.offset + asked.limit):
            break
    if not given:
        yield _START + _error(
            "Resource Not In Archive", "The Resource you requested is not in this archive."
        )
        return
    about = (
        ("startdate", "19960101000000"),
        ("enddate", now),
        ("type", asked.kind),
        ("firstreturned", asked.offset),
        ("url", urlkey(asked.query.url)),
        ("resultsrequested", asked.limit),
        ("resultstype", kind),
        ("numreturned", given),
        ("numresults", count),
    )
    yield (
        b"</results><request>" + b"".join(_element(*pair) for pair in about) + b"</request>" + _END
    )


def _captures(batches: Iterable[list[Line]], date: str | None) -> Iterator[bytes | None]:
    """A result for each line, None after each batch; the one closest to a date, by the number
    that it is, says so."""
    wanted = None if date is None else int((date + "0" * 14)[:14])
    before: Line | None = None
    for batch in batches:
        for line in batch:
            if before is not None:
                is_closest = wanted is not None and abs(wanted - int(before.timestamp)) < abs(
                    wanted - int(line.timestamp)
                )
                wanted = None if is_closest else wanted
                yield _capture(before, is_closest=is_closest)
            before = line
        yield None
    if before is not None:
        yield _capture(before, is_closest=wanted is not None)


def _capture(line: Line, *, is_closest: bool) -> bytes:
    values = line.values()
    elements = [
        _element(name, values.get(key, "-"))
        for name, key in _FIELDS
        if key != "length" or key in values
    ]
    if is_closest:
        elements.append(_element("closest", "true"))
    return b"<result>" + b"".join(elements) + b"</result>"


def _urls(batches: Iterable[list[Line]]) -> Iterator[bytes | None]:
    """A result for each urlkey, None after each batch."""
    first: Line | None = None
    last: Line | None = None
    captures = versions = 0
    digest: str | None = ""
    for batch in batches:
        for line in batch:
            if first is None or last is None or line.urlkey != first.urlkey:
                if first is not None and last is not None:
                    yield _url_result((first, last, captures, versions))
                first, captures, versions, digest = line, 0, 0, ""
            last, captures = line, captures + 1
            if (found := line.value("digest")) != digest:
                digest, versions = found, versions + 1
        yield None
    if first is not None and last is not None:
        yield _url_result((first, last, captures, versions))


def _url_result(found: tuple[Line, Line, int, int]) -> bytes:
    first, last, captures, versions = found
    pairs = (
        ("urlkey", last.value("urlkey")),
        ("originalurl", last.value("url")),
        ("numversions", versions),
        ("numcaptures", captures),
        ("firstcapturets", first.value("timestamp")),
        ("lastcapturets", last.value("timestamp")),
    )
    return b"<result>" + b"".join(_element(*pair) for pair in pairs) + b"</result>"


def _error(title: str, message: str) -> bytes:
    return b"<error>" + _element("title", title) + _element("message", message) + b"</error>" + _END


def _element(name: str, value: object) -> bytes:
    # XML has no form for control characters, however they are escaped.
    text = "".join(c if c >= " " or c in "\t\n\r" else "\ufffd" for c in encode_no_utf8(str(value)))
    return f"<{name}>{escape(text)}</{name}>".encode("utf-8", "replace")
