"""A WSGI application by rules: which path is answered by what, and what no answer goes without.

Bound to loopback it answers to the names of loopback only: a page of another site whose name was
made to point here (DNS rebinding) is not answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from werkzeug.exceptions import HTTPException, MethodNotAllowed, SecurityError
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from pinakes.errors import PinakesError

STRICT_HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""For every answer; a content policy goes beside them."""

# Of the Host header, RFC 9110 §7.2: an address in brackets or a name, in any case, and a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)


class WsgiSite:
    """Answers requests by rules whose endpoints take the request and the rule's values.

    Safe for several threads.  `hosts` are the names by which it may be asked for; None: any.
    """

    headers: ClassVar[Mapping[str, str]]
    """Of each answer that does not say otherwise."""

    def __init__(self, rules: Iterable[Rule], *, hosts: Sequence[str] | None) -> None:
        # A path that is not quite one of these is none: nothing is redirected.
        self._urls = Map(rules, merge_slashes=False)
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        response = self._answer(Request(environ))
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Response:
        try:
            self._require_host(request)
            endpoint: Callable[..., Response]
            endpoint, values = self._urls.bind_to_environ(request).match()
            return endpoint(request, **values)
        except HTTPException as error:
            response = self.refusal(error)
            if isinstance(error, MethodNotAllowed):
                response.allow.update(error.valid_methods or ())
            return response
        except PinakesError as error:
            return self.failure(error)

    def _require_host(self, request: Request) -> None:
        # werkzeug's own list knows no address in brackets, and no capitals.
        found = _HOST.fullmatch(request.headers.get("Host", ""))
        if self._hosts is not None and (not found or found[1].lower() not in self._hosts):
            raise SecurityError
        _ = request.host  # raises where it is none

    def refusal(self, error: HTTPException) -> Response:
        """What is answered to a request that is none of this site's."""
        return Response(f"{error.code} {error.name}\n", error.code, mimetype="text/plain")

    def failure(self, error: PinakesError) -> Response:
        """What is answered where an endpoint could not."""
        raise error
