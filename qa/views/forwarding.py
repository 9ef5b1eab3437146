"""Requests of a browser forwarded to a real server, as far as a `ProxyPolicy` allows.

The policy names the servers that may be asked, assesses their answers for the page's log, and
may record what is forwarded; any other request is refused, and entered in the log.
"""

from __future__ import annotations

import contextlib
import ssl
from dataclasses import replace
from email.message import Message
from typing import NamedTuple, Protocol

from pinakes.errors import StoreUnavailable
from pinakes.qa.replay.page_log import LoggedExchange, Outcome
from pinakes.qa.replay.request import ProxyRequest, is_browser_traffic
from pinakes.qa.replay.sending import Sender, own_answer, send_answer
from pinakes.qa.replay.session import ShownPage

from .forward_answer import Forwarded, forward_answer
from .recording import AnswerRecorder
from .upstream import (
    TIMEOUT_S,
    Origin,
    ServerExchange,
    Upstream,
    connect,
    request_bytes,
    send_request,
)


class Forbidden(Exception):
    """Inside this package: policy forbids this request; `is_fault` if that is a page's fault."""

    def __init__(self, why: str, *, is_fault: bool) -> None:
        super().__init__(why)
        self.is_fault = is_fault


class Assessment(NamedTuple):
    """What an answer means for the page's log."""

    outcome: Outcome
    problem: str | None = None
    is_comparable: bool = False
    """Whether its bytes are those that were captured, not rewritten."""


class ProxyPolicy(Protocol):
    """Where a browser's requests may go.  Called by several threads at once."""

    def addresses(self, uri: str, origin: Origin) -> list[tuple[str, int]]:
        """Addresses to try for an origin.

        Raises:
            Forbidden: the browser may not ask for this.
            StoreUnavailable: the origin has no address.
        """
        ...

    def original(self, uri: str) -> str:
        """The URL that the log has for a requested one."""
        ...

    def assess(self, uri: str, upstream: Upstream) -> Assessment:
        """What the head of an answer says of it."""
        ...

    def recording(
        self, exchange: ServerExchange
    ) -> contextlib.AbstractContextManager[AnswerRecorder | None]:
        """What records the answer while it is forwarded; None if nothing does."""
        ...


class ForwardingResponder:
    """Forwards requests to the servers that a policy allows; see `replay.session.Responder`."""

    def __init__(
        self, policy: ProxyPolicy, tls: ssl.SSLContext, *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._policy = policy
        self._tls = tls
        self._timeout_s = timeout_s

    def log_entry(self, request: ProxyRequest) -> LoggedExchange:
        """The request under its original URL."""
        url = self._policy.original(request.uri)
        return LoggedExchange(method=request.method, url=url, outcome="fault")

    def respond(
        self, page: ShownPage, request: ProxyRequest, fields: Message, sender: Sender
    ) -> LoggedExchange:
        """The server's answer, or a refusal."""
        entry = self.log_entry(request)
        try:
            return self._forward(page, request, fields, sender, entry)
        except Forbidden as error:
            outcome: Outcome = "fault" if error.is_fault else "refused"
            entry = replace(entry, outcome=outcome, problem=str(error), status=403)
        except StoreUnavailable as error:
            entry = replace(entry, problem=error.message, status=502)
        _send_problem(entry, sender)
        return entry

    def _forward(
        self,
        page: ShownPage,
        request: ProxyRequest,
        fields: Message,
        sender: Sender,
        entry: LoggedExchange,
    ) -> LoggedExchange:
        _refuse(request, fields)
        origin = Origin.of(request.uri)
        addresses = self._policy.addresses(request.uri, origin)
        raw_request = request_bytes(request, fields)
        with contextlib.ExitStack() as stack:
            connection = connect(origin, addresses, self._tls, self._timeout_s)
            stack.enter_context(page.owning(connection))
            upstream = stack.enter_context(
                send_request(connection, raw_request, method=request.method)
            )
            assessment = self._policy.assess(request.uri, upstream)
            exchange = ServerExchange(request=request, raw_request=raw_request, upstream=upstream)
            recorder = stack.enter_context(self._policy.recording(exchange))
            forwarded = forward_answer(
                upstream,
                sender,
                wants_body=request.wants_body,
                keep=recorder.keep if recorder is not None else None,
                is_over=page.is_over.is_set,
            )
            if recorder is not None:
                recorder.end(forwarded)
            return _completed(entry, request, upstream, assessment, forwarded)


def _send_problem(entry: LoggedExchange, sender: Sender) -> None:
    """An answer of the proxy's own, where nothing has been sent yet."""
    if sender.has_begun:
        sender.close = True
        return
    answer = own_answer(
        entry.outcome, entry.status or 502, entry.problem or "", has_body=entry.method != "HEAD"
    )
    send_answer(answer, sender)


def _refuse(request: ProxyRequest, fields: Message) -> None:
    """Raise Forbidden for what is forwarded to no server."""
    if fields.get("Service-Worker", "").strip().lower() == "script":
        raise Forbidden(f"service workers are not supported: {request.uri}", is_fault=False)
    if fields.get("Upgrade", "").strip().lower() == "websocket":
        raise Forbidden(f"WebSockets are not forwarded: {request.uri}", is_fault=False)
    if is_browser_traffic(request.uri):
        raise Forbidden(f"requested by the browser, not by the page: {request.uri}", is_fault=False)
    if len(request.body) != int(fields.get("Content-Length", "0").strip() or 0):
        raise Forbidden(f"request longer than {len(request.body):,} bytes", is_fault=True)


def _completed(
    entry: LoggedExchange,
    request: ProxyRequest,
    upstream: Upstream,
    assessment: Assessment,
    forwarded: Forwarded,
) -> LoggedExchange:
    """The log entry of an answer that was forwarded."""
    status = upstream.head.status
    outcome: Outcome = "fault" if forwarded.by_server else assessment.outcome
    is_whole = forwarded.is_complete and request.wants_body and status not in (206, 416)
    has_payload = (
        outcome == "hit"
        and assessment.is_comparable
        and forwarded.is_complete
        and request.wants_body
    )
    return replace(
        entry,
        outcome=outcome,
        status=status,
        media_type=upstream.head.media_type,
        sent_bytes=forwarded.size,
        payload_digest=f"sha256:{forwarded.digest}" if has_payload else None,
        is_whole=is_whole,
        problem=forwarded.problem or assessment.problem,
    )
