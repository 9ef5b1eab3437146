"""What a browser is shown while it looks: the records of one page, behind the replay's server."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from datetime import datetime, timezone
from email.message import Message

from bench.qa_training.recorded import PackagedSite, Recorded
from pinakes.qa.replay.answer_head import captured_head
from pinakes.qa.replay.certificates import Authority
from pinakes.qa.replay.request import ProxyRequest
from pinakes.qa.replay.sending import ReplayAnswer, Sender, own_answer, send_answer
from pinakes.qa.replay.server import ProxyServer
from pinakes.warc.http.message import HttpHead

MOMENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc)


class Shown:
    """Answers one browser: the records given to `show`, and the site's for all else."""

    def __init__(self, authority: Authority) -> None:
        self._lock = threading.Lock()
        self._site: PackagedSite | None = None
        self._instead: Mapping[str, Recorded | None] = {}
        self._asked: dict[str, Recorded | None] = {}
        self._server = ProxyServer(self.exchange, authority)
        self.port = self._server.port

    def show(self, site: PackagedSite, instead: Mapping[str, Recorded | None]) -> None:
        """From now on this."""
        with self._lock:
            self._site, self._instead, self._asked = site, instead, {}

    def asked(self) -> dict[str, Recorded | None]:
        """What was asked for since, and what it was answered."""
        with self._lock:
            return dict(self._asked)

    def payloads(self) -> dict[str, str]:
        """Digests of it, by URL, as the replay's log has them."""
        return {
            url: "sha256:" + hashlib.sha256(record.body).hexdigest()
            for url, record in self.asked().items()
            if record is not None
        }

    def exchange(self, asked: ProxyRequest | None, fields: Message, sender: Sender) -> None:
        """Answer one request (`replay.server.Respond`)."""
        with self._lock:
            site, instead = self._site, self._instead
        if asked is None or site is None:
            send_answer(own_answer("refused", 403, "no page is open"), sender)
            return
        url = asked.uri.partition("#")[0]
        record = instead[url] if url in instead else site.record(url)
        with self._lock:
            self._asked[url] = record
        if record is None:
            send_answer(own_answer("miss", 404, url, has_body=asked.wants_body), sender)
            return
        head = captured_head(
            HttpHead(record.head), asked, len(record.body), coded=False, captured=MOMENT
        )
        body = (record.body[head.start : head.end],) if asked.wants_body else ()
        answer = ReplayAnswer(outcome="hit", head=head, body=body, has_body=asked.wants_body)
        send_answer(answer, sender)

    def close(self) -> None:
        """End the server."""
        self._server.stop()
