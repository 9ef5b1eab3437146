"""The CDX server over HTTP.

GET  /cdx                          pywb's dialect, all collections
GET  /{collection}/cdx             the same, of one
GET  /{collection}                 OutbackCDX's dialect; with `q=`, OpenWayback's XML
GET  [/{collection}]/digest/{digest}
GET  [/{collection}]/timemap/link/{url}

What crawlers ask is `crawl_time`'s, and what clients write `writing`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor
from datetime import datetime, timezone
from functools import partial
from urllib.parse import quote, unquote, unquote_to_bytes

from pinakes.access.asgi import (
    Application,
    Receive,
    Scope,
    Send,
    header_values,
    send_line,
    send_whole,
)
from pinakes.access.asgi_site import Route
from pinakes.access.pieces import send_pieces
from pinakes.catalog.crawl_rows import scan_crawls
from pinakes.catalog.lookup import INDEXED
from pinakes.catalog.originals import Original
from pinakes.dedupe.decide.policy import NO_POLICIES, DedupePolicies
from pinakes.errors import ConfigError, InputRefused
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14
from pinakes.warc.digest import parse_digest

from . import xml_answer
from .answer import AnswerProgress, CdxIndex
from .by_digest import iter_digest_lines, iter_original_line
from .crawl_time import CrawlTimeSite, is_of_warcprox
from .lines import Line
from .outputs import PAGE_MEMENTOS, TIMEMAP_TYPE, iter_timemap, output_of
from .parameters import CdxQuery, Dialect, Parameters, parse_query
from .writing import WritingSite

_NAME = rb"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_OWN = frozenset({"cdx", "digest", "digests", "qa", "replay", "timemap", "warc"})
"""First parts of paths that are no collection's, besides those of the pages: a collection of such a
name is asked for at `/{collection}/cdx`."""
_READING = ("GET", "HEAD")


class CdxSite:
    """Answers CDX queries.

    `threads`: where the store is asked; None: in the event loop, if it answers at once.
    `pages` are the first parts of the pages' paths, and `otherwise` answers what is neither.
    `tokens`: those of which writing needs one.  `replay_url` is where captures are replayed.
    Look-ups by crawlers leave out originals that the `policies` do not allow, and those that are
    not sound: see `OriginalFinder`.
    """

    def __init__(
        self,
        index: CdxIndex,
        store: RowStore,
        *,
        threads: Executor | None,
        otherwise: Application,
        pages: Collection[str] = (),
        tokens: tuple[str, ...] = (),
        replay_url: str | None = None,
        policies: DedupePolicies = NO_POLICIES,
        is_sound: Callable[[Original], bool] | None,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._index = index
        self._store = store
        self._threads = threads
        self._otherwise = otherwise
        others = b"|".join(re.escape(part.encode("ascii")) for part in sorted({*_OWN, *pages}))
        self._collections = re.compile(
            rb"/(?!(?:" + others + rb")(?:/|\Z))(?P<c>" + _NAME + rb")(?P<delete>/delete)?"
        )
        self._takes_lines = bool(tokens)
        self._writing = WritingSite(store, tokens=tokens, now=now)
        self._replay_url = replay_url
        self._now = now
        self._crawl_time = CrawlTimeSite(
            index.lines,
            store,
            threads=threads,
            policies=policies,
            is_sound=is_sound,
            now=now,
        )

    def routes(self) -> tuple[Route, ...]:
        """The paths that it answers."""
        return (
            *self._crawl_time.routes(),
            Route(
                re.compile(rb"(?:/(?P<c>" + _NAME + rb"))?/cdx"),
                partial(self._answer, Dialect.PYWB),
            ),
            Route(
                re.compile(rb"(?:/(?P<c>" + _NAME + rb"))?/digest/(?P<rest>[^/]+)"), self._digest
            ),
            Route(
                re.compile(rb"(?:/(?P<c>" + _NAME + rb"))?/timemap/link/(?P<rest>.+)", re.DOTALL),
                self._timemap,
            ),
            Route(
                re.compile(rb"/(?P<c>" + _NAME + rb")/crawls/(?P<crawl>[^/]+)/captures"),
                self._writing.captures,
            ),
            Route(self._collections, self._collection),
        )

    async def _collection(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await self._writing.lines(scope, receive, send)
        elif scope["method"] not in _READING:
            await _refuse(send, *_READING, "POST")
        elif b"=" in scope["query_string"] or self._is_known(_collection_of(scope) or ""):
            await self._answer(Dialect.OUTBACK, scope, receive, send)
        else:
            await self._otherwise(scope, receive, send)

    async def _answer(self, dialect: Dialect, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _READING:
            await _refuse(send, *_READING)
            return
        collection = _collection_of(scope)
        progress = AnswerProgress()
        query_string = scope["query_string"]
        if b"q=" in query_string:
            given = Parameters(query_string)
            text = given.text("q")
            if text is not None:
                asked = xml_answer.parse_xml_query(given, text)
                lines = self._index.iter_lines(asked.query, collection, progress)
                pieces = xml_answer.iter_xml(asked, lines, format_14(self._now()))
                await self._send(receive, send, pieces, xml_answer.CONTENT_TYPE, progress, None)
                return
        if b"limit=-1" in query_string and is_of_warcprox(given := Parameters(query_string)):
            pieces = self._crawl_time.iter_seen(given, collection)
            content_type, threads = "text/plain; charset=utf-8", self._crawl_time.threads
            await self._send(receive, send, pieces, content_type, progress, None, threads=threads)
            return
        query = parse_query(query_string, dialect)
        if query.output == "link":
            await self._send_timemap(scope, receive, send, query, collection)
            return
        if query.counts_pages:
            pieces = self._index.iter_page_counts(query, collection, progress)
            await self._send(receive, send, pieces, "application/json", progress, None)
            return
        if self._threads is None and (
            # Most answers: lines as they are stored, and few.
            stored := self._index.stored_answer(query, collection, progress)
        ):
            headers = self._headers_of(progress)
            await send_whole(send, 200, stored, content_type=b"text/x-cdxj", headers=headers)
            return
        pieces = self._index.iter_bytes(query, collection, progress)
        content_type = output_of(query).content_type
        await self._send(receive, send, pieces, content_type, progress, collection)

    async def _send(
        self,
        receive: Receive,
        send: Send,
        pieces: Iterator[bytes],
        content_type: str,
        progress: AnswerProgress,
        collection: str | None,
        *,
        threads: Executor | None = None,
    ) -> None:
        if collection is not None:
            pieces = self._of_known(pieces, progress, collection)

        try:
            await send_pieces(
                receive,
                send,
                pieces,
                content_type=content_type.encode("ascii"),
                threads=threads or self._threads,
                headers_at_end=lambda: self._headers_of(progress),
            )
        except NoCollection as error:
            await send_line(send, 404, error.message)

    def _headers_of(self, progress: AnswerProgress) -> list[tuple[bytes, bytes]]:
        """What the headers of an answer say of it."""
        found = []
        left_out = progress.left_out
        if left_out and not self._index.lines.is_restricted:
            found.append((b"pinakes-rows-left-out", b"%d" % left_out))
        if progress.resume_key is not None:
            found.append((b"pinakes-resume-key", progress.resume_key.encode("ascii")))
        return found

    def _of_known(
        self, pieces: Iterator[bytes], progress: AnswerProgress, collection: str
    ) -> Iterator[bytes]:
        """The same; an answer without lines is that of a collection that exists.

        Where lines of other archives are taken, any may: it is not noted which have some.
        """
        yield from pieces
        if not progress.lines and not self._takes_lines and not self._is_known(collection):
            raise NoCollection(f"there is no collection {collection}")

    def _is_known(self, collection: str) -> bool:
        """Whether there is such a collection, and the access rules do not hide all of it."""
        return any(
            entry.facts.collection == collection
            and not self._index.lines.hides(collection=collection, crawl=entry.crawl)
            for entry in scan_crawls(self._store)
        )

    async def _digest(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _READING:
            await _refuse(send, *_READING)
            return
        text = unquote(_part(scope, "rest").decode("ascii", "replace"))
        digest = parse_digest(text)
        if digest is None or digest.algorithm not in INDEXED:
            raise ConfigError(f"{text[:100]!r} is not a digest of SHA-1 or SHA-256")
        collection = _collection_of(scope)
        given = Parameters(scope["query_string"])
        limit = given.number("limit", least=1) or 100
        query = _form_of(given)
        progress = AnswerProgress()
        threads = None
        if given.is_true("original"):
            threads = self._crawl_time.threads
            finder = self._crawl_time.finder(collection, given.text("crawl"))
            batches = iter_original_line(self._store, self._index.lines, finder, digest, progress)
        else:
            batches = iter_digest_lines(
                self._store, self._index.lines, digest, collection, limit=limit, progress=progress
            )
        output = output_of(query)
        pieces = output.iter_bytes(batches)
        await self._send(
            receive, send, pieces, output.content_type, progress, collection, threads=threads
        )

    async def _timemap(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _READING:
            await _refuse(send, *_READING)
            return
        url = unquote_to_bytes(_part(scope, "rest")).decode("utf-8", "surrogateescape")
        key = ""
        if url.startswith("page/") and url.count("/") > 1:  # the rest of a long one: page/KEY/URL
            _, key, url = url.split("/", 2)
        if scope["query_string"]:
            url += "?" + scope["query_string"].decode("latin-1")
        query = parse_query(
            f"url={_quoted(url)}&matchType=exact&resumeKey={_quoted(key)}".encode("ascii"),
            Dialect.PYWB,
        )
        await self._send_timemap(scope, receive, send, query, _collection_of(scope))

    async def _send_timemap(
        self, scope: Scope, receive: Receive, send: Send, query: CdxQuery, collection: str | None
    ) -> None:
        most = min(query.limit, PAGE_MEMENTOS)
        query = query._replace(limit=most, shows_resume_key=True)
        progress = AnswerProgress()
        host = header_values(scope, b"host")[0].decode("ascii")
        site = f"{scope['scheme']}://{host}"
        base = site if collection is None else f"{site}/{collection}"

        def next_url() -> str | None:
            key = progress.resume_key
            return f"{base}/timemap/link/page/{key}/{query.url}" if key is not None else None

        pieces = iter_timemap(
            query.url,
            self._index.iter_lines(query, collection, progress),
            self_url=f"{base}/timemap/link/{query.url}",
            memento_url=lambda line: _memento_of(line, site, self._replay_url),
            next_url=next_url,
        )
        await self._send(receive, send, pieces, TIMEMAP_TYPE, progress, collection)


class NoCollection(InputRefused):
    """There is no collection of this name, or access rules hide it."""


async def _refuse(send: Send, *methods: str) -> None:
    await send_line(send, 405, "", [(b"allow", ", ".join(methods).encode("ascii"))])


def _part(scope: Scope, name: str) -> bytes:
    found: bytes = scope["path_parts"].get(name) or b""
    return found


def _collection_of(scope: Scope) -> str | None:
    name: bytes | None = scope["path_parts"]["c"]
    return name.decode("ascii") if name else None


def _form_of(given: Parameters) -> CdxQuery:
    """A query that says only in what form lines are given."""
    output, fields = given.text("output"), given.text("fl") or given.text("fields")
    query = parse_query(b"url=-", Dialect.PYWB)
    return query._replace(
        output={None: "cdxj", "json": "ndjson"}.get(output, output or "cdxj"),
        fields=tuple(fields.split(",")) if fields else None,
    )


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogateescape")


def _memento_of(line: Line, site: str, replay_url: str | None) -> str:
    """Where a capture is seen: in the replay, else its page."""
    if replay_url is None:
        return f"{site}/capture/" + line.key.decode("ascii").replace(" ", "%20")
    return f"{replay_url.rstrip('/')}/{line.timestamp.decode('ascii')}/{line.value('url') or ''}"
