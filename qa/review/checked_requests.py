"""Checks requests to the review: who may write, and the format of bodies.

Writing needs the token in a header field, which no form and no image of another site can send;
and, if the browser sends its origin, it must be ours.
Sources: RFC 6454 (Origin), W3C Fetch Metadata (Sec-Fetch-Site).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from werkzeug.exceptions import BadRequest, Forbidden, UnsupportedMediaType

from pinakes.access.page_site import Request

from .judgement import NAME_CHARACTERS, Label, Statement
from .judgement_rows import SignOffState

TOKEN, NAME = "X-Pinakes-Token", "X-Pinakes-Reviewer"
_ESCAPED = 12  # bytes of a percent-encoded character at most


def reviewer_name(request: Request) -> str | None:
    """The reviewer's name from its header field, where it is percent-encoded; None without one."""
    given = request.headers.get(NAME)
    if not given:
        return None
    if len(given) > NAME_CHARACTERS * _ESCAPED:
        raise BadRequest("the reviewer's name is too long")
    return unquote(given, errors="replace")


def has_token(request: Request, token: str) -> bool:
    """Whether the token is valid; compared in constant time."""
    given = request.headers.get(TOKEN, "")
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode("ascii"))


def require_write_access(request: Request, token: str) -> None:
    """Require the token, and our own page.

    Raises:
        Forbidden, UnsupportedMediaType: with a message for people.
    """
    # Either scheme: a TLS proxy may be in front of this server.
    ours = {f"{scheme}://{request.host}" for scheme in ("http", "https")}
    if request.headers.get("Origin", request.host_url.rstrip("/")) not in ours:
        raise Forbidden("request from another site's page")
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise Forbidden("request from another site's page")
    if not has_token(request, token):
        raise Forbidden(
            "invalid token: open the address that `pinakes qa review` "
            "printed when it was last started"
        )
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("the body must be application/json")


def parse_judge_request(request: Request) -> tuple[str, Statement]:
    """The judgement in a body, `label`, `faults`, `note`, after its `id`.

    Raises:
        BadRequest: not a judgement.
        InputRefused: label and faults contradict each other.
    """
    body = _object(request)
    faults = body.get("faults", [])
    if not isinstance(faults, list) or not all(type(fault) is str for fault in faults):
        raise BadRequest("faults must be strings")
    label = _text(body, "label")
    if label not in {known.value for known in Label}:
        raise BadRequest("label must be accept, reject or unsure")
    statement = Statement(label=Label(label), faults=tuple(dict.fromkeys(faults)), note=_note(body))
    return _text(body, "id"), statement


def parse_sign_request(request: Request) -> tuple[str, SignOffState, str]:
    """The `id`, `state` and `note` of a sign-off.  `Raises` as `parse_judge_request` does."""
    body = _object(request)
    state = _text(body, "state")
    if state not in {known.value for known in SignOffState}:
        raise BadRequest("state must be accepted, to patch or rejected")
    note = _note(body)
    Statement(label=Label.UNSURE, note=note)  # as long as a note may be
    return _text(body, "id"), SignOffState(state), note


def _object(request: Request) -> Mapping[str, Any]:
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError) as error:
        raise BadRequest("the body is not JSON") from error
    if not isinstance(body, dict):
        raise BadRequest("the body is not a JSON object")
    return body


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string")
    return value


def _note(body: Mapping[str, Any]) -> str:
    return _text(body, "note") if "note" in body else ""
