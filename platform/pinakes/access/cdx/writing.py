"""Writing over HTTP, with a token: lines of other archives, and reports of crawlers.

POST /{collection}                               CDX lines of archives that lie elsewhere
POST /{collection}/delete                        takes them away
POST /{collection}/crawls/{crawl}/captures       what a crawler has captured, before it lands
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from hmac import compare_digest
from urllib.parse import unquote

from pinakes.access.asgi import Receive, Scope, Send, header_values, read_body, send_line
from pinakes.access.pieces import send_pieces
from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.reported import open_scope, put_reports
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.text import check_name
from pinakes.row_store.port import RowStore

from . import external, reports
from .parameters import Parameters

BODY_BYTES = 64 << 20
_BODY_S = 120.0


class WritingSite:
    """Takes what clients with a token write; `tokens` are those.  Without any, no client writes."""

    def __init__(
        self, store: RowStore, *, tokens: tuple[str, ...], now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._tokens = tuple(token.encode() for token in tokens)
        self._now = now
        self._last_ms = 0
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="cdx-write")

    async def lines(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add lines of other archives, or take them away."""
        if await self._refuses(scope, send):
            return
        collection = _part(scope, "c")
        check_name(collection, "a collection")
        skips_bad = Parameters(scope["query_string"]).text("badLines") == "skip"
        body = await read_body(receive, most_bytes=BODY_BYTES, timeout_s=_BODY_S)
        deletes = bool(_part(scope, "delete"))

        def write() -> Iterator[bytes]:
            text = body.decode("utf-8", "surrogateescape")
            lines = external.parse_lines(text, skips_bad=skips_bad and not deletes)
            if deletes:
                count = external.delete_lines(self._store, lines, act_time_ms=self._act_time_ms())
                yield b"Deleted %d records\n" % count
            else:
                external.put_lines(self._store, lines, collection, act_time_ms=self._act_time_ms())
                yield b"Added %d records\n" % len(lines)

        await self._send_written(receive, send, write())

    async def captures(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note what a crawl has captured; the crawl begins with it, if it is unknown."""
        if scope["method"] != "POST":
            await send_line(send, 405, "", [(b"allow", b"POST")])
            return
        if await self._refuses(scope, send):
            return
        collection, crawl = _part(scope, "c"), _part(scope, "crawl")
        check_name(crawl, "a crawl")
        skips_bad = Parameters(scope["query_string"]).text("badLines") == "skip"
        body = await read_body(receive, most_bytes=BODY_BYTES, timeout_s=_BODY_S)

        def write() -> Iterator[bytes]:
            found = reports.parse_reports(
                body.decode("utf-8", "surrogateescape"), skips_bad=skips_bad, now=self._now()
            )
            ensure_crawl(
                self._store,
                crawl,
                CrawlFacts(collection=collection, source="reports"),
                act=Actor().new_act("report"),
                act_time_ms=self._act_time_ms(),
                reopens=False,
            )
            put_reports(self._store, open_scope(self._store, crawl), found.reports)
            yield from reports.summary_of(found)

        await self._send_written(receive, send, write())

    async def _refuses(self, scope: Scope, send: Send) -> bool:
        """Whether no client, or not this one, may write; it has been answered then."""
        if not self._tokens:
            await send_line(send, 403, "Forbidden: no token is set, so nothing can be written")
        elif not self._is_allowed(scope):
            await send_line(
                send, 401, "Unauthorized: writing needs a token", [(b"www-authenticate", b"Bearer")]
            )
        else:
            return False
        return True

    def _act_time_ms(self) -> int:
        """The time of what is written now, later than what was written before."""
        self._last_ms = max(int(self._now().timestamp() * 1000), self._last_ms + 1)
        return self._last_ms

    async def _send_written(self, receive: Receive, send: Send, written: Iterator[bytes]) -> None:
        """Write, and say what was written.

        A million lines take half a minute: never in the event loop, and one body after the other.
        """
        await send_pieces(
            receive, send, written, content_type=b"text/plain; charset=utf-8", threads=self._writer
        )

    def _is_allowed(self, scope: Scope) -> bool:
        for value in header_values(scope, b"authorization"):
            kind, _, token = value.partition(b" ")
            if kind.lower() == b"bearer":
                return any(compare_digest(token.strip(), known) for known in self._tokens)
        return False


def _part(scope: Scope, name: str) -> str:
    found: bytes = scope["path_parts"].get(name) or b""
    return unquote(found.decode("ascii", "replace"))
