"""An answer of the proxy: made, sent piece by piece, and entered in the log."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedIOBase

from pinakes.errors import PinakesError, StoreUnavailable

from .answer_head import AnswerHead, Field, own_head
from .index_lookup import ReplayCandidate
from .page_log import LoggedExchange, Outcome
from .request import ProxyRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAnswer:
    """What to send, and what to log; read `body` once, within the `with`.

    `has_body` is whether the body is sent with the head: not for HEAD.
    """

    outcome: Outcome
    head: AnswerHead
    body: Iterable[bytes | memoryview] = ()
    has_body: bool = True
    urlkey: str | None = None
    found: ReplayCandidate | None = None
    problem: str | None = None


def own_answer(
    outcome: Outcome,
    status: int,
    text: str,
    *,
    key: str | None = None,
    found: ReplayCandidate | None = None,
    fields: tuple[Field, ...] = (),
    has_body: bool = True,
) -> ReplayAnswer:
    """An answer of the proxy's own, one line of text; a header field names the outcome."""
    line = f"Pinakes: {outcome}: {text}\n".encode("utf-8", "backslashreplace")
    body = b"" if status == 204 else line
    return ReplayAnswer(
        outcome=outcome,
        head=own_head(status, outcome, len(body), fields=fields),
        body=(body,) if body and has_body else (),
        has_body=has_body,
        urlkey=key,
        found=found,
        problem=text if outcome in ("fault", "unavailable", "refused") else None,
    )


def outcome_of(error: PinakesError) -> Outcome:
    """The outcome of a request that raised this: the archive's fault, or the store's."""
    return "unavailable" if isinstance(error, StoreUnavailable) else "fault"


class Sender:
    """The connection that an answer is sent over; `close`: it ends after the answer."""

    def __init__(self, file: BufferedIOBase, *, close: bool) -> None:
        self.file = file
        self.close = close
        self.has_begun = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """How it went; `is_complete`: the body was sent to its end."""

    size: int
    digest: str
    is_complete: bool
    outcome: Outcome
    problem: str | None


def send_answer(answer: ReplayAnswer, sender: Sender) -> Sent:
    """Send head and body; never raises.

    If the body ends early, by the archive's fault or the browser's, `sender.close` is set: the
    browser learns of it by the end of the connection.
    """
    digest = hashlib.sha256()
    size = 0
    outcome, problem = answer.outcome, answer.problem
    close, sender.close, sender.has_begun = sender.close, True, True
    promised = answer.head.end - answer.head.start if answer.has_body else 0
    try:
        sender.file.write(answer.head.encode(close=close))
        for piece in answer.body:
            sender.file.write(piece)
            digest.update(piece)
            size += len(piece)
        sender.file.flush()
        is_complete = size == promised
        if is_complete:
            sender.close = close
        else:
            outcome, problem = "fault", "the body's length changed while it was sent"
    except OSError as error:
        is_complete = False
        problem = f"the browser disconnected after {size} bytes: {type(error).__name__}"
    except PinakesError as error:
        is_complete = False
        outcome, problem = outcome_of(error), str(error)
    return Sent(
        size=size,
        digest=digest.hexdigest(),
        is_complete=is_complete,
        outcome=outcome,
        problem=problem,
    )


def completed_entry(answer: ReplayAnswer, sent: Sent, request: ProxyRequest) -> LoggedExchange:
    """The complete entry in the page's log."""
    found = answer.found
    facts = found.capture.facts if found is not None else None
    has_payload = sent.outcome == "hit" and sent.is_complete and answer.has_body
    return LoggedExchange(
        method=request.method,
        url=request.uri,
        request=request.digest,
        outcome=sent.outcome,
        urlkey=answer.urlkey,
        capture_key=found.capture.key.decode("ascii") if found is not None else None,
        capture_uri=facts.target_uri if facts is not None else None,
        rule=found.rule if found is not None else None,
        distance_s=found.distance_s if found is not None else None,
        status=answer.head.status,
        media_type=answer.head.media_type,
        head_digest=f"sha256:{hashlib.sha256(answer.head.encode(close=False)).hexdigest()}",
        sent_bytes=sent.size,
        payload_digest=f"sha256:{sent.digest}" if has_payload else None,
        is_whole=has_payload and answer.head.is_whole,
        problem=sent.problem,
    )
