"""Byte ranges of one URL over one persistent connection.

Source: RFC 9110 §14 (range requests), §13.1 and §8.8 (validators), §15.4 (redirection).
Proxies and the environment are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pinakes.archive_store.port import NotThere
from pinakes.errors import ConfigError, InputRefused

_MOST_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_RETRIED = {408, 425, 429, 500, 502, 503, 504}
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)\Z")

NETWORK_ERRORS = (OSError, HTTPException)
"""What a request raises when another attempt may succeed; includes `TryAgain`."""


class TryAgain(HTTPException):
    """The server cannot answer now; `after_s` is its Retry-After."""

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Validator(NamedTuple):
    """What distinguishes one content of a URL from another."""

    etag: str | None
    last_modified: str | None


class RangeAnswer(NamedTuple):
    """An answer to a range request; its body is still to be read.

    `start` is the offset of the body in the file; `whole`: the server ignored the range and
    sends all of it.  `total` is the size of the file, if the server sends it.
    """

    response: HTTPResponse
    start: int
    length: int | None
    total: int | None
    whole: bool
    validator: Validator


class RangeClient:
    """Requests ranges of one URL; remembers redirects.  Not for several threads."""

    def __init__(
        self, url: str, *, timeout_s: float, admit: Callable[[str], None] = lambda url: None
    ) -> None:
        """`admit` is called with each URL before it is asked for, and may raise."""
        self.url = check_url(url)
        admit(url)
        self._admit = admit
        self._timeout_s = timeout_s
        self._connection: HTTPConnection | None = None

    def get(self, start: int, end: int) -> RangeAnswer:
        """Ask for the bytes from `start` to `end` (exclusive).

        Raises InputRefused if the file does not exist or may not be read; one of
        `NETWORK_ERRORS` if another attempt may succeed.
        """
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._request(start, end)
            if response.status not in _REDIRECTS:
                return _answer(response, self.url, start)
            self._follow(response)
        raise InputRefused("too many redirects", file=self.url)

    def drop(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request(self, start: int, end: int) -> HTTPResponse:
        parts = urlsplit(self.url)
        if self._connection is None:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            self._connection = kind(parts.hostname or "", parts.port, timeout=self._timeout_s)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        # Offsets are those of the stored bytes: no content coding.
        headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        self._connection.request("GET", path, headers=headers)
        return self._connection.getresponse()

    def _follow(self, response: HTTPResponse) -> None:
        try:
            url = check_url(urljoin(self.url, response.getheader("Location") or ""))
        except (ConfigError, ValueError) as error:
            why = f"the server redirects to where nothing can be asked for: {error}"
            raise InputRefused(why, file=self.url) from error
        if self.url.startswith("https:") and not url.startswith("https:"):
            raise InputRefused("the server redirects from https to http", file=self.url)
        self._admit(url)
        self.drop()
        self.url = url


def check_url(url: str) -> str:
    """The URL; `Raises` ConfigError for one that cannot be asked for."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        usable = usable and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError(f"not an HTTP URL: {url!r}")
    require_no_user(url)
    return url


def require_no_user(url: str) -> None:
    """Raise ConfigError for a URL with a user name or password, without saying these."""
    before, slashes, rest = url.partition("//")
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    user, at, _ = host.rpartition("@")
    if at:
        shown = f"{before}{slashes}{rest.removeprefix(f'{user}@')}"
        raise ConfigError("URLs with a user name or password are not accepted", file=shown)


def reason_of(error: Exception) -> str:
    """What a network error says, in one line."""
    return str(error)[:200] or type(error).__name__


def _answer(response: HTTPResponse, url: str, start: int) -> RangeAnswer:
    status = response.status
    coding = response.getheader("Content-Encoding") or "identity"
    # Of a name in .gz it may be the file's own compression, which many servers call so.
    if coding != "identity" and not urlsplit(url).path.lower().endswith(".gz"):
        raise InputRefused(f"the server sends the file encoded ({coding}), unasked", file=url)
    validator = Validator(response.getheader("ETag"), response.getheader("Last-Modified"))
    if status == 200:
        return RangeAnswer(response, 0, response.length, response.length, True, validator)
    if status in (206, 416):
        match = _CONTENT_RANGE.match(response.getheader("Content-Range") or "")
        if match is None:
            raise InputRefused("the server sends a range without Content-Range", file=url)
        first, last, total = (
            int(text) if text and text != "*" else None for text in match.groups()
        )
        if status == 416:
            return RangeAnswer(response, start, 0, total, False, validator)
        if first is None or last is None or first != start or last < first:
            raise InputRefused("the server sends another range than requested", file=url)
        return RangeAnswer(response, first, last + 1 - first, total, False, validator)
    reason = f"the server answers {status} {response.reason}".rstrip()
    if status in _RETRIED:
        raise TryAgain(reason, _seconds(response.getheader("Retry-After")))
    if status in (404, 410):
        raise NotThere("file not found on the server", file=url)
    raise InputRefused(reason, file=url)


def _seconds(text: str | None) -> float:
    return min(float(text), 60.0) if text and text.isascii() and text.isdigit() else 0.0
