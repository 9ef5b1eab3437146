"""The replay proxy: sessions whose requests the archive answers.

    with ReplayProxy(stores.rows, stores.archive) as proxy:
        session = proxy.open_session("current")      # or "before": before deduplication

See `session` for what a session does.
"""

from __future__ import annotations

import os
from email.message import Message
from pathlib import Path
from typing import get_args
from weakref import WeakSet

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import ConfigError
from pinakes.row_store.port import RowStore

from .answers import ArchiveAnswers
from .certificates import Authority
from .generations import Generation
from .page_log import LoggedExchange, PageLog
from .request import ProxyRequest, is_browser_traffic
from .sending import ReplayAnswer, Sender, completed_entry, own_answer, send_answer
from .session import ProxySession, ShownPage


class ReplayProxy:
    """Answers browsers from one store, on loopback only; `close` ends all its sessions.

    Raises:
        MissingExtra: without the extra `qa`.
    """

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive
        self._authority = Authority()
        # A session lives as long as its server runs, so that only closed ones drop out.
        self._sessions: WeakSet[ProxySession] = WeakSet()

    @property
    def ca_file(self) -> Path:
        """The authority's certificate, in PEM, for clients that verify.  Removed by `close`."""
        return self._authority.ca_file

    def open_session(
        self, generation: Generation = "current", *, collection: str | None = None
    ) -> ProxySession:
        """A port for one browser, answered from one generation.

        With `collection`, only from files of that collection.

        Raises:
            ConfigError: `generation` is neither `current` nor `before`.
        """
        if generation not in get_args(Generation):
            raise ConfigError(f"unknown generation {generation!r}: use current or before")
        answers = ArchiveAnswers(self._rows, self._archive, generation, collection=collection)
        session = ProxySession(ArchiveResponder(answers), self._authority)
        self._sessions.add(session)
        return session

    def close(self) -> None:
        """End all sessions; idempotent."""
        for session in tuple(self._sessions):
            session.close()
        self._authority.close()

    def __enter__(self) -> ReplayProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ArchiveResponder:
    """Answers from the archive; see `session.Responder`."""

    def __init__(self, answers: ArchiveAnswers) -> None:
        self._answers = answers

    def log_entry(self, request: ProxyRequest) -> LoggedExchange:
        """The request as the browser sent it."""
        return LoggedExchange(
            method=request.method, url=request.uri, request=request.digest, outcome="fault"
        )

    def respond(
        self, page: ShownPage, request: ProxyRequest, fields: Message, sender: Sender
    ) -> LoggedExchange:
        """The capture closest to the moment of the page."""
        refusal = _refusal(request, fields)
        if refusal is not None:
            return completed_entry(refusal, send_answer(refusal, sender), request)
        with self._answers.answer(request, page.moment) as found:
            answer = _instead_of_miss(found, request, fields) or found
            return completed_entry(answer, send_answer(answer, sender), request)


def repeat_requests(session: ProxySession, log: PageLog) -> None:
    """Send the requests of a page to a session without a browser; the open page's log has the
    answers.

    Of a log that `is_repeatable`.
    """
    with Path(os.devnull).open("wb") as nowhere:
        for exchange in log.answered:
            request = ProxyRequest(method=exchange.method, uri=exchange.url)
            session.exchange(request, Message(), Sender(nowhere, close=False))


def _refusal(request: ProxyRequest, fields: Message) -> ReplayAnswer | None:
    """The answer to a request that is never answered from the archive; None for others."""
    if fields.get("Service-Worker", "").strip().lower() == "script":
        return own_answer("refused", 403, f"service workers are not supported: {request.uri}")
    if fields.get("Upgrade", "").strip().lower() == "websocket":
        return own_answer("miss", 404, f"WebSocket messages are not archived: {request.uri}")
    return None


def _instead_of_miss(
    answer: ReplayAnswer, request: ProxyRequest, fields: Message
) -> ReplayAnswer | None:
    """The answer to a miss that is not the archive's fault; None for others."""
    if answer.outcome != "miss":
        return None
    if _is_preflight(request, fields):
        return _preflight(fields, answer)
    if is_browser_traffic(request.uri):
        why = "requested by the browser, not by the page"
    elif _is_prefetch(fields):
        why = "prefetch"
    else:
        return None
    return own_answer(
        "refused", 404, f"{why}: {request.uri}", key=answer.urlkey, has_body=request.wants_body
    )


def _is_prefetch(fields: Message) -> bool:
    """Whether it is a prefetch, which browsers send or not, as they have time.

    `Purpose` does not count: scripts can set it, and wait for the answer.  Prefetches that the
    archive can answer are not refused: pages load style sheets so, and use them when loaded.
    """
    words = fields.get("Sec-Purpose", "").lower().split(";")
    return "prefetch" in (word.strip() for word in words)


def _is_preflight(request: ProxyRequest, fields: Message) -> bool:
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in fields


def _preflight(fields: Message, miss: ReplayAnswer) -> ReplayAnswer:
    """Allow a cross-origin request whose preflight the crawl did not record.

    Crawlers seldom send preflights; the response itself still says whether it may be read.
    """
    asked_for = {
        "Access-Control-Allow-Origin": fields.get("Origin", "*"),
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": fields.get("Access-Control-Request-Method", ""),
        "Access-Control-Allow-Headers": fields.get("Access-Control-Request-Headers", ""),
    }
    headers = tuple(
        (name.encode("ascii"), value.encode("latin-1", "replace"))
        for name, value in asked_for.items()
        if value and value.isprintable()
    )
    return own_answer("preflight", 204, "", key=miss.urlkey, fields=headers)
