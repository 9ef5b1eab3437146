"""The requests of a page while it was shown, and their outcomes.

One log per page, from `begin_page` to `end_page`; bounded, regardless of what the page does.  Safe
for several threads: a browser sends many requests at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

MOST_EXCHANGES = 10_000
TEXT_LIMIT_CHARACTERS = 4_096
"""Longer URLs and problems are cut."""
Outcome = Literal["hit", "miss", "fault", "unavailable", "refused", "preflight", "unfinished"]
"""`unavailable`: a store did not answer, which says nothing about the archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedExchange:
    """One request and its answer.

    `capture_key` is the row key of the capture that answered, `capture_uri` its URL as captured,
    `rule` the fuzzy rule that found it (None: it has the requested urlkey), `distance_s` its time
    minus the page's.  `head_digest` covers status and header as sent, without fields of the
    connection; `payload_digest` the bytes that were sent.  `is_whole`: they were all that the
    archive has of the resource, so not a range, and the browser did not disconnect; a record that
    the crawl truncated counts as whole, since it is the same in every generation.  `problem` says
    what was wrong, for people, of some hits as well.  `request` distinguishes requests of the same
    method and URL: `ProxyRequest.digest`.
    """

    method: str
    url: str
    outcome: Outcome
    request: str = ""
    urlkey: str | None = None
    capture_key: str | None = None
    capture_uri: str | None = None
    rule: str | None = None
    distance_s: int | None = None
    status: int | None = None
    media_type: str | None = None
    head_digest: str | None = None
    sent_bytes: int = 0
    payload_digest: str | None = None
    is_whole: bool = False
    problem: str | None = None

    @property
    def key(self) -> str:
        """The request, the same in every log: the URL, with method and digest if not a plain GET.

        For an answer by a fuzzy rule, the URL as captured: the requested one contains the time or
        the like, and differs in each log.
        """
        url = self.url if self.rule is None else self.capture_uri or self.url
        return (
            url
            if self.method == "GET" and not self.request
            else " ".join(filter(None, (self.method, url, self.request)))
        )

    @property
    def is_seed(self) -> bool:
        """Whether a crawler could fetch it by its URL.

        Not if the URL is too long for the log, which has only its beginning.
        """
        is_web = self.url.lower().startswith(("http://", "https://"))
        return is_web and self.method == "GET" and len(self.url) < TEXT_LIMIT_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLog:
    """All requests of a page, in the order they began; `left_out` counts those over the limit."""

    name: str
    exchanges: tuple[LoggedExchange, ...]
    left_out: int = 0

    @property
    def payloads(self) -> dict[str, str]:
        """The payload digest of each request whose answer was sent whole, by key."""
        return self._digests_of_hits(lambda exchange: exchange.payload_digest)

    @property
    def heads(self) -> dict[str, str]:
        """The head digest of the same answers."""
        return self._digests_of_hits(
            lambda exchange: exchange.payload_digest and exchange.head_digest
        )

    def _digests_of_hits(self, digest_of: Callable[[LoggedExchange], str | None]) -> dict[str, str]:
        found: dict[str, set[str]] = {}
        for exchange in self.exchanges:
            digest = digest_of(exchange)
            if exchange.outcome == "hit" and exchange.is_whole and digest:
                found.setdefault(exchange.key, set()).add(digest)
        return {key: ",".join(sorted(digests)) for key, digests in found.items()}

    @property
    def outcomes(self) -> dict[str, frozenset[Outcome]]:
        """The outcomes of each request, by key."""
        found: dict[str, frozenset[Outcome]] = {}
        for exchange in self.exchanges:
            found[exchange.key] = found.get(exchange.key, frozenset()) | {exchange.outcome}
        return found

    @property
    def has_unfinished(self) -> bool:
        """Whether some requests were not answered when the page was closed."""
        return any(exchange.outcome == "unfinished" for exchange in self.exchanges)

    @property
    def is_repeatable(self) -> bool:
        """Whether all requests are plain GETs, so that they can be repeated without a browser."""
        return not self.left_out and all(
            exchange.method == "GET"
            and not exchange.request
            and (exchange.is_whole or exchange.outcome == "miss")
            for exchange in self.answered
        )

    @property
    def answered(self) -> tuple[LoggedExchange, ...]:
        """Those not refused: refused ones are the browser's own, the same in every generation."""
        return tuple(e for e in self.exchanges if e.outcome != "refused")

    @property
    def misses(self) -> tuple[LoggedExchange, ...]:
        """What the archive does not have."""
        return tuple(e for e in self.exchanges if e.outcome == "miss")

    @property
    def faults(self) -> tuple[LoggedExchange, ...]:
        """What the archive has, but cannot be read."""
        return tuple(e for e in self.exchanges if e.outcome == "fault")


class OpenPage:
    """The log of a page that is being shown."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._exchanges: list[LoggedExchange] = []
        self._under_way = 0
        self._left_out = 0
        self._closed = False

    def begin(self, method: str, url: str, request: str = "") -> int | None:
        """Enter a request; its number, None if there are too many."""
        exchange = _within_bounds(
            LoggedExchange(method=method, url=url, outcome="unfinished", request=request)
        )
        with self._changed:
            if self._closed or len(self._exchanges) >= MOST_EXCHANGES:
                self._left_out += 1
                return None
            self._exchanges.append(exchange)
            self._under_way += 1
            return len(self._exchanges) - 1

    def finish(self, number: int | None, exchange: LoggedExchange) -> None:
        """Enter its outcome; ignored once the page is closed."""
        with self._changed:
            if number is None or self._closed:
                return
            self._exchanges[number] = _within_bounds(exchange)
            self._under_way -= 1
            self._changed.notify_all()

    def so_far(self, timeout_s: float) -> PageLog:
        """The log up to now; requests not finished after that time are `unfinished` in it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, timeout_s)
            return self._log()

    def close(self, timeout_s: float) -> PageLog:
        """The log; requests not finished after that time stay `unfinished`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, timeout_s)
            self._closed = True
            return self._log()

    def _log(self) -> PageLog:
        return PageLog(name=self._name, exchanges=tuple(self._exchanges), left_out=self._left_out)


def _within_bounds(exchange: LoggedExchange) -> LoggedExchange:
    return replace(
        exchange,
        method=exchange.method[:32],
        url=exchange.url[:TEXT_LIMIT_CHARACTERS],
        urlkey=_cut(exchange.urlkey),
        capture_uri=_cut(exchange.capture_uri),
        media_type=_cut(exchange.media_type),
        problem=_cut(exchange.problem),
    )


def _cut(text: str | None) -> str | None:
    return text[:TEXT_LIMIT_CHARACTERS] if text is not None else None
