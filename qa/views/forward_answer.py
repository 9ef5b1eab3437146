"""An answer of a real server forwarded to the browser with its body unchanged.

Header fields of the connection are replaced (`answer_head.LEFT_OUT`); the body is sent byte for
byte, in its content-coding.  A body of unknown length is sent in chunks, so that the browser
learns if it breaks off.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from pinakes.errors import StoreUnavailable
from pinakes.qa.replay.answer_head import kept_fields, reason_of
from pinakes.qa.replay.sending import Sender
from pinakes.warc.http.message import HttpHead

from .upstream import BodyPiece, Upstream

MOST_BODY_BYTES = 1 << 28
"""Longer bodies are cut off: no page that people look at needs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """The result.  `cut` is why the body is not whole, as a value of WARC-Truncated."""

    size: int
    digest: str
    is_complete: bool
    cut: str | None = None
    problem: str | None = None
    by_server: bool = False
    """Whether the problem is the server's fault, not the browser's."""


def forward_answer(
    upstream: Upstream,
    sender: Sender,
    *,
    wants_body: bool,
    keep: Callable[[bytes], None] | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Forwarded:
    """Send head and body; never raises.  Ends the connection if the body was not whole.

    `keep` records each piece as it came, and never raises.
    """
    digest = hashlib.sha256()
    size = 0
    rechunked = wants_body and upstream.size is None
    # A browser that knows no length would wait for ever on a connection that stays open.
    sender.has_begun = True
    close, sender.close = sender.close, True
    cut, problem, by_server = None, None, False
    try:
        sender.file.write(forwarded_head(upstream, rechunked=rechunked, close=close))
        sender.file.flush()  # a slow body is shown as far as it has come
        for piece in upstream.pieces():
            if keep is not None:
                keep(piece.raw)
            for part in piece.payload:
                digest.update(part)
            size += _send(piece, sender, rechunked=rechunked)
            if size > MOST_BODY_BYTES:
                cut, problem, by_server = "length", f"longer than {MOST_BODY_BYTES:,} bytes", True
                break
            if is_over():
                cut, problem = "time", "still loading when the page was closed"
                break
        if upstream.is_complete and upstream.ends_with_connection and is_over():
            # We ended the connection, which looks like the end of the body.
            cut, problem = "time", "still loading when the page was closed"
        elif upstream.is_complete:
            if rechunked:
                sender.file.write(b"0\r\n\r\n")
            sender.file.flush()
            sender.close = close
    except StoreUnavailable as error:
        cut, problem, by_server = "disconnect", error.message, True
        if is_over():
            cut, problem, by_server = "time", "still loading when the page was closed", False
    except OSError as error:
        cut = "disconnect"
        problem = f"the browser disconnected after {size} bytes: {type(error).__name__}"
    return Forwarded(
        size=size,
        digest=digest.hexdigest(),
        is_complete=upstream.is_complete and cut is None,
        cut=cut,
        problem=problem,
        by_server=by_server,
    )


def _send(piece: BodyPiece, sender: Sender, *, rechunked: bool) -> int:
    size = 0
    for part in piece.payload:
        if not len(part):
            continue
        size += len(part)
        if rechunked:
            sender.file.write(b"%x\r\n" % len(part))
        sender.file.write(part)
        if rechunked:
            sender.file.write(b"\r\n")
    sender.file.flush()
    return size


def forwarded_head(upstream: Upstream, *, rechunked: bool, close: bool) -> bytes:
    """The head that the browser gets."""
    head = upstream.head
    status = head.status or 502
    lines = [b"HTTP/1.1 %d %b" % (status, reason_of(head, status))]
    lines += [b"%b: %b" % field for field in kept_fields(head, coded=True)]
    lines.append(b"Cache-Control: no-store")
    content_range = head.get("content-range")
    if content_range is not None:
        lines.append(b"Content-Range: " + _one_line(content_range))
    if rechunked:
        lines.append(b"Transfer-Encoding: chunked")
    elif status not in (204, 304):
        lines.append(b"Content-Length: %d" % _promised(head, upstream))
    lines.append(b"Connection: close" if close else b"Connection: keep-alive")
    return b"\r\n".join((*lines, b"", b""))


def _promised(head: HttpHead, upstream: Upstream) -> int:
    """Content-Length; for HEAD, that of the answer to GET."""
    return upstream.size or head.content_length or 0


def _one_line(text: str) -> bytes:
    return " ".join(text.split()).encode("latin-1", "replace")
