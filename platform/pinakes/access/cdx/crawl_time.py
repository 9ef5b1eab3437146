"""What crawlers ask while they crawl: which original may a revisit refer to?

POST [/{collection}]/digests                     many digests, a line of JSON for each
GET  /{collection}/dedup/hex|base32[/{crawl}]    warcprox's query: `time digest`, or nothing
GET  /{collection}/dedup/wget[/{crawl}]          a CDX file for wget's `--warc-dedup`

warcprox and wget cannot be given further parameters, so the crawl that asks stands in the path.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from http import HTTPStatus
from typing import TypedDict
from urllib.parse import unquote

from pinakes.access.asgi import Receive, Scope, Send, read_body, send_line
from pinakes.access.asgi_site import Route
from pinakes.access.pieces import send_pieces
from pinakes.catalog.captures import COLUMNS, TABLE, CaptureRow, decode_capture
from pinakes.catalog.cdx_lines import CDX_WITH_IDS, format_cdx_with_id
from pinakes.catalog.crawl_originals import CrawlFinder
from pinakes.catalog.lookup import INDEXED
from pinakes.catalog.originals import (
    ALL_OPEN,
    Asked,
    Original,
    OriginalFinder,
    Wants,
)
from pinakes.catalog.visible_files import VisibleFile
from pinakes.dedupe.decide.policy import DedupePolicies
from pinakes.errors import ConfigError
from pinakes.hbase_schema.capture_cells import FACTS_LEAD, FIRST_GENERATION
from pinakes.hbase_schema.capture_keys import captures_of, encode_urlkey
from pinakes.hbase_schema.text import check_name
from pinakes.index.cdxj import format_cdx_header
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14
from pinakes.warc.digest import Digest, parse_digest

from .lines import PLACE, encoded, in_unicode
from .parameters import CdxQuery, Dialect, Parameters, parse_query
from .reports import report_json
from .row_lines import RowLines
from .wanted import wants_of

MOST_DIGESTS = 10_000
MOST_BODY_BYTES = 4 << 20
_THREADS = 8
_BODY_S = 60.0
_NEWEST_ROWS = 20
"""Captures of a URL among which warcprox's query looks for what the URL may have now."""
_MOST_CONTENTS = 3
_NAME = rb"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_BEHIND_NAME = re.compile(
    rb'","type":"response","date":("[^"\\]*"),"ordinal":[0-9]+,"record_id":("[^"\\]*")'
    rb',(?:"method":"[^"\\]*",)?"payload_sha256":"[^"\\]*","payload_size":([0-9]+)'
)
"""Nearly every `m:capture` of a response, after the name of its file."""
_HEX_DIGITS, _HEX = 40, re.compile("[0-9a-f]+\\Z")
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
_NDJSON, _TEXT = b"application/x-ndjson", b"text/plain; charset=utf-8"
_WARCPROX = {"fl": "timestamp,digest", "filter": "!mimetype:warc/revisit", "limit": "-1"}


class _Asks(TypedDict):
    collection: str | None
    crawl: str | None
    admits: Callable[[bytes, VisibleFile], bool]
    wants: Wants | None


class CrawlTimeSite:
    """Answers crawlers.  `policies`, `is_sound` and `now` as for `CdxSite`.

    `threads` are those of `CdxSite`, and others where originals are read: that may take long.
    """

    def __init__(
        self,
        lines: RowLines,
        store: RowStore,
        *,
        threads: Executor | None,
        policies: DedupePolicies,
        is_sound: Callable[[Original], bool] | None,
        now: Callable[[], datetime],
    ) -> None:
        self._lines = lines
        self._store = store
        self._is_sound = is_sound
        if threads is None and is_sound is not None:
            threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="originals")
        self.threads = threads
        self._policies = policies
        self._now = now

    def routes(self) -> tuple[Route, ...]:
        """The paths that it answers."""
        return (
            Route(re.compile(rb"(?:/(?P<c>" + _NAME + rb"))?/digests"), self._digests),
            Route(
                re.compile(
                    rb"/(?P<c>" + _NAME + rb")/dedup/(?P<form>hex|base32|wget)"
                    rb"(?:/(?P<crawl>" + _NAME + rb"|\*|%2[Aa]))?"
                ),
                self._dedup,
            ),
        )

    def finder(self, collection: str | None, crawl: str | None) -> CrawlFinder:
        """What finds originals for a crawl; ConfigError if that is no name."""
        if crawl not in (None, ALL_OPEN):
            check_name(crawl, "a crawl")
        asks: _Asks = {
            "collection": collection,
            "crawl": crawl,
            "admits": self._lines.admits,
            "wants": wants_of(self._policies, collection, crawl, now=format_14(self._now())),
        }
        landed = OriginalFinder(
            self._store,
            self._lines.files,
            gives=self._lines.gives,
            is_sound=self._is_sound,
            **asks,
        )
        return CrawlFinder(self._store, landed, **asks)

    def iter_seen(self, given: Parameters, collection: str | None) -> Iterator[bytes]:
        """The answer to warcprox's query on the paths of CDX queries: the digest as the original
        declares it, if it does."""
        return self._iter_seen(_url_of(given), self.finder(collection, None), None)

    async def _digests(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await send_line(send, 405, "", [(b"allow", b"POST")])
            return
        crawl = Parameters(scope["query_string"]).text("crawl")
        finder = self.finder(_text_of(scope, "c"), crawl)
        body = await read_body(receive, most_bytes=MOST_BODY_BYTES, timeout_s=_BODY_S)
        asked = parse_asked(body)
        if len(asked) > MOST_DIGESTS:
            phrase = HTTPStatus.REQUEST_ENTITY_TOO_LARGE.phrase
            await send_line(send, 413, f"{phrase}: more than {MOST_DIGESTS:,} digests")
            return
        pieces = _iter_ndjson(asked, finder, says_why=not self._lines.is_restricted)
        await self._send(receive, send, pieces, _NDJSON)

    async def _dedup(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await send_line(send, 405, "", [(b"allow", b"GET, HEAD")])
            return
        form, crawl = _text_of(scope, "form"), _text_of(scope, "crawl")
        finder = self.finder(_text_of(scope, "c"), unquote(crawl) if crawl is not None else None)
        given = scope["query_string"]
        if form == "wget":
            query = parse_query(given, Dialect.OUTBACK) if given else None
            pieces = self._iter_for_wget(finder, query)
        else:
            pieces = self._iter_seen(_url_of(Parameters(given)), finder, form)
        await self._send(receive, send, pieces, _TEXT)

    async def _send(
        self, receive: Receive, send: Send, pieces: Iterator[bytes], content_type: bytes
    ) -> None:
        await send_pieces(receive, send, pieces, content_type=content_type, threads=self.threads)

    def _iter_seen(self, url: str, finder: CrawlFinder, form: str | None) -> Iterator[bytes]:
        """`time digest` of an original at the URL whose content is that of the URL's newest
        capture, else of one before it; nothing if there is none.

        One line only: warcprox takes more for an error.  The URL is what it says, also with a `*`
        at its end: warcprox writes a reference to just that URL.
        """
        keys = captures_of(urlkey(url))
        rows = self._store.scan(TABLE, keys, columns=COLUMNS, reverse=True, limit_rows=_NEWEST_ROWS)
        captures = [c for row in rows if (c := decode_capture(row)) is not None]
        reports = finder.newest_reports(encode_urlkey(urlkey(url)))
        contents = [(c.time[:14], d) for c in captures if (d := _digest_by_crawler(c)) is not None]
        contents += [(report.second, report.digest) for report in reports]
        contents.sort(key=lambda one: one[0], reverse=True)
        digests = dict.fromkeys(digest for _, digest in contents)
        asked = [Asked(digest, url) for digest in digests][:_MOST_CONTENTS]
        found = (one for one in finder.iter_found(asked) if one is not None)
        for one, answer in zip(asked, found, strict=True):
            if answer.original is not None:
                text = _bare(one.digest, form, answer.original.copy.facts.get("declared_digest"))
                yield f"{answer.original.copy.second} {text}\n".encode("ascii")
                return
            if answer.report is not None:
                text = _bare(one.digest, form, None)
                yield f"{answer.report.report.second} {text}\n".encode("ascii")
                return
            yield b""

    def _iter_for_wget(self, finder: CrawlFinder, query: CdxQuery | None) -> Iterator[bytes]:
        """A CDX file of originals: what wget finds in it, it refers to unseen."""
        yield f"{format_cdx_header(CDX_WITH_IDS)}\n".encode("ascii")
        for originals in finder.iter_originals(query.keys if query is not None else None):
            lines = (format_cdx_with_id(one) for one in originals)
            yield b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines)


def is_of_warcprox(given: Parameters) -> bool:
    """Whether a query is the one that warcprox sends with `--cdxserver-dedup`."""
    return all(given.text(name) == value for name, value in _WARCPROX.items()) and given.has_only(
        frozenset({"url", *_WARCPROX})
    )


def _url_of(given: Parameters) -> str:
    url = given.text("url")
    if url is None:
        raise ConfigError("the parameter url is missing")
    return url


def parse_asked(body: bytes) -> list[str]:
    """The digests of a request's body: a JSON array, or one a line; blank lines do not count.

    What is no text in an array is given as its JSON: no digest, but it has its line in the answer.

    Raises:
        ConfigError: it begins as a JSON array, and is none.
    """
    text = body.decode("utf-8", "replace").strip()
    if not text.startswith("["):
        return [line.strip() for line in text.split("\n") if line.strip()]
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("the body is neither a JSON array nor a digest a line") from error
    return [one if isinstance(one, str) else json.dumps(one) for one in given]


def _iter_ndjson(asked: list[str], finder: CrawlFinder, *, says_why: bool) -> Iterator[bytes]:
    """A line for each, in their order; a digest that is given several times is looked up once for
    each of them."""
    known = [_parsed(text) for text in asked]
    found = finder.iter_found(Asked(digest) for digest in known if digest is not None)
    lines: list[bytes] = []
    for text, digest in zip(asked, known, strict=True):
        lead = b'{"digest":' + json.dumps(text).encode("ascii")
        if digest is None:
            lines.append(lead + b',"error":"not a digest of SHA-1 or SHA-256"}\n')
            continue
        while (answer := next(found)) is None:
            yield b"".join(lines)
            lines = []
        if answer.original is not None:
            lines.append(b'%b,"original":%b}\n' % (lead, original_json(answer.original)))
        elif answer.report is not None:
            lines.append(b'%b,"original":%b}\n' % (lead, report_json(answer.report)))
        elif answer.why is not None and says_why:
            lines.append(b'%b,"original":null,"why":"%b"}\n' % (lead, answer.why.encode("ascii")))
        else:
            lines.append(lead + b',"original":null}\n')
    yield b"".join(lines)


def _parsed(text: str) -> Digest | None:
    if len(text) == _HEX_DIGITS and _HEX.match(text):  # what most send, in a third of the time
        return Digest("sha1", bytes.fromhex(text))
    digest = parse_digest(text)
    return digest if digest is not None and digest.algorithm in INDEXED else None


def original_json(original: Original) -> bytes:
    """What a crawler needs of an original, and where it is stored; numbers as text, as in CDXJ.

    Cut out of the stored bytes where the capture is stored as it landed, as lines of the index are.
    """
    copy, place = original
    value = copy.value
    end = copy.name_end
    is_as_landed = place.generation == FIRST_GENERATION and value.find(PLACE, 0, end) > 0
    known = _BEHIND_NAME.match(value, end) if is_as_landed else None
    if known is not None:
        fields, (date, record_id, size) = value[len(FACTS_LEAD) : end + 1], known.groups()
    else:
        facts, location = copy.facts, original.location
        names = ("url", "mime", "status", "digest")
        found = {name: facts[name] for name in names if name in facts}
        found |= {"length": str(location.length), "offset": str(location.offset)}
        fields = encoded(found | {"filename": original.filename})
        date, record_id = (_ENCODE(facts.get(name)).encode() for name in ("date", "record_id"))
        size = b"%d" % facts["payload_size"]
    head = _ENCODE(copy.key[:-27].decode("ascii")).encode("ascii")
    return b"{%b}" % in_unicode((
        b'"urlkey":%b,"timestamp":"%b",%b,"date":%b,"record_id":%b,"size":"%b","collection":"%b"'
        b',"crawl":"%b"'
    ) % (
        head, copy.key[-26:-12], fields, date, record_id, size,
        place.collection.encode("ascii"), place.crawl.encode("ascii"),
    ))  # fmt: skip


def _digest_by_crawler(capture: CaptureRow) -> Digest | None:
    """The SHA-1 that warcprox computes of such a body: without the chunks, if there are any."""
    facts = capture.facts
    text = facts.dechunked_sha1 or facts.payload_sha1 or facts.declared_digest
    digest = parse_digest(text) if text is not None and capture.withdrawal is None else None
    return digest if digest is not None and digest.algorithm in INDEXED else None


def _bare(digest: Digest, form: str | None, declared: str | None) -> str:
    """A digest without its label: in hex or Base32, else as the original declares it."""
    if form is None and declared is not None and parse_digest(declared) == digest:
        return declared.rpartition(":")[2].strip()
    if form == "hex" or (form is None and digest.algorithm != "sha1"):
        return digest.hex
    return base64.b32encode(digest.value).decode("ascii")  # as crawlers do, with its padding


def _text_of(scope: Scope, name: str) -> str | None:
    found: bytes | None = scope["path_parts"].get(name)
    return found.decode("ascii") if found else None
