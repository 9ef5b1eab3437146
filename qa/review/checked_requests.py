"""What a browser asks of the review, checked: who may write, and what a body holds.

Writing needs the token in a header, which no form and no picture of another site can send;
and the browser's own word, where it gives one, that its page is ours.
Sources: RFC 6454 (Origin), W3C Fetch Metadata (Sec-Fetch-Site).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from werkzeug.exceptions import BadRequest, Forbidden, UnsupportedMediaType
from werkzeug.wrappers import Request

from .judgement import NAME_CHARACTERS, Label, Statement
from .judgement_rows import RunState

TOKEN, NAME = "X-Pinakes-Token", "X-Pinakes-Reviewer"
BODY_BYTES = 64 << 10
_ESCAPED = 12  # bytes of a percent-encoded character at most


class JudgeRequest(NamedTuple):
    """A judgement that is to be saved."""

    id: str
    statement: Statement


class SignRequest(NamedTuple):
    """A sign-off that is to be saved."""

    id: str
    state: RunState
    note: str


def reviewer_name(request: Request) -> str | None:
    """The reviewer's name as its header has it, percent-encoded; None without one."""
    given = request.headers.get(NAME)
    if not given:
        return None
    if len(given) > NAME_CHARACTERS * _ESCAPED:
        raise BadRequest("the reviewer's name is too long")
    return unquote(given, errors="replace")


def has_token(request: Request, token: str) -> bool:
    """Whether the token is ours; compared in constant time."""
    given = request.headers.get(TOKEN, "")
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("ascii"))


def require_write_access(request: Request, token: str) -> None:
    """Let only those write who have the token, from our own page.

    Raises:
        Forbidden, UnsupportedMediaType: in words for people.
    """
    # Either scheme: something that speaks TLS may stand before us.
    ours = {f"{scheme}://{request.host}" for scheme in ("http", "https")}
    if request.headers.get("Origin", request.host_url.rstrip("/")) not in ours:
        raise Forbidden("another site's page has asked")
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise Forbidden("another site's page has asked")
    if not has_token(request, token):
        raise Forbidden(
            "the token is not this server's: open the address that `pinakes qa review` "
            "printed when it was started last"
        )
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("a body of application/json is wanted")


def parse_judge_request(request: Request) -> JudgeRequest:
    """The judgement in a body: `id`, `label`, `faults`, `note`.

    Raises:
        BadRequest: it is none.
        InputRefused: what it says does not go together.
    """
    body = _object(request)
    faults = body.get("faults", [])
    if not isinstance(faults, list) or not all(type(fault) is str for fault in faults):
        raise BadRequest("faults should be texts")
    label = _text(body, "label")
    if label not in {known.value for known in Label}:
        raise BadRequest("label should be accept, reject or unsure")
    statement = Statement(label=Label(label), faults=tuple(dict.fromkeys(faults)), note=_note(body))
    return JudgeRequest(_text(body, "id"), statement)


def parse_sign_request(request: Request) -> SignRequest:
    """The sign-off in a body: `id`, `state`, `note`.  `Raises` as `parse_judge_request` does."""
    body = _object(request)
    state = _text(body, "state")
    if state not in {known.value for known in RunState}:
        raise BadRequest("state should be accepted, to patch or rejected")
    note = _note(body)
    Statement(label=Label.UNSURE, note=note)  # as long as a note may be
    return SignRequest(_text(body, "id"), RunState(state), note)


def _object(request: Request) -> Mapping[str, Any]:
    request.max_content_length = BODY_BYTES
    try:
        body = json.loads(request.get_data(cache=False))
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is no JSON") from error
    if not isinstance(body, dict):
        raise BadRequest("the body is no JSON object")
    return body


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} should be a text")
    return value


def _note(body: Mapping[str, Any]) -> str:
    return _text(body, "note") if "note" in body else ""
