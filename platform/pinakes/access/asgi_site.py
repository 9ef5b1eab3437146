"""The one ASGI application of a server: hot paths by a table, everything else to the pages.

What holds for every response is here: the Host that it is for, its strict headers, and that
an error is one plain line, never a traceback.  Bound to loopback, a site answers only requests for
loopback's names: a page of another site whose name was made to point here (DNS rebinding) gets no
answer.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    PinakesError,
    StoreUnavailable,
)

from .asgi import (
    Application,
    BodyRefused,
    ClientGone,
    HeaderList,
    Message,
    Receive,
    Scope,
    Send,
    send_line,
)

LOGGER = "pinakes.access"
AT_ONCE = 512
"""Requests under way in a process; to more, 503 says to come again."""
RETRY_S = 2
_RETRY = [(b"retry-after", str(RETRY_S).encode())]
_WORDS_CHARACTERS = 500
# RFC 9110 §7.2: an address in brackets or a name, in any case, and a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)


class Route(NamedTuple):
    """The paths (as sent: percent-encoded) that an application answers, by a full match.

    It finds the named groups in the scope, as `path_parts`.
    """

    paths: re.Pattern[bytes]
    application: Application


class AsgiSite:
    """`hosts` are the accepted Host names, in any case; None: any.  `headers` are those of every
    response that does not set them itself."""

    def __init__(
        self,
        pages: Application,
        *,
        hosts: Sequence[str] | None,
        headers: Mapping[str, str],
        routes: Iterable[Route] = (),
    ) -> None:
        self._pages = pages
        self._routes = tuple(routes)
        self._names = None if hosts is None else frozenset(name.lower() for name in hosts)
        self._headers = tuple(
            (name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()
        )
        self._under_way = 0
        # Browsers and programs ask for the same few, and most responses have the same headers.
        self._accepts = lru_cache(maxsize=256)(self._has_own_host)
        self._route = lru_cache(maxsize=256)(self._route_of)
        self._strict = lru_cache(maxsize=256)(self._with_strict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nothing is raised but what ends the process."""
        started = False

        def send_strict(message: Message) -> Awaitable[None]:
            nonlocal started
            if not started:
                started = True
                message["headers"] = self._strict(tuple(message["headers"]))
            return send(message)

        self._under_way += 1
        try:
            application = self._application_for(scope)
            await application(scope, receive, send_strict)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001  clients get no details of any error
            # Of a response that has begun, the rest is missing: the server closes the connection.
            status, words = _status_of(error)
            _log(error, scope)
            if not started:
                await send_line(send_strict, status, words, _RETRY if status == 503 else ())
        finally:
            self._under_way -= 1

    def _application_for(self, scope: Scope) -> Application:
        if not self._accepts(tuple(scope["headers"])):
            return _refuse_host
        if self._under_way > AT_ONCE:
            return _refuse_more
        route, scope["path_parts"] = self._route(scope["raw_path"])
        return self._pages if route is None else route.application

    def _has_own_host(self, headers: HeaderList) -> bool:
        """Whether a request is for this site, by its one Host."""
        hosts = [value for name, value in headers if name == b"host"]
        if len(hosts) != 1:
            return False
        text = hosts[0].decode("latin-1").strip(" \t")  # RFC 9110 §5.5
        found = _HOST.fullmatch(text)
        if self._names is None or not found:
            return self._names is None and bool(text)
        return found[1].lower() in self._names

    def _route_of(self, path: bytes) -> tuple[Route | None, Mapping[str, bytes]]:
        """The route of a path, and the parts that it names."""
        for route in self._routes:
            found = route.paths.fullmatch(path)
            if found is not None:
                return route, found.groupdict()
        return None, {}

    def _with_strict(self, given: tuple[tuple[bytes, bytes], ...]) -> HeaderList:
        names = {name for name, _ in given}
        return (*given, *(header for header in self._headers if header[0] not in names))


async def _refuse_host(scope: Scope, receive: Receive, send: Send) -> None:
    await send_line(send, 400)


async def _refuse_more(scope: Scope, receive: Receive, send: Send) -> None:
    await send_line(send, 503, "Service Unavailable: too many requests at once", _RETRY)


def _status_of(error: Exception) -> tuple[int, str]:
    """The status of an error, and the text that its client gets: one table."""
    if isinstance(error, BodyRefused):
        return error.status, ""
    if isinstance(error, StoreUnavailable):
        return 503, "Service Unavailable: the store does not answer, try again later"
    if isinstance(error, (InputRefused, ConfigError)):
        return 400, error.message[:_WORDS_CHARACTERS]
    if isinstance(error, DigestMismatch):
        return 500, f"Internal Server Error: {error}"[:_WORDS_CHARACTERS]
    if isinstance(error, Conflict):
        return 409, error.message[:_WORDS_CHARACTERS]
    return 500, ""


def _log(error: Exception, scope: Scope) -> None:
    if isinstance(error, (BodyRefused, ConfigError, InputRefused, Conflict)):
        return
    path = scope["raw_path"].decode("ascii", "backslashreplace")
    known = isinstance(error, PinakesError)
    logging.getLogger(LOGGER).error(
        "%s %.200s: %s: %s",
        scope["method"],
        path,
        type(error).__name__,
        error,
        exc_info=None if known else error,
    )
