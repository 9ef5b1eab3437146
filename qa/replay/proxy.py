"""The replay proxy: sessions, each a port that a browser is pointed at, and pages in them.

    with ReplayProxy(stores.rows, stores.archive) as proxy:
        session = proxy.open_session("current")      # or "before": before deduplication
        ...start a browser with the proxy 127.0.0.1:{session.port}
        session.begin_page("page 1", captured_at)
        ...have it load the URL
        log = session.end_page()

A session is one browser's and shows one page at a time.  Requests of a browser are told
apart by the port they come to: no browser can be made to send a name of the page along
without changing what pages see.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from email.message import Message
from pathlib import Path
from typing import get_args

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import ConfigError
from pinakes.row_store.port import RowStore

from .answers import Answer, ArchiveAnswers, own_answer
from .asked import Asked
from .browsers_own import is_browsers_own
from .certificates import Authority
from .generations import Generation
from .page_log import Exchange, OpenPage, PageLog
from .sending import Sender, noted, send_answer
from .server import LOOPBACK, ProxyServer


class ReplayProxy:
    """Answers browsers out of one store, on loopback only; `close` ends all its sessions.

    Raises:
        MissingExtra: without the extra `qa`.
    """

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive
        self._authority = Authority()
        self._sessions: set[ReplaySession] = set()

    @property
    def ca_file(self) -> Path:
        """The certificate, in PEM, for clients that look.  Gone when this is closed."""
        return self._authority.ca_file

    def open_session(
        self, generation: Generation = "current", *, collection: str | None = None
    ) -> ReplaySession:
        """A port of its own, for one browser, answered from one generation.

        With `collection` from what landed in that one: what only another has is a miss.

        Raises:
            ConfigError: for another than `current` and `before`.
        """
        if generation not in get_args(Generation):
            raise ConfigError(f"a session answers from current or before, not {generation!r}")
        answers = ArchiveAnswers(self._rows, self._archive, generation, collection=collection)
        session = ReplaySession(answers, self._authority, closed=self._sessions.discard)
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


class ReplaySession:
    """What one browser is pointed at; `closed` is told when that is over."""

    def __init__(
        self,
        answers: ArchiveAnswers,
        authority: Authority,
        *,
        closed: Callable[[ReplaySession], object],
    ) -> None:
        self._answers = answers
        self._closed = closed
        self._lock = threading.Lock()
        self._page: OpenPage | None = None
        self._moment = datetime.min.replace(tzinfo=timezone.utc)
        self.refused_outside = 0
        """How many requests came while no page was open: each was refused."""
        self._server = ProxyServer(self, authority)
        self.host = LOOPBACK
        self.port = self._server.port

    def begin_page(self, name: str, moment: datetime) -> None:
        """From now on requests are this page's, answered by what is closest to that moment.

        Raises:
            ConfigError: while another page is open; for a moment that is not aware.
        """
        if moment.tzinfo is None:
            raise ConfigError("the moment of a page needs its zone")
        with self._lock:
            if self._page is not None:
                raise ConfigError("another page of this session is open")
            self._page, self._moment = OpenPage(name), moment.astimezone(timezone.utc)

    def end_page(self, *, patience_s: float = 2.0) -> PageLog:
        """Close the page, once nothing it asked for is under way, or after that time.

        From the call on what comes is refused; what is not finished is `unfinished`.

        Raises:
            ConfigError: where none is open.
        """
        with self._lock:
            page, self._page = self._page, None
        if page is None:
            raise ConfigError("no page of this session is open")
        return page.close(patience_s)

    def close(self) -> None:
        """End it and its connections; idempotent."""
        self._server.stop()
        self._closed(self)

    def ask_again(self, log: PageLog) -> None:
        """Ask for all that a page asked for, without a browser: the open page's log says what
        it would be sent now.

        Of a log that `can_be_asked_again`.
        """
        with Path(os.devnull).open("wb") as nowhere:
            for exchange in log.answered:
                asked = Asked(method=exchange.method, uri=exchange.url)
                self.exchange(asked, Message(), Sender(nowhere, close=False))

    def exchange(self, asked: Asked | None, fields: Message, sender: Sender) -> None:
        """Answer one request, and note it in the page's log."""
        with self._lock:
            page, moment = self._page, self._moment
            if page is None:
                self.refused_outside += 1
        if page is None:
            send_answer(own_answer("refused", 403, "no page is open"), sender)
        elif asked is None:
            send_answer(own_answer("refused", 400, "no URL of http or https"), sender)
        else:
            self._exchange(page, moment, asked, fields, sender)

    def _exchange(
        self, page: OpenPage, moment: datetime, asked: Asked, fields: Message, sender: Sender
    ) -> None:
        number = page.begin(asked.method, asked.uri, asked.digest)

        def send(answer: Answer) -> None:
            sent = send_answer(answer, sender)
            page.finish(number, noted(answer, sent, asked))

        refusal = _refusal(asked, fields)
        if refusal is not None:
            send(refusal)
            return
        try:
            with self._answers.answer(asked, moment) as answer:
                send(_instead_of_a_miss(answer, asked, fields) or answer)
        except Exception as error:  # noqa: BLE001 (no page may hang on an error of ours, unsaid)
            sender.close = True
            text = f"{type(error).__name__}: {error}"
            if not sender.has_begun:
                send(own_answer("fault", 502, text, has_body=asked.wants_body))
            else:
                fault = Exchange(
                    method=asked.method,
                    url=asked.uri,
                    request=asked.digest,
                    outcome="fault",
                    problem=text,
                )
                page.finish(number, fault)


def _refusal(asked: Asked, fields: Message) -> Answer | None:
    """What is never answered from the archive."""
    if fields.get("Service-Worker", "").strip().lower() == "script":
        return own_answer("refused", 403, f"no service worker is installed: {asked.uri}")
    if fields.get("Upgrade", "").strip().lower() == "websocket":
        return own_answer("miss", 404, f"no archive has what came over WebSockets: {asked.uri}")
    return None


def _instead_of_a_miss(answer: Answer, asked: Asked, fields: Message) -> Answer | None:
    """What to say where it is no fault of the archive that it has no answer."""
    if answer.outcome != "miss":
        return None
    if _is_preflight(asked, fields):
        return _preflight(fields, answer)
    if is_browsers_own(asked.uri):
        why = "browsers ask for it of their own accord"
    elif _is_prefetch(fields):
        why = "a browser asked ahead, for what may come next"
    else:
        return None
    return own_answer(
        "refused", 404, f"{why}: {asked.uri}", key=answer.urlkey, has_body=asked.wants_body
    )


def _is_prefetch(fields: Message) -> bool:
    """Whether it is asked for ahead, which browsers do or leave as they have the time for it.

    `Purpose` does not count: scripts can set it, and then wait for the answer.  Nor is what
    the archive has refused: pages load styles so, and put them to use once they are there.
    """
    words = fields.get("Sec-Purpose", "").lower().split(";")
    return "prefetch" in (word.strip() for word in words)


def _is_preflight(asked: Asked, fields: Message) -> bool:
    return asked.method == "OPTIONS" and "Access-Control-Request-Method" in fields


def _preflight(fields: Message, miss: Answer) -> Answer:
    """Leave to ask across origins, where the crawler did not record it being given.

    Crawlers seldom ask; whether the thing itself may be read is said by its own header.
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
