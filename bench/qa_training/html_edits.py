"""Edits of a page's bytes that injected changes are made of; pure, and none parses a page whole."""

from __future__ import annotations

import io
import random
import re

_BODY = re.compile(rb"<body\b[^>]*>", re.IGNORECASE)
_BODY_END = re.compile(rb"</body\s*>", re.IGNORECASE)
_HEAD_END = re.compile(rb"</head\s*>", re.IGNORECASE)
_BLOCK_END = re.compile(rb"</(?:p|ul|ol|section|table|h2|h3)\s*>", re.IGNORECASE)
_SCRIPT = re.compile(rb"<(script|style|svg)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)


def before_body_end(html: bytes, addition: bytes) -> bytes:
    """With something more at the end of the body."""
    ends = list(_BODY_END.finditer(html))
    at = ends[-1].start() if ends else len(html)
    return html[:at] + addition + html[at:]


def top_of_body(html: bytes, addition: bytes) -> bytes:
    """With something more at its beginning."""
    found = _BODY.search(html)
    at = found.end() if found else 0
    return html[:at] + addition + html[at:]


def in_head(html: bytes, addition: bytes) -> bytes:
    """With something more at the end of the head."""
    found = _HEAD_END.search(html)
    return html[: found.start()] + addition + html[found.start() :] if found else addition + html


def inside(html: bytes, addition: bytes, dice: random.Random) -> bytes:
    """With something more behind one of the first blocks; at the top where there is none."""
    hidden = [found.span() for found in _SCRIPT.finditer(html)]
    body = _BODY.search(html)
    begin = body.end() if body else 0
    places = [
        found.end()
        for found in _BLOCK_END.finditer(html, begin)
        if not any(start < found.start() < end for start, end in hidden)
    ][:12]
    if not places:
        return top_of_body(html, addition)
    at = dice.choice(places)
    return html[:at] + addition + html[at:]


def charset_of(html: bytes) -> str:
    """What the page says its encoding is; UTF-8 where it is silent and that fits."""
    found = _CHARSET.search(html[:4096])
    if found:
        return found[1].decode("ascii").lower()
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def decoded(html: bytes) -> str:
    """Its text, as a browser would read it."""
    try:
        return html.decode(charset_of(html), "replace")
    except LookupError:
        return io.TextIOWrapper(io.BytesIO(html), "utf-8", errors="replace").read()
