"""The one ASGI application of a server: hot paths by a table, everything else to the pages.

What holds for every response is here: the Host that it is for, its strict headers, and that
an error is one plain line, never a traceback.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
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
from .hosts import AcceptedHosts

LOGGER = "pinakes.access"
AT_ONCE = 512
"""Requests under way in a process; to more, 503 says to come again."""
RETRY_S = 2
_RETRY = [(b"retry-after", str(RETRY_S).encode())]
_WORDS_CHARACTERS = 500


class Route(NamedTuple):
    """The paths (as sent: percent-encoded) that an application answers, by a full match.

    It finds the named groups in the scope, as `path_parts`.
    """

    paths: re.Pattern[bytes]
    application: Application


class AsgiSite:
    """`hosts` are the accepted Host names; None: any.  `headers` are those of every response
    that does not set them itself."""

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
        self._hosts = AcceptedHosts(hosts)
        self._headers = [
            (name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()
        ]
        self._names = frozenset(name for name, _ in self._headers)
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nothing is raised but what ends the process."""
        started = False

        async def send_strict(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = self._with_strict(message["headers"])
            await send(message)

        self._under_way += 1
        try:
            await self._answer(scope, receive, send_strict)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001  whatever it is, nobody outside is told more
            # Of a response that has begun, the rest is missing: the server closes the connection.
            status, words = _told_of(error)
            _log(error, scope)
            if not started:
                await send_line(send_strict, status, words, _RETRY if status == 503 else ())
        finally:
            self._under_way -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._accepts(scope["headers"]):
            await send_line(send, 400)
        elif self._under_way > AT_ONCE:
            await send_line(send, 503, "Service Unavailable: too many requests at once", _RETRY)
        else:
            route, parts = self._route(scope["raw_path"])
            if route is None:
                await self._pages(scope, receive, send)
            else:
                scope["path_parts"] = parts
                await route.application(scope, receive, send)

    def _accepts(self, headers: HeaderList) -> bool:
        """Whether a request is for this site, by its one Host."""
        hosts = [value for name, value in headers if name == b"host"]
        return len(hosts) == 1 and self._hosts.accepts(hosts[0].decode("latin-1"))

    def _route(self, path: bytes) -> tuple[Route | None, Mapping[str, bytes]]:
        """The route of a path, and the parts that it names."""
        for route in self._routes:
            found = route.paths.fullmatch(path)
            if found is not None:
                return route, found.groupdict()
        return None, {}

    def _with_strict(self, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        given = list(headers)
        names = {name for name, _ in given}
        if self._names.isdisjoint(names):
            return given + self._headers
        return given + [header for header in self._headers if header[0] not in names]


def _told_of(error: Exception) -> tuple[int, str]:
    """The status of an error, and what its client is told: one table."""
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
